package data

import (
	"bytes"
	"image"
	"image/jpeg"
	"slices"
	"testing"
)

// lying returns a JPEG of 3 x 2 pixels with EXIF orientation 6. After it is turned upright it has 2 x 3
// pixels.
func lying(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2)), nil); err != nil {
		t.Fatal(err)
	}
	tags := "Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"
	return slices.Concat([]byte("\xff\xd8\xff\xe1\x00"), []byte{byte(2 + len(tags))}, []byte(tags),
		b.Bytes()[2:])
}

// A mask must have the size that its picture has after it is read, turned by EXIF or not. If the mask would
// fit with the other value of the option exif, the error states so.
func TestMasksOfTurnedPictures(t *testing.T) {
	for _, c := range []struct {
		mask []byte
		exif bool
		want string // "": the mask fits
	}{
		{encoded(t, image.NewGray(image.Rect(0, 0, 2, 3))), true, ""},
		{encoded(t, image.NewGray(image.Rect(0, 0, 3, 2))), false, ""},
		{encoded(t, image.NewGray(image.Rect(0, 0, 3, 2))), true, "its mask a.png is of 3 x 2 pixels, and it " +
			"is of 2 x 3, turned as its EXIF orientation says; the mask fits with exif ignore"},
		{encoded(t, image.NewGray(image.Rect(0, 0, 2, 3))), false, "its mask a.png is of 2 x 3 pixels, and it " +
			"is of 3 x 2 unless its EXIF orientation is applied; add exif apply"},
		{encoded(t, image.NewGray(image.Rect(0, 0, 2, 2))), true, "its mask a.png is of 2 x 2 pixels, " +
			"and it is of 2 x 3\n"},
	} {
		dir := unpack(t, []file{{"images/a.jpg", lying(t)}, {"masks/a.png", c.mask}})
		src, err := Open(t.Context(), masksIn(dir), Options{EXIF: c.exif, Masks: MaskOptions{Values: "0,1"}})
		if c.want != "" {
			wantError(t, err, c.want)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		x, err := src.Sample(t.Context(), 0)
		if err != nil || !slices.Equal(x.Shape[:2], src.Info().LabelShape) {
			t.Errorf("exif %v: picture %v (%v), mask %v", c.exif, x, err, src.Info().LabelShape)
		}
		src.Close()
	}
}
