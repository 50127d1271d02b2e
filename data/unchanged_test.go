package data

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// changing is a source of files on disk. file is the path of one of its files.
type changing struct {
	name, spec, file string
	index            int // index of the sample that is read from file
	opt              Options
}

func changingSources(t *testing.T) []changing {
	noCache := Options{CacheBytes: -1}
	folder := unpack(t, pets(t))
	table := unpack(t, append(pets(t), file{"t.csv", []byte("path,label\ntrain/cat/a.PNG,a\ntrain/dog/1.png,b\n")}))
	var classes []file
	for i, class := range cifarClasses {
		classes = append(classes, file{"train/" + class + "/0.png", pngOf(t, 32, 32, byte(i))})
	}
	cifar := unpack(t, classes)
	masks := unpack(t, []file{
		{"i/a.png", pngOf(t, 3, 2, 1)}, {"i/b.png", pngOf(t, 3, 2, 2)},
		{"m/a.png", maskOf(t, 0, 1, 0, 1, 0, 1)}, {"m/b.png", maskOf(t, 1, 1, 0, 1, 0, 0)},
	})
	at := filepath.Join
	return []changing{
		{"folder", "folder:" + folder, at(folder, "train/dog/1.png"), 2, noCache},
		{"csv", "csv:" + at(table, "t.csv"), at(table, "train/dog/1.png"), 1, noCache},
		{"cifar10", "cifar10:" + cifar, at(cifar, "train/airplane/0.png"), 0, noCache},
		{"masks, a picture", "masks:" + at(masks, "i") + "," + at(masks, "m"), at(masks, "i/b.png"), 1, noCache},
		{"masks, a mask", "masks:" + at(masks, "i") + "," + at(masks, "m"), at(masks, "m/b.png"), 1, noCache},
	}
}

// readBoth reads a sample and its label.
func readBoth(ctx context.Context, src Source, i int) error {
	if _, err := src.Sample(ctx, i); err != nil {
		return err
	}
	_, err := src.Label(ctx, i)
	return err
}

// If a file changes after its source was opened, reading it returns an error that names it. This is so if the
// size changes, and also if size and modification time stay the same. A file that is only touched is
// accepted.
func TestChangedFiles(t *testing.T) {
	for _, c := range changingSources(t) {
		src := open(t, c.spec, c.opt)
		if _, err := src.Fingerprint(t.Context()); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		content, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(c.file)
		if err != nil {
			t.Fatal(err)
		}
		put := func(b []byte, modified time.Time) {
			if err := os.WriteFile(c.file, b, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(c.file, modified, modified); err != nil {
				t.Fatal(err)
			}
		}
		put(content, info.ModTime().Add(time.Hour))
		if err := readBoth(t.Context(), src, c.index); err != nil {
			t.Errorf("%s: a touched file: %v", c.name, err)
		}
		same := append([]byte(nil), content...)
		same[len(same)-1] ^= 1
		for name, b := range map[string][]byte{"longer": append(content, 0), "of equal size": same} {
			put(b, info.ModTime())
			wantError(t, readBoth(t.Context(), src, c.index), filepath.Base(c.file), "has changed since")
			if _, err := src.Fingerprint(t.Context()); err == nil && filepath.Base(filepath.Dir(c.file)) != "m" {
				t.Errorf("%s: a file that is %s has the old fingerprint", c.name, name)
			}
		}
		put(content, info.ModTime())
		if err := readBoth(t.Context(), src, c.index); err != nil {
			t.Errorf("%s: the old content: %v", c.name, err)
		}
	}
}

// If a file was never read, a change is found by its size and modification time.
func TestChangedBeforeTheFirstReading(t *testing.T) {
	name := write(t, "a.png", []byte("content"))
	for what, change := range map[string]func() error{
		"size":              func() error { return os.WriteFile(name, []byte("contents"), 0o644) },
		"modification time": func() error { return os.Chtimes(name, time.Time{}, time.Now().Add(time.Hour)) },
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		l := newListedFile(name, info)
		if err := change(); err != nil {
			t.Fatal(err)
		}
		_, err = l.read()
		t.Run(what, func(t *testing.T) { wantError(t, err, "has changed since", "modified") })
	}
}

// If a member of a zip archive is overwritten in place, reading it is an error.
func TestChangedZip(t *testing.T) {
	name := write(t, "pets.zip", zipOf(t, pets(t)))
	src := open(t, "folder:"+name, Options{CacheBytes: -1})
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 600 {
		b[i+60] ^= 0x55
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	found := false
	for i := range src.Info().Len {
		_, err := src.Sample(t.Context(), i)
		found = found || err != nil
	}
	if !found {
		t.Error("the members are read as if they had not changed")
	}
}

// BenchmarkReadListed compares reading a file with these checks and reading it without them.
func BenchmarkReadListed(b *testing.B) {
	for _, size := range []int{4 << 10, 100 << 10, 1 << 20} {
		name := filepath.Join(b.TempDir(), "x")
		if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			b.Fatal(err)
		}
		l := newListedFile(name, info)
		for how, read := range map[string]func() ([]byte, error){
			"checked": l.read, "plain": func() ([]byte, error) { return readFile(name) },
		} {
			b.Run(how+"/"+byteCount(size), func(b *testing.B) {
				for b.Loop() {
					if _, err := read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func byteCount(n int) string {
	return map[int]string{4 << 10: "4K", 100 << 10: "100K", 1 << 20: "1M"}[n]
}
