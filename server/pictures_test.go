package server

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// photos are pictures in every encoding that is read.
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

// A picture of any encoding that is damaged somewhere, cut short, or says to be
// larger than it is, gets an answer or a reason, and nothing is held by it.
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
			for range draw.IntN(8) { // most of them where sizes stand
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
	if n := s.room.asked(); n != 0 {
		t.Errorf("%d bytes are taken", n)
	}
}
