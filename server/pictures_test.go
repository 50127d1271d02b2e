package server

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// photos returns a picture in every encoding that the server reads.
func photos(t *testing.T) map[string][]byte {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(photo(t, 50, 40)))
	if err != nil {
		t.Fatal(err)
	}
	webp, err := os.ReadFile("../data/testdata/picture.webp")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{"PNG": photo(t, 50, 40), "WebP": webp}
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"JPEG": func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) },
		"BMP":  func(b *bytes.Buffer) error { return bmp.Encode(b, img) },
		"TIFF": func(b *bytes.Buffer) error { return tiff.Encode(b, img, &tiff.Options{Compression: tiff.Deflate}) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		all[name] = b.Bytes()
	}
	return all
}

// TestDamagedPictures checks that a damaged or truncated picture of any encoding, or one
// with a false size, gets an answer or an error, and that its memory is released afterwards.
func TestDamagedPictures(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.InFlight = 4 << 20
	s, draw := start(t, o), rand.New(rand.NewPCG(5, 5))
	classify := func(file []byte) reply { return ask(t, s, "POST", "/v2/models/m/classify", file) }
	for name, file := range photos(t) {
		if r := classify(file); r.status != 200 {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
		for range 40 {
			bad := bytes.Clone(file)
			if draw.IntN(4) == 0 {
				bad = bad[:draw.IntN(len(bad))]
			}
			for range draw.IntN(8) { // most changes are in the headers, which contain the sizes
				if n := len(bad); n > 0 {
					bad[draw.IntN(min(n, 1+draw.IntN(n)))] = byte(draw.Uint32())
				}
			}
			r := classify(bad)
			var e struct{ Error string }
			known := r.status == 400 || r.status == 413
			if err := json.Unmarshal(r.body, &e); err != nil || r.status != 200 && !(known && e.Error != "") {
				t.Errorf("%s, damaged: %d %s", name, r.status, r.body)
			}
		}
	}
	if n := s.budget.requestBytes(); n != 0 {
		t.Errorf("%d bytes are taken", n)
	}
}

// TestLargePictures checks that decoding needs memory only for those rows of a large picture that are decoded
// at a time. If the decoder needs all pixels at once, and the whole budget is too small for them, the error
// is TooLarge.
func TestLargePictures(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.InFlight = 4 << 20 // 6 million pixels are 18 MiB in RGB
	s := start(t, o)
	img := image.NewYCbCr(image.Rect(0, 0, 3000, 2000), image.YCbCrSubsampleRatio420)
	for i := range img.Y {
		img.Y[i] = byte(i >> 10)
	}
	var phone, deep, scan bytes.Buffer
	if err := jpeg.Encode(&phone, img, nil); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&deep, image.NewNRGBA64(img.Rect)); err != nil {
		t.Fatal(err)
	}
	err := tiff.Encode(&scan, image.NewGray(img.Rect), &tiff.Options{Compression: tiff.Deflate})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file   []byte
		status int
		says   string
	}{
		"JPEG":            {phone.Bytes(), 200, "top"},
		"PNG of 16 bits":  {deep.Bytes(), 200, "top"},
		"TIFF as a whole": {scan.Bytes(), 413, "all requests together may use"},
	} {
		if r := ask(t, s, "POST", "/v2/models/m/classify", c.file); r.status != c.status ||
			!bytes.Contains(r.body, []byte(c.says)) {
			t.Errorf("%s: %d %s, want %d", name, r.status, r.body, c.status)
		}
	}
}
