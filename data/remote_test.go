package data_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/internal/storetest"
)

// photos returns pictures by their paths, CLASS/NAME. Each class has the given number.
func photos(t *testing.T, each int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for c, class := range []string{"cat", "dog dög"} {
		for i := range each {
			m := image.NewNRGBA(image.Rect(0, 0, 16, 16))
			for k := range 256 {
				m.Set(k%16, k/16, color.NRGBA{uint8(k * (i + 1)), uint8(i), uint8(c * 255), 255})
			}
			var b bytes.Buffer
			if err := png.Encode(&b, m); err != nil {
				t.Fatal(err)
			}
			files[fmt.Sprintf("%s/p%04d.png", class, i)] = b.Bytes()
		}
	}
	return files
}

func namesOf(files map[string][]byte) (names []string) {
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func writeFiles(t *testing.T, folder string, files map[string][]byte) {
	t.Helper()
	for name, b := range files {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// entry is a file of a tar.
type entry struct {
	name    string
	content []byte
}

func tarOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.content))}); err != nil {
			t.Fatal(err)
		}
		w.Write(e.content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shardsOf packs pictures into three shards, tar archives in the form of WebDataset. The class of a picture
// is in a .cls file.
func shardsOf(t *testing.T, files map[string][]byte) map[string][]byte {
	t.Helper()
	entries := make([][]entry, 3)
	for i, name := range namesOf(files) {
		class, base, _ := strings.Cut(name, "/")
		key, _, _ := strings.Cut(base, ".")
		k := i % 3
		prefix := fmt.Sprintf("%d/", k) // if the sample has a label, the folders in its key mean nothing
		if class != "cat" {
			prefix = "x" + prefix
		}
		entries[k] = append(entries[k], entry{prefix + key + ".cls", []byte(class)},
			entry{prefix + key + ".png", files[name]}, entry{prefix + key + ".json", []byte(`{"width":16}`)})
	}
	shards := map[string][]byte{}
	for k, list := range entries {
		shards[fmt.Sprintf("s-%06d.tar", k)] = tarOf(t, list...)
	}
	return shards
}

// bucket starts a server with files in a bucket, and makes data sources read from it.
func bucket(t *testing.T, files map[string][]byte) *storetest.Bucket {
	t.Helper()
	server := storetest.S3(t, "bucket")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	s := newStore(t, t.TempDir())
	for name, b := range files {
		err := s.Write("s3://bucket/"+name, func(w io.Writer) error {
			_, err := w.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return server
}

// newStore makes data sources read from other machines like a newly started program, with a cache.
func newStore(t *testing.T, cache string) *store.Store {
	t.Helper()
	s, err := store.New(t.Context(), store.Options{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	regular.SetRemote(s)
	t.Cleanup(func() { regular.SetRemote(nil) })
	return s
}

// identity describes those properties of a source that determine the bits of a training.
func identity(t *testing.T, spec string) string {
	t.Helper()
	src, err := data.Open(t.Context(), spec, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	sum, err := src.Fingerprint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info := src.Info()
	text := fmt.Sprintln(sum, info.Kind, info.Split, info.Len, info.Classes, info.Shape)
	for i := range info.Len {
		x, err := src.Sample(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		label, err := src.Label(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintln(src.Name(i), label, x.Bytes[:64])
	}
	return text
}

// TestPlaces opens the same pictures on disk, in a bucket, in an archive in the bucket, and in shards. All
// must be the same data.
func TestPlaces(t *testing.T) {
	files := photos(t, 10)
	folder, all := t.TempDir(), map[string][]byte{}
	writeFiles(t, filepath.Join(folder, "photos"), files)
	for name, b := range files {
		all["set/photos/"+name] = b
	}
	var list []entry
	for _, name := range namesOf(files) {
		list = append(list, entry{name, files[name]})
	}
	all["set/photos.tar"] = tarOf(t, list...)
	shards := shardsOf(t, files)
	writeFiles(t, filepath.Join(folder, "shards"), shards)
	for name, b := range shards {
		all["set/shards/"+name] = b
	}
	bucket(t, all)
	want := identity(t, "folder:"+filepath.Join(folder, "photos"))
	for _, spec := range []string{"folder:s3://bucket/set/photos", "folder:s3://bucket/set/photos/",
		"folder:s3://bucket/set/photos.tar", "wds:" + filepath.Join(folder, "shards"),
		"wds:" + filepath.Join(folder, "shards", "s-{000000..000002}.tar"), "wds:s3://bucket/set/shards",
		"wds:s3://bucket/set/shards/s-{000000..000002}.tar", "wds:s3://bucket/set/photos.tar"} {
		newStore(t, t.TempDir())
		if got := identity(t, spec); got != want {
			t.Errorf("%s: got\n%.300s\nwant\n%.300s", spec, got, want)
		}
	}
}

func TestShardLabels(t *testing.T) {
	files := photos(t, 1)
	picture := files["cat/p0000.png"]
	shard := func(entries ...entry) string {
		file := filepath.Join(t.TempDir(), "s.tar")
		if err := os.WriteFile(file, tarOf(t, entries...), 0o666); err != nil {
			t.Fatal(err)
		}
		return "wds:" + file
	}
	src, err := data.Open(t.Context(), shard(entry{"a.png", picture}, entry{"a.cls", []byte("10")},
		entry{"b.png", picture}, entry{"b.cls", []byte("2\n")}, entry{"c.json", []byte(`{"label": 0}`)},
		entry{"c.png", picture}), data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for i, want := range []int32{0, 2, 10} {
		if got, err := src.Label(t.Context(), i); err != nil || got[0] != want {
			t.Errorf("%s has label %v, %v, want %d", src.Name(i), got, err, want)
		}
	}
	if n := len(src.Info().Classes); n != 11 {
		t.Errorf("%d classes, want 11", n)
	}
	whole := tarOf(t, entry{"a.png", picture}, entry{"a.cls", []byte("x")})
	cut := filepath.Join(t.TempDir(), "cut.tar")
	if err := os.WriteFile(cut, whole[:700], 0o666); err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{
		shard(entry{"a.png", picture}, entry{"a.jpg", picture}):        "two pictures",
		shard(entry{"a.png", picture}, entry{"a.cls", []byte("../x")}): "name of a class",
		shard(entry{"../a.png", picture}):                              "leads out",
		shard(entry{"a.cls", []byte("1")}):                             "no picture",
		shard(entry{"1/a.png", picture}, entry{"1/a.cls", []byte("x")}, entry{"2/a.png", picture}, entry{"2/a.cls", []byte("x")}): "both have a sample",
		"wds:" + cut:            "breaks off",
		"wds:" + t.TempDir():    "no .tar file",
		"wds:x-{000003..1}.tar": "is no range",
	} {
		src, err := data.Open(t.Context(), spec, data.Options{})
		if err == nil {
			src.Close()
			t.Errorf("%s was opened; want %q", spec, want)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %q, want %q in it", spec, err, want)
		}
	}
}

// TestReadAhead reads 80 pictures from a server that needs 20 ms for each request. Many must be read at the
// same time.
func TestReadAhead(t *testing.T) {
	server := bucket(t, photos(t, 40))
	newStore(t, t.TempDir())
	var now, most atomic.Int32
	server.Before(func(http.ResponseWriter, *http.Request) bool {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(20 * time.Millisecond)
		now.Add(-1)
		return false
	})
	src, err := data.Open(t.Context(), "folder:s3://bucket/", data.Options{CacheBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if n := most.Load(); n < 16 {
		t.Errorf("at most %d files were read at the same time, want 16", n)
	}
}

// TestBadArchives reads bad archives at a URL and in a bucket. The errors must be the same as for local
// archives.
func TestBadArchives(t *testing.T) {
	var large, bomb, escape bytes.Buffer
	z := zip.NewWriter(&large)
	member, err := z.CreateRaw(&zip.FileHeader{Name: "cat/1.png", UncompressedSize64: 256<<20 + 1})
	if err == nil {
		_, err = member.Write([]byte("x"))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	g := gzip.NewWriter(&bomb)
	g.Write(tarOf(t, entry{"pad", make([]byte, 100<<20)}, entry{"cat/1.png", []byte("x")})) //nolint:errcheck // a buffer
	g.Close()
	escape.Write(tarOf(t, entry{"../cat/1.png", []byte("x")}))
	files := map[string][]byte{"large.zip": large.Bytes(), "bomb.tar.gz": bomb.Bytes(), "escape.tar": escape.Bytes(),
		"cut.zip": large.Bytes()[:large.Len()-10], "text.zip": []byte("what")}
	bucket(t, files)
	newStore(t, t.TempDir())
	web, folder := storetest.Web(t, http.FileServer(http.Dir(t.TempDir()))), t.TempDir()
	web.Before(func(w http.ResponseWriter, r *http.Request) bool {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[path.Base(r.URL.Path)]))
		return true
	})
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, at := range []string{folder, "s3://bucket", web.URL} {
			_, err := data.Open(t.Context(), "folder:"+at+"/"+name, data.Options{})
			got := strings.ReplaceAll(fmt.Sprint(err), at, "")
			if err == nil || want != "" && got != want {
				t.Errorf("%s/%s: %s, want %s", at, name, got, want)
			}
			want = got
		}
	}
}

// FuzzShard reads shards that are damaged.
func FuzzShard(f *testing.F) {
	f.Add([]byte("x"))
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range []entry{{"a/b.cls", []byte("1")}, {"a/b.json", []byte(`{"label":"x"}`)},
		{"a/b.png", []byte("no")}} {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.content))}
		w.WriteHeader(h) //nolint:errcheck // a buffer
		w.Write(e.content)
	}
	w.Close()
	f.Add(b.Bytes())
	file := filepath.Join(f.TempDir(), "s.tar")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if src, err := data.Open(context.Background(), "wds:"+file, data.Options{}); err == nil {
			src.Close()
		}
	})
}
