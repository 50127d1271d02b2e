package images

import (
	"bytes"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkDecodePicture measures decoding one JPEG with 4:2:0 subsampling: a picture of CIFAR-10's size, and
// one of 12 megapixels.
func BenchmarkDecodePicture(b *testing.B) {
	b.Run("32x32", func(b *testing.B) { measureDecode(b, 32, 32) })
	b.Run("4000x3000", func(b *testing.B) { measureDecode(b, 4000, 3000) })
}

func measureDecode(b *testing.B, w, h int) {
	r := rand.New(rand.NewPCG(1, 1))
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		x, y := float64(i%w), float64(i/w)
		shade := 128 + 60*math.Sin(x/50) + 40*math.Cos(y/70) + 3*r.NormFloat64()
		img.Pix[4*i], img.Pix[4*i+1], img.Pix[4*i+2] = byte(shade), byte(shade/2+x/40), byte(200-y/20)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d bytes", file.Len())
	for b.Loop() {
		if _, err := Decode(b.Context(), file.Bytes(), false); err != nil {
			b.Fatal(err)
		}
	}
}
