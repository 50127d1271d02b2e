package stage_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/stage"
)

// narrow is a chain of layers of equal work, with few numbers between two of them.
const narrow = `bnctl graph 1
graph "narrow"

state a f32[64,64] weight he_normal(0)
state b f32[2,64] weight he_normal(0)
state c f32[64,2] weight he_normal(0)
state d f32[64,64] weight he_normal(0)

func main(x rows f32[64]) {
  one = dense(x, @a)
  two = dense(one, @b)
  three = dense(two, @c)
  four = dense(three, @d)
  return logits rows = four
}
`

// TestChosenCuts checks that the slowest stage is as fast as possible and that, among cuts that are
// equal in this respect, the fewest bytes cross.
func TestChosenCuts(t *testing.T) {
	n, err := stage.New(parse(t, narrow))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stages int
		times  []float64
		want   string
	}{
		{2, []float64{5, 0.01, 0.01, 5}, "[one two] [three four]"}, // two yields 2 numbers, one and three yield 64
		{2, []float64{1, 1, 1, 9}, "[one two three] [four]"},
		{2, []float64{9, 1, 1, 1}, "[one] [two three four]"},
		{3, []float64{3, 2, 2, 3}, "[one] [two three] [four]"},
		{4, []float64{9, 1, 1, 1}, "[one] [two] [three] [four]"},
		{1, []float64{1, 1, 1, 1}, "[one two three four]"},
	} {
		d, err := n.Choose(stage.Spec{Number: c.stages}, c.times)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for s := range c.stages {
			got = append(got, fmt.Sprint(d.Layers(s)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d of %v: %v, want %s", c.stages, c.times, got, c.want)
		}
	}
}

// TestPlannedWaits compares the waits with the waits of a pipeline by arithmetic: stages of 1 and 3
// seconds, in 4 waves, need 1 + 3 + 3*3 = 13 seconds in all. If the first stage is the slower one it
// never waits: it has another wave to begin until one comes back.
func TestPlannedWaits(t *testing.T) {
	g := parse(t, narrow)
	n, err := stage.New(g)
	if err != nil {
		t.Fatal(err)
	}
	times := []float64{1, 0, 3, 0}
	d, err := n.Divide([]int{2})
	if err != nil {
		t.Fatal(err)
	}
	p, err := spmd.PredictProgram(g)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := d.Programs(p)
	if err != nil {
		t.Fatal(err)
	}
	for waves, want := range map[int][]float64{0: {2. / 3, 0}, 4: {9. / 13, 1. / 13}, 1: {3. / 4, 1. / 4}} {
		plan := d.Plan(programs, times, [][]string{{"a"}, {"b"}}, 1, waves)
		for s, q := range plan.Stages {
			if math.Abs(q.Idle-want[s]) > 1e-12 || q.Idle < 0 {
				t.Errorf("%d waves: stage %d waits %g, want %g", waves, s+1, q.Idle, want[s])
			}
		}
	}
	plan := d.Plan(programs, []float64{3, 0, 1, 0}, [][]string{{"a"}, {"b"}}, 1, 4)
	if a, b := plan.Stages[0].Idle, plan.Stages[1].Idle; a < 0 || a > 1e-12 || math.Abs(b-2./3) > 1e-12 ||
		math.Abs(plan.Step-12) > 1e-9 {
		t.Errorf("of 4 waves of 3 and 1 seconds stages wait %g and %g of %g seconds", a, b, plan.Step)
	}
}

// TestTimesCountWeights checks that a run reads the weights once for all of its rows: with
// few rows a layer needs more time per row.
func TestTimesCountWeights(t *testing.T) {
	g := parse(t, narrow)
	n, err := stage.New(g)
	if err != nil {
		t.Fatal(err)
	}
	p, err := spmd.PredictProgram(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{1, 8} { // a row: 8192 operations, 2*64 values; a run: 64*64 weights
		want := 8192/1.2e11 + (512+16384/float64(rows))/1e10
		if got := n.Times(p, rows, 0)[0]; math.Abs(got-want) > 1e-15 {
			t.Errorf("%d rows: %g seconds a row, want %g", rows, got, want)
		}
	}
	r := recipeOf(bn.Replica)
	r.AuxWeight = 0
	training, _ := programOf(t, g, r)
	few, many := n.Times(training, 1, 4), n.Times(training, 64, 4)
	if few[0] < 10*many[0] {
		t.Errorf("a row takes %g seconds in a run of 1, and %g in one of 64", few[0], many[0])
	}
}

// TestAutoFitsMemory: there are as few stages as the free memory of the devices allows, in training
// as in prediction.
func TestAutoFitsMemory(t *testing.T) {
	g, r := parse(t, narrow), recipeOf(bn.Replica)
	r.AuxWeight = 0
	training, _ := programOf(t, g, r)
	predict, err := spmd.PredictProgram(g)
	if err != nil {
		t.Fatal(err)
	}
	n, err := stage.New(g)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*graph.Program{"train": training, "predict": predict} {
		last, seen := 0, []int{}
		for free := int64(1 << 20); free > 0; free = free * 9 / 10 {
			s := stage.Spec{Auto: true}
			if name == "train" {
				s.Waves = 4
			}
			d, err := n.DivideFor(s, p, 16, slices.Repeat([]int64{free}, 4))
			if err != nil {
				if !strings.Contains(err.Error(), "MiB free") {
					t.Error(err)
				}
				break
			}
			stages := 0
			for len(d.Layers(stages)) > 0 {
				stages++
			}
			if stages < last {
				t.Errorf("%s: %d stages for %d bytes, and %d for more", name, stages, free, last)
			}
			if stages != last {
				last, seen = stages, append(seen, stages)
			}
		}
		if len(seen) < 2 || seen[0] != 1 {
			t.Errorf("%s: %v stages, want 1, then more", name, seen)
		}
	}
}
