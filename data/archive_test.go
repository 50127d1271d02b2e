package data

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// file is a file to be packed into an archive. Files are packed in their order.
type file struct {
	name    string
	content []byte
}

// tarOf returns a tar of files. A file with a name that ends with / becomes a folder.
func tarOf(t *testing.T, files []file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.content)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t *testing.T, files []file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		member, err := w.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := member.Write(f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpack writes files below a new folder, and returns the folder.
func unpack(t *testing.T, files []file) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.name, "/") {
			continue
		}
		if err := os.WriteFile(name, f.content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pets returns pictures of two classes in the splits train and test, in no order, and some files that are not
// samples.
func pets(t *testing.T) []file {
	return []file{
		{"train/", nil}, {"train/dog/", nil},
		{"train/dog/2.png", pngOf(t, 4, 3, 20)},
		{"train/dog/1.png", pngOf(t, 4, 3, 10)},
		{"train/cat/sub/b.png", pngOf(t, 4, 3, 30)},
		{"train/cat/a.PNG", pngOf(t, 4, 3, 40)},
		{"train/cat/notes.txt", []byte("x")},
		{"train/cat/.hidden.png", []byte("x")},
		{"__MACOSX/train/cat/._a.png", []byte("x")},
		{"test/cat/a.png", pngOf(t, 4, 3, 50)},
		{"test/dog/a.png", pngOf(t, 4, 3, 60)},
		{"README.png.md", []byte("x")},
	}
}

func TestFolderInEveryForm(t *testing.T) {
	files := pets(t)
	below := slices.Clone(files)
	for i := range below {
		below[i].name = "pets-main/" + below[i].name
	}
	print := ""
	for _, c := range []struct{ name, path string }{
		{"folder", unpack(t, files)},
		{"folder below", unpack(t, below)},
		{"tar", write(t, "pets.tar", tarOf(t, files))},
		{"tar without ending", write(t, "pets", tarOf(t, below))},
		{"tar.gz", write(t, "pets.tgz", gzipped(t, tarOf(t, below)))},
		{"zip", write(t, "pets.zip", zipOf(t, files))},
	} {
		src := open(t, "folder:"+c.path, Options{})
		info := src.Info()
		if want := []string{"cat", "dog"}; !slices.Equal(info.Classes, want) || info.Len != 4 ||
			info.Split != Train {
			t.Errorf("%s: info = %+v", c.name, info)
		}
		if !slices.Equal(info.Shape, []int{3, 4, 3}) {
			t.Errorf("%s: shape = %v", c.name, info.Shape)
		}
		for i, want := range []struct {
			name  string
			label int32
			grey  byte
		}{{"cat/a.PNG", 0, 40}, {"cat/sub/b.png", 0, 30}, {"dog/1.png", 1, 10}, {"dog/2.png", 1, 20}} {
			sample, err := src.Sample(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			name, label, grey := src.Name(i), label(t, src, i)[0], sample.Bytes[0]
			if !strings.HasSuffix(name, want.name) || label != want.label || grey != want.grey {
				t.Errorf("%s: sample %d is %s, label %d, grey %d; want %v", c.name, i, name, label, grey, want)
			}
		}
		got, err := src.Fingerprint(context.Background())
		if print == "" {
			print = got
		}
		if err != nil || got != print {
			t.Errorf("%s: fingerprint %s (%v), that of the folder is %s", c.name, got, err, print)
		}
	}
	test := open(t, "folder:"+unpack(t, files)+"@test", Options{})
	if got, err := test.Fingerprint(context.Background()); err != nil || got == print || test.Info().Len != 2 {
		t.Errorf("test part: %+v, fingerprint %s (%v)", test.Info(), got, err)
	}
}

func TestFingerprintSeesChanges(t *testing.T) {
	files := pets(t)
	whole := func(files []file) string {
		src := open(t, "folder:"+unpack(t, files), Options{})
		f, err := src.Fingerprint(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	before := whole(files)
	renamed := slices.Clone(files)
	renamed[2].name = "train/dog/3.png"
	changed := slices.Clone(files)
	changed[2].content = pngOf(t, 4, 3, 21)
	moved := slices.Clone(files)
	moved[2].name = "train/cat/2.png"
	for name, other := range map[string][]file{"renamed": renamed, "changed": changed, "moved": moved} {
		if whole(other) == before {
			t.Errorf("%s: the fingerprint is the same", name)
		}
	}
}

func TestArchivesBad(t *testing.T) {
	good := []file{{"train/cat/1.png", pngOf(t, 4, 3, 1)}, {"train/cat/2.png", pngOf(t, 40, 30, 2)}}
	packed := gzipped(t, tarOf(t, good))
	badSum := bytes.Clone(packed)
	badSum[len(badSum)-8] ^= 1 // changes a bit of gzip's checksum
	flipped := zipOf(t, good)
	flipped[bytes.Index(flipped, []byte("PNG"))+60] ^= 1
	for _, c := range []struct {
		name    string
		content []byte
		wants   []string
	}{
		{"empty", nil, []string{"empty"}},
		{"text", []byte("hello"), []string{"neither a folder nor"}},
		{"cut.tar", tarOf(t, good)[:1100], []string{"breaks off after member train/cat/1.png", "cut short"}},
		{"cut2.tar", tarOf(t, good)[:520], []string{"member train/cat/1.png", "cut short"}},
		{"cut.tar.gz", packed[:len(packed)/2], []string{"cut short"}},
		{"sum.tar.gz", badSum, []string{"after the last member", "checksum"}},
		{"cut.zip", zipOf(t, good)[:200], []string{"zip"}},
		{"flipped.zip", flipped, []string{"member train/cat/"}},
		{"up.tar", tarOf(t, []file{{"../cat/1.png", nil}}), []string{`"../cat/1.png"`, "out of the archive"}},
		{"up.zip", zipOf(t, []file{{"train/../../cat/1.png", nil}}), []string{"out of the archive"}},
		{"absolute.tar", tarOf(t, []file{{"/cat/1.png", nil}}), []string{"out of the archive"}},
		{"backslash.zip", zipOf(t, []file{{`..\cat\1.png`, nil}}), []string{"out of the archive"}},
		{"nothing.tar", tarOf(t, []file{{"readme", nil}}), []string{"no pictures in it", ".jpg"}},
		{"bomb.tar.gz", gzipped(t, tarOf(t, []file{{"pad", make([]byte, 100<<20)}, good[0]})),
			[]string{"200 times"}},
	} {
		_, err := Open(t.Context(), "folder:"+write(t, c.name, c.content), Options{})
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.wants...) })
	}
}

func TestArchiveLinksAreRefused(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	link := &tar.Header{Name: "cat/1.png", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}
	if err := w.WriteHeader(link); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), "folder:"+write(t, "x.tar", b.Bytes()), Options{})
	wantError(t, err, "member cat/1.png", "link")

	b.Reset()
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "cat/1.png"}
	h.SetMode(os.ModeSymlink | 0o777)
	if _, err := z.CreateHeader(h); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), "folder:"+write(t, "x.zip", b.Bytes()), Options{})
	wantError(t, err, "member cat/1.png", "link")
}

func TestZipBomb(t *testing.T) {
	// A member is not read beyond the size that the archive declares for it. If the declared size is large, the
	// member is refused before it is read.
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	member, err := w.CreateRaw(&zip.FileHeader{Name: "cat/1.png", UncompressedSize64: maxFileBytes + 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := member.Write(nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), "folder:"+write(t, "x.zip", b.Bytes()), Options{})
	wantError(t, err, "member cat/1.png", "268435457 bytes", "at most 268435456")
}

func TestFolderRingOfLinks(t *testing.T) {
	dir := unpack(t, pets(t))
	if err := os.Symlink(dir, filepath.Join(dir, "train", "ring")); err != nil {
		t.Skip("this system makes no symbolic links: ", err)
	}
	_, err := Open(t.Context(), "folder:"+dir, Options{})
	wantError(t, err, "folders deep", "link")
}

func TestFolderWithLinks(t *testing.T) {
	from := unpack(t, pets(t))
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(from, "train"), filepath.Join(dir, "train")); err != nil {
		t.Skip("this system makes no symbolic links: ", err)
	}
	if src := open(t, "folder:"+dir, Options{}); src.Info().Len != 4 {
		t.Errorf("info = %+v, want 4 samples", src.Info())
	}
}

func TestMemberRemovedLater(t *testing.T) {
	dir := unpack(t, pets(t))
	src := open(t, "folder:"+dir, Options{CacheBytes: -1})
	if err := os.Remove(filepath.Join(dir, "train", "dog", "1.png")); err != nil {
		t.Fatal(err)
	}
	_, err := src.Sample(t.Context(), 2)
	wantError(t, err, "folder:"+dir, "member train/dog/1.png", "no such file")
}

func TestCacheBudget(t *testing.T) {
	const size = 4 * 3 * 3
	for budget, want := range map[int64]int{-1: 0, size: 1, 3*size - 1: 2, 0: 4} {
		c := newCache(4, Options{CacheBytes: budget})
		reads := 0
		for range 2 {
			for i := range 4 {
				if _, err := c.get(i, func(int) (tensor.Tensor, error) {
					reads++
					return tensor.New(tensor.U8, 3, 4, 3), nil
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if kept := 8 - reads; kept != want {
			t.Errorf("budget %d: %d of 4 samples kept, want %d", budget, kept, want)
		}
	}
}
