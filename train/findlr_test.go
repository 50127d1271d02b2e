package train

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// Rates rise by one factor from 1e-5 to 10. The losses equal those in a run with these rates, on any
// devices, and the suggestion is in the range of falling losses. The recipe is unchanged.
func TestFindLR(t *testing.T) {
	b := newBench(t, 90)
	b.recipe.Schedule, b.recipe.Warmup, b.recipe.EMA = "onecycle", 0, 0.9
	was := b.recipe
	one, err := FindLR(context.Background(), &b.recipe, b.model(), b.config(1))
	if err != nil {
		t.Fatal(err)
	}
	many, err := FindLR(context.Background(), &b.recipe, b.model(), b.config(3))
	if err != nil || !reflect.DeepEqual(one, many) {
		t.Errorf("on three devices %+v, %v; on one %+v", many, err, one)
	}
	if !reflect.DeepEqual(b.recipe, was) {
		t.Errorf("the recipe became %+v", b.recipe)
	}
	for i, s := range one.Steps {
		if want := 1e-5 * math.Pow(1e6, float64(i)/99); math.Abs(s.LR/want-1) > 1e-9 {
			t.Errorf("step %d has rate %g, want %g", i, s.LR, want)
		}
	}
	if one.Suggested < 1e-4 || one.Suggested > 1 || one.Suggested > one.Lowest {
		t.Errorf("suggested %g, lowest at %g, diverges at %g", one.Suggested, one.Lowest, one.Diverged)
	}
	text := strings.Join(one.Lines(), "\n")
	if !strings.Contains(text, "suggested: {lr} ") || strings.Count(text, "\n") < 10 {
		t.Errorf("%s", text)
	}
}

// The loss falls along a logistic curve about 1e-2 and rises from 1 on. The suggestion is the rate of the
// steepest fall, but at most a tenth of the rate of divergence. A loss that never falls is an error.
func TestJudgeRates(t *testing.T) {
	curve := func(f func(decade float64) float64) *RateRange {
		r := &RateRange{}
		for i := range rangeSteps {
			lr := lowestRate * tensor.Exp(tensor.Log(1e6)*float64(i)/99)
			r.Steps = append(r.Steps, RateStep{LR: lr, Loss: f(math.Log10(lr))})
		}
		return r
	}
	r := curve(func(d float64) float64 { return 1 + 1/(1+math.Exp(4*(d+2))) })
	err := r.judge()
	if err != nil || r.Steepest < 0.007 || r.Steepest > 0.014 || r.Suggested != twoDigits(r.Steepest) {
		t.Errorf("%v: steepest %g, suggested %g", err, r.Steepest, r.Suggested)
	}
	r.Diverged = 0.05
	if err := r.judge(); err != nil || r.Suggested != 0.005 {
		t.Errorf("%v: suggested %g", err, r.Suggested)
	}
	flat := curve(func(float64) float64 { return 2.3 })
	if err := flat.judge(); err == nil || !strings.Contains(err.Error(), "falls at no rate") {
		t.Errorf("%v", err)
	}
	for v, want := range map[float64]float64{0.01234: 0.012, 0.999: 1, 3.14159: 3.1, 1e-5: 1e-5} {
		if got := twoDigits(v); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g is %g, want %g", v, got, want)
		}
	}
}
