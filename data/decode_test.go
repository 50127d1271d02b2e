package data

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/picturetest"
	"github.com/bnctl/bnctl/tensor"
)

// pngOf returns a PNG file where all pixels have one grey value.
func pngOf(t *testing.T, w, h int, grey byte) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = grey
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDecodeFormats(t *testing.T) {
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	img := picturetest.Paint(image.NewRGBA(image.Rect(0, 0, 16, 8)), red, blue)
	for _, c := range []struct {
		name   string
		encode func(b *bytes.Buffer) error
	}{
		{"png", func(b *bytes.Buffer) error { return png.Encode(b, img) }},
		{"jpeg", func(b *bytes.Buffer) error { return jpeg.Encode(b, img, &jpeg.Options{Quality: 100}) }},
		{"bmp", func(b *bytes.Buffer) error { return bmp.Encode(b, img) }},
		{"tiff", func(b *bytes.Buffer) error { return tiff.Encode(b, img, nil) }},
	} {
		var b bytes.Buffer
		if err := c.encode(&b); err != nil {
			t.Fatal(err)
		}
		got, err := images.Decode(t.Context(), b.Bytes(), false)
		if err != nil || !slices.Equal(got.Shape, []int{8, 16, 3}) {
			t.Errorf("%s: %v, %v", c.name, got, err)
			continue
		}
		checkHalves(t, c.name, got)
		for _, n := range []int{1, 8, 20, b.Len() / 2} {
			if _, err := images.Decode(t.Context(), b.Bytes()[:n], false); err == nil && n < 30 {
				t.Errorf("%s: its first %d bytes decode", c.name, n)
			}
		}
	}
}

// checkHalves checks that a picture of 16 x 8 pixels is red on the left and blue on the right, except for the
// losses of JPEG.
func checkHalves(t *testing.T, name string, got tensor.Tensor) {
	t.Helper()
	left, right := got.Bytes[:3], got.Bytes[45:48]
	if left[0] < 250 || left[2] > 5 || right[0] > 5 || right[2] < 250 {
		t.Errorf("%s: corners are %d and %d, want red and blue", name, left, right)
	}
}

// testdata/pillow.py made the files, because Go has no encoder for them.
func TestDecodeFiles(t *testing.T) {
	for _, name := range []string{"picture.webp", "cmyk.jpg", "progressive.jpg"} {
		got, err := images.Decode(t.Context(), mustRead(t, "testdata/"+name), false)
		if err != nil || !slices.Equal(got.Shape, []int{8, 16, 3}) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		checkHalves(t, name, got)
	}
}

func TestDecodeBad(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"text", []byte("hello"), "not a JPEG, PNG"},
		{"huge", picturetest.HugePNG(100000, 50000), "100000 x 50000 pixels; at most 67108864"},
		{"overflow", picturetest.HugePNG(1<<30, 1<<30), "dimension overflow"},
		{"wide", picturetest.HugePNG(1<<27, 1), "at most 67108864"},
		{"cut", pngOf(t, 40, 30, 9)[:50], "PNG: "},
		{"header cut", pngOf(t, 40, 30, 9)[:20], "cut short"},
	} {
		_, err := images.Decode(t.Context(), c.file, false)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

func TestBrokenPictureIsNamed(t *testing.T) {
	broken := pngOf(t, 40, 30, 9)
	dir := unpack(t, []file{{"cat/1.png", pngOf(t, 40, 30, 9)}, {"cat/2.png", broken[:len(broken)-20]}})
	_, err := Open(t.Context(), "folder:"+dir, Options{})
	wantError(t, err, "folder:"+dir, "member cat/2.png", "PNG")
}
