package data

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
)

// sharesOf returns the settings for mixing in 400 steps.
func sharesOf(text string) []augmentation.Mixture {
	a := augmentation.MustParse(text)
	var all []augmentation.Mixture
	for i := range 400 {
		all = append(all, a.DrawMixture(5, 2, i, 28, 28))
	}
	return all
}

// Row i is mixed with row i-1, and row 0 with the last row of the batch, all in their unmixed form. Each
// pixel is roundeven(fraction*row + (1-fraction)*partner). Labels has the label with the larger share. A row
// without a partner stays unchanged.
func TestMixup(t *testing.T) {
	src := open(t, "glyphs:17", Options{})
	plan := Plan{Batch: 8, Epochs: 4, Seed: 9, Shuffle: true}
	plain := load(t, src, plan)
	plan.Transform.Augment = augmentation.MustParse("mixup:1")
	swapped := 0
	for k, b := range load(t, src, plan) {
		before, n := plain[k], b.Len()
		m := augmentation.MustParse("mixup:1").DrawMixture(9, b.Position.Epoch, b.Position.Index, 28, 28)
		if n == 1 {
			m.Fraction = 1
		}
		size := len(b.X.Bytes) / n
		for i := range n {
			own, partner := before.X.Bytes[i*size:(i+1)*size], before.X.Bytes[(i+n-1)%n*size:]
			for at, got := range b.X.Bytes[i*size : (i+1)*size] {
				first, second := float64(m.Fraction*float64(own[at])), float64((1-m.Fraction)*float64(partner[at]))
				want := math.RoundToEven(first + second)
				if float64(got) != want {
					t.Fatalf("batch %v, row %d, element %d is %d, want %g", b.Position, i, at, got, want)
				}
			}
			first, second := before.Labels.I32()[i], before.Labels.I32()[(i+n-1)%n]
			fraction := float32(m.Fraction)
			if fraction < 0.5 {
				first, second, fraction = second, first, 1-fraction
				swapped++
			}
			if b.Labels.I32()[i] != first || b.Partners.I32()[i] != second || b.Fraction != fraction {
				t.Fatalf("batch %v, row %d: labels %d and %d, fraction %g; want %d, %d, %g", b.Position, i,
					b.Labels.I32()[i], b.Partners.I32()[i], b.Fraction, first, second, fraction)
			}
		}
	}
	if swapped == 0 || swapped == 4*16 {
		t.Errorf("%d rows have the larger fraction of their partner", swapped)
	}
}

// With cutmix a part of the picture is copied from the partner. The fraction is exactly the share of the
// remaining area.
func TestCutmix(t *testing.T) {
	src := open(t, "glyphs:24", Options{})
	plan := Plan{Batch: 8, Epochs: 3, Seed: 4, Shuffle: true}
	plain := load(t, src, plan)
	plan.Transform.Augment = augmentation.MustParse("cutmix:1")
	for k, b := range load(t, src, plan) {
		before, n := plain[k], b.Len()
		m := augmentation.MustParse("cutmix:1").DrawMixture(4, b.Position.Epoch, b.Position.Index, 28, 28)
		if got := 1 - float64(m.Cut.W*m.Cut.H)/(28*28); math.Abs(got-m.Fraction) > 1e-7 {
			t.Errorf("batch %v: %v has fraction %g", b.Position, m.Cut, m.Fraction)
		}
		for at, got := range b.X.Bytes {
			i, y, x := at/784, at/28%28, at%28
			from := at
			if y >= m.Cut.Y && y < m.Cut.Y+m.Cut.H && x >= m.Cut.X && x < m.Cut.X+m.Cut.W {
				from = (i+n-1)%n*784 + at%784
			}
			if want := before.X.Bytes[from]; got != want {
				t.Fatalf("batch %v, row %d, pixel %d, %d is %d, want %d", b.Position, i, x, y, got, want)
			}
		}
	}
}

// A wanted row depends neither on the other rows that are read, nor on the number of workers.
func TestMixedRowsOfRanks(t *testing.T) {
	src := open(t, "glyphs:23", Options{})
	plan := Plan{Batch: 8, Epochs: 1, Seed: 3, Shuffle: true}
	plan.Transform.Augment = augmentation.MustParse("flip:0.5 mixup:0.2 cutmix:1")
	all := load(t, src, plan)
	for _, workers := range []int{1, 5} {
		for first := range 8 {
			mine := plan
			mine.Workers = workers
			mine.Select = func(Position, int) func(row int) bool {
				return func(row int) bool { return row >= first && row < first+2 }
			}
			for k, b := range load(t, src, mine) {
				for row := first; row < min(first+2, b.Len()); row++ {
					if !slices.Equal(b.row784(row), all[k].row784(row)) {
						t.Errorf("rows %d and next of batch %v: row %d differs", first, b.Position, row)
					}
				}
				if !slices.Equal(b.Partners.I32(), all[k].Partners.I32()) || b.Fraction != all[k].Fraction {
					t.Errorf("batch %v has other labels", b.Position)
				}
			}
		}
	}
}

func (b *Batch) row784(i int) []byte { return b.X.Bytes[i*784 : (i+1)*784] }

// The shares have the moments of the beta distribution, which has variance 1/(4(2a+1)). With both ways of
// mixing, each is used in half of the steps.
func TestSharesAreBeta(t *testing.T) {
	for text, variance := range map[string]float64{"mixup:0.2": 1 / 5.6, "mixup:1": 1 / 12., "mixup:4": 1 / 36.} {
		var sum, squares float64
		all := sharesOf(text)
		for _, m := range all {
			sum, squares = sum+m.Fraction, squares+(m.Fraction-0.5)*(m.Fraction-0.5)
		}
		n := float64(len(all))
		if math.Abs(sum/n-0.5) > 4*math.Sqrt(variance/n) || math.Abs(squares/n-variance) > 0.2*variance {
			t.Errorf("%s: mean %.3f, variance %.4f, want 0.5, %.4f", text, sum/n, squares/n, variance)
		}
	}
	cut := 0
	for _, m := range sharesOf("mixup:1 cutmix:1") {
		if m.Cut != (images.Box{}) {
			cut++
		}
	}
	if cut < 150 || cut > 250 {
		t.Errorf("%d of 400 steps cut", cut)
	}
}

func TestRefusedMixtures(t *testing.T) {
	for text, want := range map[string]string{
		"mixup:0":     `mixup:0: its alpha is "0", want a number from 0.01 to 100`,
		"mixup flip":  "mixup: it mixes what the others have made, want it after flip",
		"cutmix:1,2":  "cutmix:1,2: it takes alpha (1)",
		"mixup mixup": "mixup stands there twice",
	} {
		if _, err := augmentation.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	_, err := NewLoader(t.Context(), open(t, "shapes", Options{}), Plan{Batch: 2, Transform: Transform{Augment: augmentation.MustParse("cutmix:1")}})
	if err == nil || !strings.Contains(err.Error(), "augmentation cutmix puts parts") {
		t.Errorf("cutmix of masks: %v", err)
	}
}

// This package computed the digest of these pixels on linux/amd64. Every machine must compute the same.
func TestAugmentedGolden(t *testing.T) {
	const want = "bafada6af6d86796"
	h := sha256.New()
	for _, text := range []string{"resizedcrop flip rotate jitter randaugment:3,20 erase mixup:0.3", "crop trivial cutmix"} {
		a, err := augmentation.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		src := open(t, "shapes:1", Options{})
		if a.Mixes() && strings.Contains(text, augmentation.Cutmix) {
			src = open(t, "glyphs:24", Options{})
		}
		plan := Plan{Batch: 8, Epochs: 2, Seed: 1, Shuffle: true, Transform: Transform{Augment: a}}
		for _, b := range load(t, src, plan) {
			h.Write(b.X.Bytes)
			h.Write(b.Labels.Bytes)
		}
	}
	if got := hex.EncodeToString(h.Sum(nil))[:16]; got != want {
		t.Errorf("sum %s, want %s", got, want)
	}
}
