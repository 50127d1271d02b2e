package data

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFormats checks that the formats of a source come from the content of its files, not from their
// extensions. This also holds for a part of the source.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	var asPNG, asJPEG bytes.Buffer
	picture := image.NewGray(image.Rect(0, 0, 4, 4))
	if err := png.Encode(&asPNG, picture); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, picture, nil); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"a/1.png": asPNG.Bytes(), "a/2.jpg": asPNG.Bytes(),
		"b/1.ppm": []byte("P5 1 1 255\n\x07"), "b/2.png": asPNG.Bytes(), "b/3.png": asJPEG.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	src, err := Open(context.Background(), "folder:"+dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	part, err := Subset(src, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Fingerprint(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := part.Info().Formats(); !slices.Equal(got, []string{"jpeg", "netpbm", "png"}) {
		t.Errorf("the formats are %q", got)
	}
}
