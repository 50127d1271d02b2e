package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"
)

// pixels returns the samples 0 to n-1 of a source of glyphs.
func pixels(t *testing.T, src Source, n int) [][]byte {
	t.Helper()
	all := make([][]byte, n)
	for i := range all {
		sample, err := src.Sample(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = sample.Bytes
	}
	return all
}

// This package computed the hash on linux/amd64. Every machine must draw the same pixels. If any pixel
// changes, glyphsVersion must change.
func TestGlyphsGolden(t *testing.T) {
	for split, want := range map[Split]string{
		Train: "3273fee758a307162de22146f945ba76e09d8a2171ca4bb5b147c6976530965a",
		Test:  "9ab98d11de370dce8cb591ecb3f5649a48bfc73076a5b1038ff3625db98336d4",
	} {
		h := sha256.New()
		for _, p := range pixels(t, open(t, "glyphs", Options{Split: split}), 500) {
			h.Write(p)
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("the first 500 glyphs of %s have the hash %s, want %s", split, got, want)
		}
	}
}

func TestGlyphsAreIndependentOfTheirNumber(t *testing.T) {
	few, many := open(t, "glyphs:10", Options{}), open(t, "glyphs:20", Options{})
	for i, p := range pixels(t, few, 10) {
		if string(p) != string(pixels(t, many, 10)[i]) {
			t.Errorf("glyph %d depends on how many there are", i)
		}
	}
	a, _ := few.Fingerprint(context.Background())
	b, _ := many.Fingerprint(context.Background())
	c, _ := open(t, "glyphs:10@test", Options{}).Fingerprint(context.Background())
	if a == b || a == c {
		t.Errorf("fingerprints %s %s %s", a, b, c)
	}
}

func TestGlyphsTrainAndTestDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, split := range []Split{Train, Test} {
		for i, p := range pixels(t, open(t, "glyphs", Options{Split: split}), 500) {
			if seen[string(p)] {
				t.Errorf("glyph %d of %s was drawn before", i, split)
			}
			seen[string(p)] = true
		}
	}
}

// A classifier by the nearest picture, pixel by pixel, cannot follow shifts. It classifies 7 of 10 unseen
// digits correctly. (lenet-bn classifies 99 of 100 correctly after one epoch of 6000 digits.)
func TestGlyphsAreLearnable(t *testing.T) {
	train, test := open(t, "glyphs:2000", Options{}), open(t, "glyphs:100@test", Options{})
	known, asked := pixels(t, train, 2000), pixels(t, test, 100)
	right := 0
	for i, p := range asked {
		best, nearest := math.MaxInt, 0
		for k, q := range known {
			if d := distance(p, q); d < best {
				best, nearest = d, k
			}
		}
		if label(t, train, nearest)[0] == label(t, test, i)[0] {
			right++
		}
	}
	if right < 60 {
		t.Errorf("nearest neighbours name %d of 100 digits, want at least 60", right)
	}
}

func distance(a, b []byte) int {
	sum := 0
	for i := range a {
		d := int(a[i]) - int(b[i])
		sum += d * d
	}
	return sum
}
