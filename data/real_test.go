package data

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/internal/shareddata"
)

func TestRealCIFAR10(t *testing.T) {
	path := shareddata.File(t, "cifar10/cifar10-jpg.tar.gz")
	for split, n := range map[Split]int{Train: 50000, Test: 10000} {
		src := open(t, "cifar10:"+path, Options{Split: split})
		info := src.Info()
		if info.Len != n || !slices.Equal(info.Classes, cifarClasses) || !slices.Equal(info.Shape,
			[]int{32, 32, 3}) {
			t.Errorf("%s: info = %+v", split, info)
		}
		if split == Train {
			continue // decoding 10,000 pictures is enough
		}
		s, err := Describe(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		for class, count := range s.PerClass {
			if count != n/10 {
				t.Errorf("%d samples of class %d, want %d", count, class, n/10)
			}
		}
		// The published means for the training set, uncompressed, are 125.3, 123.0 and 113.9.
		for c, want := range []float64{125.3, 123.0, 113.9} {
			if math.Abs(s.Mean[c]-want) > 1.5 {
				t.Errorf("mean of channel %d is %.2f, want about %.1f", c, s.Mean[c], want)
			}
		}
	}
}

// Pillow has decoded the 500 raw records. bnctl must decode the same pixels.
func TestRealDecodingAgreesWithPillow(t *testing.T) {
	archive, records := shareddata.File(t, "cifar10/cifar10-jpg.tar.gz"), shareddata.File(t, "cifar10/cifar10_test500_pil.bin")
	jpegs, raw := open(t, "cifar10:"+archive, Options{Split: Test}), open(t, "cifar10:"+records, Options{})
	if raw.Info().Len != 500 {
		t.Fatalf("%d records, want 500", raw.Info().Len)
	}
	for i := range 500 {
		k := i/50*1000 + i%50 // 50 of the 1000 pictures of each class
		if want := fmt.Sprintf("test/%s/%04d.jpg", cifarClasses[i/50], i%50); jpegs.Name(k) != want {
			t.Errorf("sample %d is %s, want %s", k, jpegs.Name(k), want)
		}
		a, err := jpegs.Sample(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := raw.Sample(t.Context(), i)
		if label(t, jpegs, k)[0] != label(t, raw, i)[0] {
			t.Errorf("sample %d: label %d, the record has %d", k, label(t, jpegs, k)[0], label(t, raw, i)[0])
		}
		if !bytes.Equal(a.Bytes, b.Bytes) {
			t.Errorf("sample %d: the pixels of %s are not those of the record", k, jpegs.Name(k))
		}
	}
}

func TestRealMNIST(t *testing.T) {
	path := filepath.Dir(shareddata.File(t, "mnist/train-images-idx3-ubyte.gz"))
	for split, n := range map[Split]int{Train: 60000, Test: 10000} {
		src := open(t, "mnist:"+path, Options{Split: split})
		if info := src.Info(); info.Len != n || !slices.Equal(info.Shape, []int{28, 28, 1}) {
			t.Errorf("%s: info = %+v", split, info)
		}
		if split == Test {
			continue
		}
		s, err := Describe(context.Background(), src)
		// The published mean is 0.1307 of 255, and the published deviation 0.3081 of 255.
		if err != nil || math.Abs(s.Mean[0]/255-0.1307) > 1e-4 || math.Abs(s.Std[0]/255-0.3081) > 1e-4 {
			t.Errorf("mean %v, deviation %v (%v)", s.Mean, s.Std, err)
		}
		got := slices.Concat(label(t, src, 0), label(t, src, 1), label(t, src, 2))
		if !slices.Equal(got, []int32{5, 0, 4}) {
			t.Errorf("the first labels are %d, want 5 0 4", got)
		}
	}
}
