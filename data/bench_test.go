package data

import (
	"context"
	"io"
	"testing"
)

// BenchmarkDecodeCIFAR is per JPEG of 32x32.
func BenchmarkDecodeCIFAR(b *testing.B) {
	src, err := Open("cifar10:"+needs(b, "cifar10/cifar10-jpg.tar.gz"), Options{Split: Test, CacheBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	for i := range b.N {
		if _, err := src.Sample(i * 7 % 10000); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "images/s")
}

// BenchmarkLoaderCached is per batch of 128, on one worker, with pad-4 crop and
// flip, from decoded pictures.
func BenchmarkLoaderCached(b *testing.B) {
	x := cifarRecords(4096)
	src, err := readCIFAR(x)
	if err != nil {
		b.Fatal(err)
	}
	plan := Plan{Batch: 128, Shuffle: true, Workers: 1, Transform: Transform{Augment: CIFARAugment}}
	l, err := NewLoader(context.Background(), src, plan)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.ReportAllocs()
	for b.Loop() {
		batch, err := l.Next()
		if err == io.EOF || err != nil {
			b.Fatal(err)
		}
		batch.Release()
	}
	b.ReportMetric(128*float64(b.N)/b.Elapsed().Seconds(), "images/s")
}

// BenchmarkGlyph is per glyph drawn.
func BenchmarkGlyph(b *testing.B) {
	src, err := Open("glyphs", Options{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		if _, err := src.Sample(i % 6000); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "images/s")
}

// BenchmarkImageNet is per picture of 500x375: random resized crop to 224.
func BenchmarkImageNet(b *testing.B) {
	src := &memory{x: synthetic(500, 375).Reshape(1, 375, 500, 3)}
	src.info = pictureInfo(src.x, []string{"x"})
	plan := Plan{Batch: 1, Workers: 1, Transform: Transform{Height: 224, Width: 224, Augment: ImageNetAugment}}
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
