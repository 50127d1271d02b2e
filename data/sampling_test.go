package data

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
)

// The expected samples are from testdata/sampling.py, which draws them in plain Python.
func TestSamplesDrawnByWeights(t *testing.T) {
	file, err := os.ReadFile("testdata/sampling.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Seed           uint64
		Epoch          int
		Weights        []float64
		Samples, Again []int64
	}
	if err := json.Unmarshal(file, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		var samples, again []int64
		all := load(t, whole(len(c.Weights)), Plan{Batch: 5, Seed: c.Seed, Shuffle: true, Weights: c.Weights,
			Start: Position{Epoch: c.Epoch}, Epochs: c.Epoch + 1})
		for _, b := range all {
			for row, i := range b.Samples.I64() {
				samples = append(samples, i)
				again = append(again, b.occurrence(row)>>32)
				if b.occurrence(row)&math.MaxUint32 != i || b.X.F32()[2*row] != float32(i) {
					t.Errorf("row %d is of sample %v and occurrence %x, want %d", row, b.X.F32()[2*row], b.occurrence(row), i)
				}
			}
		}
		if !slices.Equal(samples, c.Samples) || !slices.Equal(again, c.Again) {
			t.Errorf("seed %d: samples %d, %d; want %d, %d", c.Seed, samples, again, c.Samples, c.Again)
		}
	}
}

// A run that starts in the middle of an epoch draws the same samples as a run from its beginning. The share
// of the samples with a certain weight is proportional to the weight, within four standard deviations.
func TestDrawnSamplesAreThoseOfTheEpoch(t *testing.T) {
	weights := make([]float64, 1000)
	for i := range weights {
		weights[i] = float64(i % 4)
	}
	p := Plan{Batch: 100, Seed: 3, Weights: weights, Epochs: 2}
	all := load(t, whole(1000), p)
	p.Start = Position{Epoch: 1, Index: 7}
	later := load(t, whole(1000), p)
	for k, b := range later {
		if want := all[17+k]; !slices.Equal(b.samples, want.samples) || !slices.Equal(b.earlier, want.earlier) {
			t.Errorf("batch %d begins with %d, from the start with %d", k, b.samples[:9], want.samples[:9])
		}
	}
	var n [4]float64
	for _, b := range all {
		for _, i := range b.samples {
			n[i%4]++
		}
	}
	for k, got := range n {
		share := float64(k) / 6
		if most := 4 * math.Sqrt(2000*share*(1-share)); math.Abs(got-2000*share) > most {
			t.Errorf("weight %d: %g of 2000 draws, want %g within %g", k, got, 2000*share, most)
		}
	}
}

// A sample that is drawn twice in an epoch is augmented in two different ways. A sample that is drawn once is
// augmented in the same way as without weights.
func TestOccurrencesAreAugmentedApart(t *testing.T) {
	src := open(t, "glyphs:6", Options{})
	p := Plan{Batch: 6, Seed: 1, Epochs: 1}
	p.Transform.Augment = augmentation.MustParse("crop:4 rotate:15")
	plain := load(t, src, p)[0]
	p.Weights = []float64{0, 0, 1, 1, 0, 0}
	drawn, seen := load(t, src, p)[0], map[string]bool{}
	for row, i := range drawn.samples {
		x := drawn.X.Rows(row, row+1).Bytes
		if seen[string(x)] {
			t.Errorf("sample %d looks the second time as the first", i)
		}
		seen[string(x)] = true
		if drawn.earlier[row] == 0 && !bytes.Equal(x, plain.X.Rows(int(i), int(i)+1).Bytes) {
			t.Errorf("sample %d looks the first time otherwise than without weights", i)
		}
	}
}

func TestWeightsOfATable(t *testing.T) {
	table := "path,label,weight\n0.png,a,2\n1.png,b,0\n2.png,a,0.5\n"
	for _, c := range []struct {
		table, columns, spec string
		want                 []float64
	}{
		{table, "", "", []float64{2, 0, 0.5}},
		{strings.Replace(table, "weight", "w", 1), "weight=w", "", []float64{2, 0, 0.5}},
		{"path,weight,label\n0.png,1,a\n1.png,3,b\n", "", "++", []float64{1, 3, 1, 3}},
	} {
		spec := tableOf(t, "", c.table)
		if c.spec != "" {
			spec += c.spec + spec
		}
		got, err := Weights(open(t, spec, Options{Columns: c.columns}))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v; want %v", c.table, got, err, c.want)
		}
	}
	split, err := (Holdout{Fraction: 0.4}).Split(t.Context(), open(t, tableOf(t, "",
		"path,label,weight\n0.png,a,1\n1.png,a,2\n2.png,a,3\n3.png,a,4\n"), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Weights(split.Training)
	for i := range got {
		if name := split.Training.Name(i); err != nil || got[i] != float64(name[0]-'0')+1 {
			t.Errorf("%s weighs %g, %v", name, got[i], err)
		}
	}
	for _, c := range []struct{ table, columns, want string }{
		{table + "3.png,b,-1\n", "", `line 5 has the weight "-1"`}, {table + "3.png,b,\n", "", `the weight ""`},
		{table + "3.png,b,much\n", "", `the weight "much"`}, {table + "3.png,b,NaN\n", "", `the weight "NaN"`},
		{"path,label\n0.png,a\n", "", "no column of weights"},
		{"path,weight\n0.png,3\n", "target=weight", "no column of weights"},
	} {
		_, err := Weights(open(t, tableOf(t, "", c.table), Options{Columns: c.columns}))
		wantError(t, err, c.want)
	}
	_, err = Weights(open(t, "glyphs:3", Options{}))
	wantError(t, err, "glyphs has no column of weights")
}

func TestWeightsThatNothingIsDrawnBy(t *testing.T) {
	for want, weights := range map[string][]float64{"2 weights for 3 samples": {1, 2}, "all samples have": {0, 0, 0},
		"sample 1 is -1": {1, -1, 1}, "sample 2 is NaN": {1, 1, math.NaN()}} {
		_, err := NewLoader(t.Context(), whole(3), Plan{Batch: 1, Weights: weights})
		wantError(t, err, want)
	}
}
