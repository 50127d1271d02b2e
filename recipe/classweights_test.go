package recipe

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
)

// painted is a source of masks alone.
type painted struct {
	data.Source
	masks [][]int32
	info  data.Info
}

func (p *painted) Info() data.Info                                 { return p.info }
func (p *painted) Label(_ context.Context, i int) ([]int32, error) { return p.masks[i], nil }
func (p *painted) Fingerprint(context.Context) (string, error)     { return "", nil }

func paint(classes int, masks ...[]int32) *painted {
	return &painted{masks: masks, info: data.Info{Kind: "painted", Len: len(masks), Masks: true,
		Classes: make([]string, classes)}}
}

// In the pictures that contain it, class 0 has 3 of 4 labelled pixels, class 1 has 1 of 4, and class
// 2 has 2 of 2. So the median of the frequencies is 3/4. Class 3 is in no picture.
func TestMedianFrequencies(t *testing.T) {
	src := paint(4, []int32{0, 0, 0, 1}, []int32{2, -1, 2, -1})
	r := Default("unet-bn")
	r.ClassWeights, r.Save = "median", "best"
	if err := r.SetData(t.Context(), src, nil); err != nil {
		t.Fatal(err)
	}
	if r.ClassWeights != "1,3,0.75,1" || r.Save != "best:miou" {
		t.Errorf("weights %s, save %s", r.ClassWeights, r.Save)
	}
	src.info.Masks = false
	r.ClassWeights = "median"
	if err := r.SetData(t.Context(), src, nil); err == nil {
		t.Error("frequencies of classes that are no masks' were taken")
	}
}

func TestClassWeightsBad(t *testing.T) {
	for _, text := range []string{"1", "1,2,3", "a,b", "0,0", "-1,1", "NaN,1", "1e39,1", ",", "1,x", "x,1"} {
		r := Default("unet-bn")
		r.Data.Classes, r.ClassWeights = 2, text
		if w, err := r.WeightsOfClasses(2); err == nil {
			t.Errorf("%q: %v", text, w)
		}
	}
}

// Six labels of three classes, 3, 1 and 2 of them; class 3 has no label. scikit-learn has
// compute_class_weight("balanced", classes=[0, 1, 2], y=[0, 0, 0, 1, 2, 2]).
func TestBalancedWeights(t *testing.T) {
	src := paint(4, []int32{0, 0, 0, 1}, []int32{2, -1, 2, -1})
	for _, masks := range []bool{true, false} {
		src.info.Masks = masks
		r := Default("unet-bn")
		r.ClassWeights = "balanced"
		if err := r.SetData(t.Context(), src, nil); err != nil || r.ClassWeights != "0.6666666666666666,2,1,1" {
			t.Errorf("weights %s, %v", r.ClassWeights, err)
		}
	}
	src.info.Classes = nil
	r := Default("unet-bn")
	r.ClassWeights = "balanced"
	if err := r.SetData(t.Context(), src, nil); err == nil {
		t.Error("labels that are no classes were balanced")
	}
}

// Outputs beyond the classes of the data weigh 1; a class may weigh nothing.
func TestClassWeightsOfAWiderHead(t *testing.T) {
	r := Default("unet-bn")
	r.Data.Classes, r.ClassWeights = 2, "0, 2.5"
	if w, err := r.WeightsOfClasses(4); err != nil || !slices.Equal(w, []float64{0, 2.5, 1, 1}) {
		t.Errorf("%v, %v", w, err)
	}
}

// For masks, Imbalance counts the pixels of at most a hundred masks.
func TestImbalanceOfMasks(t *testing.T) {
	src := paint(3)
	src.info.Labelled, src.info.Classes, src.info.Len = true, []string{"a", "b", "c"}, 250
	for i := range src.info.Len {
		src.masks = append(src.masks, []int32{0, int32(i / 3 % 3), -1, 0, 2})
	}
	want := "58 % of the pixels of 84 masks are of class a, and nothing weighs them"
	if got, err := Imbalance(t.Context(), src); err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestRareClass checks that a class of 15 samples and another of 300 are reported in a
// line, and that auto weighs them as scikit-learn's balanced does: n / (K n_c). A class
// without samples is ignored.
func TestRareClass(t *testing.T) {
	for _, c := range []struct {
		rare    int
		weights []float64
	}{
		{15, []float64{915.0 / 1200, 915.0 / 1200, 915.0 / 1200, 15.25, 1}}, {30, nil},
		{29, []float64{929.0 / 1200, 929.0 / 1200, 929.0 / 1200, 929.0 / 116, 1}},
	} {
		src := paint(1)
		src.info.Labelled, src.info.Masks = true, false
		src.info.Classes = []string{"a", "b", "c", "rare", "none"}
		src.info.Len, src.info.LabelShape = 900+c.rare, nil
		for i := range src.info.Len {
			src.masks = append(src.masks, []int32{int32(i / 300)})
		}
		text, err := Imbalance(t.Context(), src)
		if (text == "") != (c.weights == nil) || err != nil {
			t.Errorf("%d samples: %q, %v", c.rare, text, err)
		}
		if text != "" && !strings.Contains(text, "class rare has ") {
			t.Error(text)
		}
		r := Recipe{Data: Data{Classes: 5}}
		if r.ClassWeights, err = autoFrequencies(t.Context(), src); err != nil {
			t.Fatal(err)
		}
		weights, err := r.WeightsOfClasses(0)
		if err != nil || len(weights) != len(c.weights) {
			t.Fatalf("%d samples: %v, %v, want %v", c.rare, weights, err, c.weights)
		}
		for i, w := range weights {
			if math.Abs(w-c.weights[i]) > 1e-12 {
				t.Errorf("%d samples: %v, want %v", c.rare, weights, c.weights)
			}
		}
		want := "does nothing"
		if weights != nil {
			want = "to " + strconv.FormatFloat(weights[3], 'g', 3, 64) + " of class rare"
		}
		if got := r.AutoWeights(src.info); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestImbalance(t *testing.T) {
	for _, c := range []struct {
		classes int
		labels  []int32
		want    string
	}{
		{3, []int32{0, 0, 1, 2}, ""},
		{3, []int32{0, 1, 1, 1, 2}, "3 of 5 samples are of class b"},
		{2, []int32{0, 1, 1}, ""},
		{2, []int32{0, 1, 1, 1}, "3 of 4 samples are of class b"},
		{1, []int32{0, 0}, ""},
		{3, []int32{-1, -1, -1, 0}, ""},
	} {
		src := paint(c.classes)
		src.info.Masks, src.info.Labelled, src.info.Len = false, true, len(c.labels)
		src.info.Classes = []string{"a", "b", "c"}[:c.classes]
		for _, l := range c.labels {
			src.masks = append(src.masks, []int32{l})
		}
		got, err := Imbalance(t.Context(), src)
		if err != nil || !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%v: %q, %v; want %q", c.labels, got, err, c.want)
		}
		r := Default("unet-bn")
		r.ClassWeights = "auto"
		if err := r.SetData(t.Context(), src, nil); err != nil || (r.ClassWeights == "") != (c.want == "") {
			t.Errorf("%v: auto is %q, %v", c.labels, r.ClassWeights, err)
		}
	}
}
