package train

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
)

// otherRecipes change the recipe of newBench, each in related fields.
var otherRecipes = map[string]func(r *Recipe){
	"adamw": func(r *Recipe) { r.Optimizer, r.LR, r.ClipNorm, r.Warmup = "adamw", 0.01, 0.5, 0.5 },
	"lars":  func(r *Recipe) { r.Optimizer, r.LR, r.Schedule = "lars", 2, "step:0.5,1" },
	"nesterov": func(r *Recipe) {
		r.Nesterov, r.DecayAll, r.LabelSmoothing, r.Schedule = true, true, 0.1,
			"constant"
	},
	"average": func(r *Recipe) { r.EMA = 0.9 },
	"precise": func(r *Recipe) { r.BN, r.BNStats, r.BNPrecise = bn.Replica, bn.First, 20 },
	"best":    func(r *Recipe) { r.Save, r.Patience, r.Validation, r.LR = "best:loss", 1, r.Data, 0.2 },
	"rounds":  func(r *Recipe) { r.Batch, r.Replicas, r.Accumulate = 8, 2, 2 },
	"bf16":    func(r *Recipe) { r.Precision = "bf16" },
	"weighted": func(r *Recipe) {
		r.ClassWeights, r.LabelSmoothing = "1,2,0.5,0,3,1,1,0.25,1,7", 0.1
	},
	"mixed": func(r *Recipe) {
		r.Augment, r.LabelSmoothing, r.ClassWeights = "randaugment mixup cutmix", 0.1, "1,2,0.5,0,3,1,1,0.25,1,7"
	},
	"sampled": func(r *Recipe) {
		r.Sampling, r.Augment = "1,2,0.5,0,3,1,1,0.25,1,7", "crop flip mixup"
	},
	"freeze": func(r *Recipe) { r.Freeze = []string{"fc1.*", "bn2.weight"} },
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

// Rounds have the bits of a larger batch with proportionally more replicas.
func TestAccumulateIsALargerBatch(t *testing.T) {
	state := func(change func(r *Recipe)) map[string]tensor.Tensor {
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
	for of, change := range map[string]func(*Recipe){"plain": func(*Recipe) {}, "mixed": otherRecipes["mixed"],
		"sampled": otherRecipes["sampled"]} {
		want, got := state(change), state(func(r *Recipe) { change(r); rounds(r) })
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

func TestRate(t *testing.T) {
	// Ten steps an epoch, a peak of 0.8.
	r := &Recipe{LR: 0.8, Epochs: 4, Batch: 10, Accumulate: 1, Tail: parallel.Keep, Data: Data{Samples: 95}}
	for _, c := range []struct {
		schedule string
		warmup   float64
		step     int
		want     float64
	}{
		{"constant", 0, 39, 0.8},
		{"constant", 0.5, 0, 0.8 / 5},
		{"constant", 0.5, 4, 0.8},
		{"step:1,2.5", 0, 9, 0.8},
		{"step:1,2.5", 0, 10, 0.08},
		{"step:1,2.5", 0, 24, 0.08},
		{"step:1,2.5", 0, 25, 0.008},
		{"cosine", 0, 0, 0.8},
		{"cosine", 0, 20, 0.4},
		{"cosine", 0, 40, 0},
		{"cosine", 2, 20, 0.8},
		{"cosine", 2, 30, 0.4},
	} {
		r.Schedule, r.Warmup = c.schedule, c.warmup
		s, err := NewSchedule(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Rate(c.step); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s, warm-up %g: step %d has the rate %g, want %g", c.schedule, c.warmup, c.step, got, c.want)
		}
	}
}

// A difference in any field is found and named, but that epochs may grow
// where the schedule does not look ahead.
func TestDifferences(t *testing.T) {
	was := newBench(t, 42).recipe
	typ := reflect.TypeOf(was)
	for i := range typ.NumField() {
		was := was
		if name := typ.Field(i).Name; name == "Numbers" || name == "Classes" {
			was.Numbers = []string{"order/1"} // recipes without numbers are compared by their releases
		}
		now := was
		f := reflect.ValueOf(&now).Elem().Field(i)
		switch f.Kind() {
		case reflect.Int:
			f.SetInt(f.Int() + 1)
		case reflect.Uint64:
			f.SetUint(f.Uint() + 1)
		case reflect.Float64:
			f.SetFloat(f.Float() + 1)
		case reflect.Bool:
			f.SetBool(!f.Bool())
		case reflect.String:
			f.SetString(f.String() + "x")
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Struct:
			f.Field(0).SetString("x")
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			t.Fatalf("field %s has the kind %v", typ.Field(i).Name, f.Kind())
		}
		got := now.Differences(&was)
		want, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if len(got) != 1 || got[0].Field != want {
			t.Errorf("%s changed: differences %v, want one of %s", typ.Field(i).Name, got, want)
		}
	}
	for schedule, want := range map[string]int{"constant": 0, "step:1": 0, "cosine": 1} {
		now, before := was, was
		now.Schedule, before.Schedule = schedule, schedule
		now.Epochs++
		if got := now.Differences(&before); len(got) != want {
			t.Errorf("%s: more epochs give %v", schedule, got)
		}
		if got := before.Differences(&now); len(got) != 1 {
			t.Errorf("%s: fewer epochs give %v", schedule, fmt.Sprint(got))
		}
	}
	for _, test := range []struct {
		name   string
		change func(was, now *Recipe)
		want   int
	}{
		{"steps", func(was, now *Recipe) { was.Epochs, was.Steps, now.Epochs, now.Steps = 0, 4, 0, 7 }, 0},
		{"steps, saved by figure", func(was, now *Recipe) {
			was.Epochs, was.Steps, now.Epochs, now.Steps = 0, 4, 0, 7
			was.Save, now.Save = "best:loss", "best:loss"
		}, 1},
		{"evaluated otherwise", func(was, now *Recipe) {
			was.EvalEvery, now.EvalEvery, now.Epochs, was.Patience, now.Patience = 3, 3, 4, 1, 1
		}, 1},
	} {
		was, now := was, was
		was.Schedule, now.Schedule = "constant", "constant"
		test.change(&was, &now)
		if got := now.Differences(&was); len(got) != test.want || len(got) > 0 && got[0].Why == "" {
			t.Errorf("%s: differences %v, want %d with a reason", test.name, got, test.want)
		}
	}
}

// Pixels of two decoders are two data sets: a resume is refused and names both
// versions, but not the fingerprints, which differ by themselves then.
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
