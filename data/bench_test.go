package data

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/internal/shareddata"
)

// BenchmarkDecodeCIFAR measures decoding one JPEG of 32x32.
func BenchmarkDecodeCIFAR(b *testing.B) {
	src, err := Open(b.Context(), "cifar10:"+shareddata.File(b, "cifar10/cifar10-jpg.tar.gz"),
		Options{Split: Test, CacheBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	for i := range b.N {
		if _, err := src.Sample(b.Context(), i*7%10000); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "images/s")
}

// BenchmarkLoader measures loading a batch of 128 pictures of CIFAR-10's size, on one worker, with pad-4 crop
// and flip. The pictures are JPEGs that are decoded each time, JPEGs that are already decoded, or CIFAR-10's
// records. The JPEGs have about the size of CIFAR-10's pictures as JPEG (911 bytes).
func BenchmarkLoader(b *testing.B) {
	jpegs := "folder:" + jpegFolder(b, 2048)
	b.Run("jpeg", func(b *testing.B) { measureLoader(b, openAll(b, jpegs, -1)) })
	b.Run("decoded", func(b *testing.B) { measureLoader(b, openAll(b, jpegs, 0)) })
	b.Run("records", func(b *testing.B) {
		src, err := readCIFAR(cifarRecords(4096))
		if err != nil {
			b.Fatal(err)
		}
		measureLoader(b, src)
	})
}

// openAll opens a source and reads every sample once.
func openAll(b *testing.B, spec string, cache int64) Source {
	src, err := Open(b.Context(), spec, Options{CacheBytes: cache})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { src.Close() })
	for i := range src.Info().Len {
		if _, err := src.Sample(b.Context(), i); err != nil {
			b.Fatal(err)
		}
	}
	return src
}

// measureLoader measures a loader of one worker.
func measureLoader(b *testing.B, src Source) {
	plan := Plan{Batch: 128, Shuffle: true, Workers: 1, Transform: Transform{Augment: augmentation.CIFAR()}}
	l, err := NewLoader(context.Background(), src, plan)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.ReportAllocs()
	for b.Loop() {
		batch, err := l.Next()
		if err != nil {
			b.Fatal(err)
		}
		batch.Release()
	}
	b.ReportMetric(128*float64(b.N)/b.Elapsed().Seconds(), "images/s")
}

// jpegFolder writes n noisy pictures of two classes.
func jpegFolder(b *testing.B, n int) string {
	dir := b.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	var total int
	for i := range n {
		img := image.NewRGBA(image.Rect(0, 0, cifarSide, cifarSide))
		for p := range cifarPlane {
			shade := 128 + 60*math.Sin(float64(i+p%cifarSide)/5) + 40*math.Cos(float64(p/cifarSide)/7)
			for c := range 3 {
				img.Pix[4*p+c] = byte(shade + 16*r.NormFloat64() + float64(5*c))
			}
		}
		var file bytes.Buffer
		if err := jpeg.Encode(&file, img, nil); err != nil {
			b.Fatal(err)
		}
		total += file.Len()
		class := filepath.Join(dir, []string{"odd", "even"}[i%2])
		if err := os.MkdirAll(class, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(class, fmt.Sprintf("%d.jpg", i)), file.Bytes(), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d bytes a picture", total/n)
	return dir
}

// BenchmarkGlyph measures drawing one glyph.
func BenchmarkGlyph(b *testing.B) {
	src, err := Open(b.Context(), "glyphs", Options{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		if _, err := src.Sample(b.Context(), i%6000); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "images/s")
}

// BenchmarkImageNet measures random resized crop to 224 for one picture of 500x375.
func BenchmarkImageNet(b *testing.B) {
	src := &memory{x: synthetic(500, 375).Reshape(1, 375, 500, 3)}
	src.info = pictureInfo(src.x, []string{"x"})
	transform := Transform{Height: 224, Width: 224, Augment: augmentation.ImageNet()}
	plan := Plan{Batch: 1, Workers: 1, Transform: transform}
	l, err := NewLoader(context.Background(), src, plan)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for b.Loop() {
		batch, err := l.Next()
		if err != nil {
			b.Fatal(err)
		}
		batch.Release()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "images/s")
}
