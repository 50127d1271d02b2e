package data

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/bnctl/bnctl/tensor"
)

// pngOf returns a PNG with a single grey value.
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

// paint fills a picture with two colours, left and right.
func paint(img interface {
	image.Image
	Set(x, y int, c color.Color)
}, left, right color.Color) image.Image {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if x < (b.Min.X+b.Max.X)/2 {
				img.Set(x, y, left)
			} else {
				img.Set(x, y, right)
			}
		}
	}
	return img
}

func TestRowsOfImage(t *testing.T) {
	r := image.Rect(0, 0, 4, 2)
	red, blue := color.NRGBA{200, 10, 20, 255}, color.NRGBA{5, 60, 250, 255}
	faint := color.NRGBA{200, 10, 20, 128}
	paletted := image.NewPaletted(r, color.Palette{red, blue})
	large := paint(image.NewRGBA(image.Rect(0, 0, 9, 9)), red, blue).(*image.RGBA)
	cyan, black := color.CMYK{255, 0, 0, 0}, color.CMYK{0, 0, 0, 255}
	dark, white := color.Gray16{0x0712}, color.Gray16{0xff00}
	for _, c := range []struct {
		name        string
		img         image.Image
		left, right []byte
	}{
		{"NRGBA", paint(image.NewNRGBA(r), faint, blue), []byte{200, 10, 20}, []byte{5, 60, 250}},
		{"RGBA", paint(image.NewRGBA(r), red, blue), []byte{200, 10, 20}, []byte{5, 60, 250}},
		{"NRGBA64", paint(image.NewNRGBA64(r), red, blue), []byte{200, 10, 20}, []byte{5, 60, 250}},
		{"Gray", paint(image.NewGray(r), color.Gray{7}, color.Gray{8}), []byte{7, 7, 7}, []byte{8, 8, 8}},
		{"Gray16", paint(image.NewGray16(r), dark, white), []byte{7, 7, 7}, []byte{255, 255, 255}},
		{"Paletted", paint(paletted, red, blue), []byte{200, 10, 20}, []byte{5, 60, 250}},
		{"CMYK", paint(image.NewCMYK(r), cyan, black), []byte{0, 255, 255}, []byte{0, 0, 0}},
		{"part", large.SubImage(image.Rect(2, 3, 6, 5)), []byte{200, 10, 20}, []byte{5, 60, 250}},
	} {
		got, err := pixelsOf(t, func(ctx context.Context, _ []byte, each eachPixels) error {
			return rowsOfImage(ctx, c.img, each)
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 2*4*3 {
			t.Fatalf("%s: %d bytes", c.name, len(got))
		}
		left, right := got[:3], got[len(got)-3:]
		if !bytes.Equal(left, c.left) || !bytes.Equal(right, c.right) {
			t.Errorf("%s: %d and %d, want %d and %d", c.name, left, right, c.left, c.right)
		}
	}
}

func TestDecodeFormats(t *testing.T) {
	img := paint(image.NewRGBA(image.Rect(0, 0, 16, 8)), color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255})
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
		got, err := decodePicture(t.Context(), b.Bytes(), false)
		if err != nil || !slices.Equal(got.Shape, []int{8, 16, 3}) {
			t.Errorf("%s: %v, %v", c.name, got, err)
			continue
		}
		checkHalves(t, c.name, got)
		for _, n := range []int{1, 8, 20, b.Len() / 2} {
			if _, err := decodePicture(t.Context(), b.Bytes()[:n], false); err == nil && n < 30 {
				t.Errorf("%s: its first %d bytes decode", c.name, n)
			}
		}
	}
}

// checkHalves checks a picture of 16 x 8 pixels, red on the left and blue on the right, up
// to the losses of JPEG.
func checkHalves(t *testing.T, name string, got tensor.Tensor) {
	t.Helper()
	left, right := got.Bytes[:3], got.Bytes[45:48]
	if left[0] < 250 || left[2] > 5 || right[0] > 5 || right[2] < 250 {
		t.Errorf("%s: corners are %d and %d, want red and blue", name, left, right)
	}
}

// The files come from testdata/pillow.py: Go has no encoder for them.
func TestDecodeFiles(t *testing.T) {
	for _, name := range []string{"picture.webp", "cmyk.jpg", "progressive.jpg"} {
		got, err := decodePicture(t.Context(), mustRead(t, "testdata/"+name), false)
		if err != nil || !slices.Equal(got.Shape, []int{8, 16, 3}) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		checkHalves(t, name, got)
	}
}

// hugePNG returns the beginning of a PNG that claims a size.
func hugePNG(w, h uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	header := []byte("IHDR")
	header = binary.BigEndian.AppendUint32(header, w)
	header = binary.BigEndian.AppendUint32(header, h)
	header = append(header, 8, 0, 0, 0, 0)
	b = append(b, header...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(header))
}

func TestDecodeBad(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"text", []byte("hello"), "not a JPEG, PNG"},
		{"huge", hugePNG(100000, 50000), "100000 x 50000 pixels; at most 67108864"},
		{"overflow", hugePNG(1<<30, 1<<30), "dimension overflow"},
		{"wide", hugePNG(1<<27, 1), "at most 67108864"},
		{"cut", pngOf(t, 40, 30, 9)[:50], "PNG: "},
		{"header cut", pngOf(t, 40, 30, 9)[:20], "cut short"},
	} {
		_, err := decodePicture(t.Context(), c.file, false)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

func TestBrokenPictureIsNamed(t *testing.T) {
	broken := pngOf(t, 40, 30, 9)
	dir := unpack(t, []file{{"cat/1.png", pngOf(t, 40, 30, 9)}, {"cat/2.png", broken[:len(broken)-20]}})
	_, err := Open(t.Context(), "folder:"+dir, Options{})
	wantError(t, err, "folder:"+dir, "member cat/2.png", "PNG")
}
