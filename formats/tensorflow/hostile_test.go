package tensorflow

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// refusals gives a part of the error for each file of testdata/hostile.
var refusals = map[string]string{
	"crc_of_elements": "w: the file is damaged", "beyond_shard": "8 at offset 4 of 8",
	"offset_near_2_64": "at offset 18446744073709551612 of 8",
	"size_differs":     "takes 12 bytes; the index says 8",
	"length_overflow":  "too large", "length_negative": "a length is negative", "rank_9": "rank above 8",
	"no_such_shard": "shard 7 of 1", "no_such_type": "type 99", "partitioned": "a partitioned variable",
	"truncated_proto": "field 6 is truncated", "no_header": "no header", "shards_many": "shards; 1 to 1024",
	"keys_not_ascending": `key "a" behind "w"`, "key_twice": `key "w" behind "w"`, "nothing_in_it": "no weights",
	"empty_block": "0 bytes", "restarts_near_2_32": "4294967295 restart points",
	"shared_too_long": "an entry is damaged",
	"value_too_long":  "or truncated", "compressed": "compressed (type 1)",
	"block_beyond_file": "data block of 4611686018427387904 bytes", "block_twice": "a data block at offset 0",
	"crc_of_block": "the file is damaged", "footer_only": "index block of",
	"key_long": "a key of 0 and 2000 bytes", "key_bomb": "more memory than the table justifies",
}

// loadAll reads an index and everything it lists, from one shard.
func loadAll(index, elements []byte, ema bool) error {
	f := &foreign.File{}
	err := load(f, index, func(int, int) (io.ReaderAt, int64, error) {
		return bytes.NewReader(elements), int64(len(elements)), nil
	}, Options{EMA: ema})
	if err != nil {
		return err
	}
	for _, t := range f.Tensors {
		if _, err := t.Load(); err != nil {
			return err
		}
	}
	return nil
}

func TestRefusesHostile(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/*.index")
	if err != nil || len(files) != len(refusals) {
		t.Fatalf("%d files, want %d: run testdata/make.py", len(files), len(refusals))
	}
	elements, err := os.ReadFile("testdata/hostile/shard")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		index, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := refusals[strings.TrimSuffix(filepath.Base(path), ".index")]
		err = loadAll(index, elements, false)
		if err == nil || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", path, err, want)
		}
	}
}

func TestShardIsNoLink(t *testing.T) {
	dir := t.TempDir()
	index, err := os.ReadFile("testdata/cases/replicas.index")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.index"), index, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"m.data-00000-of-00002", "m.data-00001-of-00002"} {
		if err := os.Symlink("/etc/hostname", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(filepath.Join(dir, "m.index"), Options{}); err == nil || !strings.Contains(err.Error(),
		"links are not followed") {
		t.Errorf("got %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/hostile/*.index", "testdata/cases/*.index"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b, make([]byte, 64))
		}
	}
	f.Fuzz(func(t *testing.T, index, elements []byte) {
		_ = loadAll(index, elements, false)
		_ = loadAll(index, elements, true) // must return, with any result
	})
}
