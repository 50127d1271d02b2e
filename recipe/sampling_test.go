package recipe

import (
	"github.com/bnctl/bnctl/data"
	"slices"
	"strings"
	"testing"
)

// Samples with the labels 0 0 0 1 2 2 weigh n/(K n_c), as in the loss. A class without samples weighs
// 1.
func TestSampling(t *testing.T) {
	labels := func(all ...int32) *painted {
		p := paint(4)
		for _, l := range all {
			p.masks = append(p.masks, []int32{l})
		}
		p.info.Masks, p.info.Len = false, len(all)
		return p
	}
	for _, c := range []struct{ sampling, want, err string }{
		{"", "", ""},
		{"balanced", "0.6666666666666666,2,1,1", ""},
		{"0,2,1,5", "0,2,1,5", ""},
		{"0,0,0,5", "", "all samples have the weight 0"},
		{"1,-2,1,1", "", `"-2" is not a weight; want balanced, column, or a number`},
		{"1,2", "", "2 weights for the 4 classes"},
		{"column", "", "no column of weights"},
		{"even", "", `"even" is not a weight`},
	} {
		r := Default("unet-bn")
		r.Sampling, r.ClassWeights = c.sampling, "auto"
		src := labels(0, 0, 0, 1, 2, 2)
		err := r.SetData(t.Context(), src, nil)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.sampling, err, c.err)
			}
			continue
		}
		weights, werr := r.SampleWeights(t.Context(), src)
		if err != nil || werr != nil || r.Sampling != c.want || c.sampling != "" && r.ClassWeights != "" {
			t.Errorf("%s is %s, class weights %s, %v, %v; want %s", c.sampling, r.Sampling, r.ClassWeights, err, werr, c.want)
		}
		want := []float64{2. / 3, 2. / 3, 2. / 3, 2, 1, 1}
		if c.sampling == "balanced" && !slices.Equal(weights, want) {
			t.Errorf("weights %v, want %v", weights, want)
		}
	}
	for want, change := range map[string]func(*data.Info){
		"class-weights": func(i *data.Info) { i.Masks = true },
		"no classes":    func(i *data.Info) { i.Targets = []string{"x"} },
		"pos-weights":   func(i *data.Info) { i.MultiLabel, i.LabelShape = true, []int{4} },
	} {
		r, src := Default("unet-bn"), labels(0, 1)
		r.Sampling = "balanced"
		change(&src.info)
		if err := r.SetData(t.Context(), src, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A recipe without sampling has no field for it, and a recipe with another sampling
// differs.
func TestSamplingInRecipes(t *testing.T) {
	was := exampleRecipe(42)
	r := was
	if strings.Contains(string(r.JSON()), "sampling") {
		t.Error("a recipe that takes each sample once names sampling")
	}
	r.Sampling = "1,2,0.5,0,3,1,1,0.25,1,7"
	if d := r.Differences(&was); len(d) != 1 || d[0].Field != "sampling" {
		t.Errorf("differences %v", d)
	}
}
