package train

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// otherRecipes change the recipe of newBench, each in related fields.
var otherRecipes = map[string]func(r *recipe.Recipe){
	"adamw": func(r *recipe.Recipe) { r.Optimizer, r.LR, r.ClipNorm, r.Warmup = "adamw", 0.01, 0.5, 0.5 },
	"lars":  func(r *recipe.Recipe) { r.Optimizer, r.LR, r.Schedule = "lars", 2, "step:0.5,1" },
	"nesterov": func(r *recipe.Recipe) {
		r.Nesterov, r.DecayAll, r.LabelSmoothing, r.Schedule = true, true, 0.1,
			"constant"
	},
	"average": func(r *recipe.Recipe) { r.EMA = 0.9 },
	"precise": func(r *recipe.Recipe) { r.BN, r.BNStats, r.BNPrecise = bn.Replica, bn.First, 20 },
	"best":    func(r *recipe.Recipe) { r.Save, r.Patience, r.Validation, r.LR = "best:loss", 1, r.Data, 0.2 },
	"rounds":  func(r *recipe.Recipe) { r.Batch, r.Replicas, r.Accumulate = 8, 2, 2 },
	"bf16":    func(r *recipe.Recipe) { r.Precision = "bf16" },
	"weighted": func(r *recipe.Recipe) {
		r.ClassWeights, r.LabelSmoothing = "1,2,0.5,0,3,1,1,0.25,1,7", 0.1
	},
	"mixed": func(r *recipe.Recipe) {
		r.Augment = augmentation.MustParse("randaugment mixup cutmix")
		r.LabelSmoothing, r.ClassWeights = 0.1, "1,2,0.5,0,3,1,1,0.25,1,7"
	},
	"sampled": func(r *recipe.Recipe) {
		r.Sampling, r.Augment = "1,2,0.5,0,3,1,1,0.25,1,7", augmentation.MustParse("crop flip mixup")
	},
	"freeze": func(r *recipe.Recipe) { r.Freeze = []string{"fc1.*", "bn2.weight"} },
}

// Every recipe gives one template, on any devices, stopped and resumed.
func TestSameTemplateOfOtherRecipes(t *testing.T) {
	for name, change := range otherRecipes {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 42)
			plain := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
			change(&b.recipe)
			want := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
			if want == plain {
				t.Fatal("the recipe changes nothing")
			}
			if got := b.template(New(context.Background(), &b.recipe, b.model(), b.config(3))); got != want {
				t.Errorf("on three devices: template %s, on one %s", got, want)
			}
			if got := b.resumed(4); got != want {
				t.Errorf("resumed at step 4: template %s, undisturbed %s", got, want)
			}
		})
	}
}

// Accumulating over rounds gives the bits of a larger batch with proportionally more replicas.
func TestAccumulateIsALargerBatch(t *testing.T) {
	state := func(change func(r *recipe.Recipe)) map[string]tensor.Tensor {
		b := newBench(t, 42)
		change(&b.recipe)
		s, err := New(context.Background(), &b.recipe, b.model(), b.config(2))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		m, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return m.State
	}
	rounds := otherRecipes["rounds"]
	for of, change := range map[string]func(*recipe.Recipe){"plain": func(*recipe.Recipe) {}, "mixed": otherRecipes["mixed"],
		"sampled": otherRecipes["sampled"]} {
		want, got := state(change), state(func(r *recipe.Recipe) { change(r); rounds(r) })
		for name, w := range want {
			if !tensor.Equal(got[name], w) {
				t.Errorf("%s: %s differs", of, name)
			}
		}
	}
}

func TestFrozenTensorsStay(t *testing.T) {
	b := newBench(t, 42)
	otherRecipes["freeze"](&b.recipe)
	before := b.model().State
	s, err := New(context.Background(), &b.recipe, b.model(), b.config(1))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"fc1.weight": true, "bn2.weight": true, "bn2.bias": false,
		"fc2.weight": false} {
		if got := tensor.Equal(m.State[name], before[name]); got != stays {
			t.Errorf("%s is as before: %v, want %v", name, got, stays)
		}
	}
}

// Pixels of two versions of the decoder are two data sets. A resume is refused and names both versions. It
// does not name the fingerprints, which always differ in this case.
func TestDecodersAreNotMixed(t *testing.T) {
	for _, c := range []struct{ was, now, want string }{
		{"", "2", "decoder is 2, was 1, which recipes do not name"},
		{"2", "3", "decoder is 3, was 2"},
	} {
		was := newBench(t, 42).recipe
		now := was
		was.Decoder, was.Data.Fingerprint, was.Validation.Fingerprint = c.was, "a", "b"
		now.Decoder, now.Data.Fingerprint, now.Validation.Fingerprint = c.now, "c", "d"
		diff := now.Differences(&was)
		err := &RecipeError{diff}
		text := err.Error()
		if len(diff) != 1 || !strings.Contains(text, c.want) ||
			!strings.Contains(text, "continue with the release") {
			t.Errorf("%v, want %q and nothing else", err, c.want)
		}
		now.Data.Samples++
		if diff := now.Differences(&was); len(diff) != 2 {
			t.Errorf("other data: %v, want the decoder and the data", diff)
		}
	}
}
