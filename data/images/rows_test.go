package images

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"testing"

	"github.com/bnctl/bnctl/data/internal/picturetest"
)

func TestRowsOfImage(t *testing.T) {
	r := image.Rect(0, 0, 4, 2)
	red, blue := color.NRGBA{200, 10, 20, 255}, color.NRGBA{5, 60, 250, 255}
	faint := color.NRGBA{200, 10, 20, 128}
	paletted := image.NewPaletted(r, color.Palette{red, blue})
	large := picturetest.Paint(image.NewRGBA(image.Rect(0, 0, 9, 9)), red, blue).(*image.RGBA)
	cyan, black := color.CMYK{255, 0, 0, 0}, color.CMYK{0, 0, 0, 255}
	dark, white := color.Gray16{0x0712}, color.Gray16{0xff00}
	for _, c := range []struct {
		name        string
		img         image.Image
		left, right []byte
	}{
		{"NRGBA", picturetest.Paint(image.NewNRGBA(r), faint, blue), []byte{200, 10, 20}, []byte{5, 60, 250}},
		{"RGBA", picturetest.Paint(image.NewRGBA(r), red, blue), []byte{200, 10, 20}, []byte{5, 60, 250}},
		{"NRGBA64", picturetest.Paint(image.NewNRGBA64(r), red, blue), []byte{200, 10, 20}, []byte{5, 60, 250}},
		{"Gray", picturetest.Paint(image.NewGray(r), color.Gray{7}, color.Gray{8}), []byte{7, 7, 7}, []byte{8, 8, 8}},
		{"Gray16", picturetest.Paint(image.NewGray16(r), dark, white), []byte{7, 7, 7}, []byte{255, 255, 255}},
		{"Paletted", picturetest.Paint(paletted, red, blue), []byte{200, 10, 20}, []byte{5, 60, 250}},
		{"CMYK", picturetest.Paint(image.NewCMYK(r), cyan, black), []byte{0, 255, 255}, []byte{0, 0, 0}},
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
