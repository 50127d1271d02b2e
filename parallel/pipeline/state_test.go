package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/pipeline"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// run is the outcome of the calls of a test.
type run struct {
	state map[string]tensor.Tensor
	paths map[string][]string // states of each call, by its name; inner calls are in parentheses
	moved []pipeline.MovedStage
	seen  map[[2]string]bool // transitions
	fatal bool               // a fatal fault has occurred
	err   error
}

// runs makes three steps with a snapshot after the first, an estimate of moments, a prediction, and two
// writes, with faults. It stops at an error.
func runs(t *testing.T, reopens bool, faults ...fault) (r run) {
	t.Helper()
	g, p, state := program(t)
	owner := &fakeOwner{faults: faults, calls: map[string]int{}, stages: map[int]*fakeStage{}}
	s, err := pipeline.OpenTrainer(t.Context(), g, p, stage.Spec{Number: 3}, state, owner, pipeline.Config{
		Replicas: 4, Batch: 8, Reopens: reopens,
		Moved: func(m pipeline.MovedStage) { r.moved = append(r.moved, m) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r.paths, r.seen = map[string][]string{}, map[[2]string]bool{}
	var path []string
	s.Observe(func(from, to string) {
		r.seen[[2]string{from, to}] = true
		path = append(path, to)
	})
	call := func(name string, f func(ctx context.Context) error) {
		if r.err == nil {
			path = nil
			r.err = f(t.Context())
			r.paths[name] = path
		}
	}
	for i := range 3 {
		call(fmt.Sprint("step ", i+1), func(ctx context.Context) error {
			_, err := s.Step(ctx, batch(p, uint64(i)))
			return err
		})
		call(fmt.Sprint("commit ", i+1), func(ctx context.Context) error {
			return s.Commit(ctx, device.Hyper{"lr": 0.1 * float32(i+1)})
		})
		if i == 1 {
			call("first write", func(ctx context.Context) error {
				return s.Write(ctx, map[string]tensor.Tensor{"a.weight": tensor.New(tensor.F32, 4, 2)})
			})
		}
		if i == 0 {
			call("snapshot", func(ctx context.Context) error { _, err := s.Snapshot(ctx); return err })
		}
	}
	call("moments", func(ctx context.Context) error { _, err := s.Moments(ctx, batch(p, 9)); return err })
	call("predict", func(ctx context.Context) error {
		outs, err := s.Predict(ctx, tensor.New(tensor.F32, 9, 2))
		if err == nil && (len(outs) != 1 || outs[0].Shape[0] != 9) {
			return fmt.Errorf("%d outputs", len(outs))
		}
		return err
	})
	call("write", func(ctx context.Context) error {
		return s.Write(ctx, map[string]tensor.Tensor{"b.weight": tensor.New(tensor.F32, 4, 4)})
	})
	call("state", func(ctx context.Context) (err error) { r.state, err = s.State(ctx); return err })
	r.fatal = owner.fatal
	if r.err == nil && s.Version() != 3 {
		t.Errorf("version %d after three commits", s.Version())
	}
	return r
}

// batch returns a batch of two rows for each of four replicas.
func batch(p *graph.Program, seed uint64) step.Batch {
	b := step.Batch{Rows: map[string]tensor.Tensor{}, Inverse: 0.125, Sizes: []int{2, 2, 2, 2}}
	f, d := p.Function(graph.Train), tensor.NewPhilox(seed, 7).Draws(0, 0)
	for _, v := range f.Inputs {
		x := tensor.New(f.Values[v].Type.DType, f.Values[v].Type.Sized(8, 4)...)
		if x.DType == tensor.F32 {
			for i := range x.F32() {
				x.F32()[i] = float32(d.Normal())
			}
		}
		b.Rows[f.Values[v].Name] = x
	}
	return b
}

// transitions returns the table of the package comment.
func transitions(t *testing.T) map[[2]string]bool {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	const names = "ready|attempt|recover|conclude|move|roll back|replay|failed"
	row := regexp.MustCompile(`(?m)^//\t(` + names + `) +\S.*  +(` + names + `)$`)
	table := map[[2]string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		table[[2]string{m[1], m[2]}] = true
	}
	if len(table) < 15 {
		t.Fatalf("the table has %d transitions", len(table))
	}
	return table
}

// TestEveryFaultInEveryCall plants every kind of fault in every method, at every stage. A run
// that survives has the state of a run without faults. All transitions are in the table.
func TestEveryFaultInEveryCall(t *testing.T) {
	table, seen := transitions(t), map[[2]string]bool{}
	want := runs(t, true)
	if want.err != nil {
		t.Fatal(want.err)
	}
	check := func(faults ...fault) {
		t.Helper()
		r := runs(t, true, faults...)
		switch {
		case !r.fatal && r.err != nil:
			t.Errorf("%v: %v", faults, r.err)
		case !r.fatal && !same(r.state, want.state):
			t.Errorf("%v: the state differs from the state without faults", faults)
		case r.fatal && r.err == nil:
			t.Errorf("%v: no error", faults)
		}
		for between := range r.seen {
			if seen[between] = true; !table[between] {
				t.Errorf("%v: from %s to %s, which the table does not have", faults, between[0], between[1])
			}
		}
	}
	check()
	methods := map[string][]int{"Begin": {1, 2, 3, 4}, graph.Forward: {1, 5, 9}, graph.Backward: {1, 6, 12},
		graph.Reduce: {1, 3, 5}, step.Estimate: {1, 4}, "Evaluate": {1, 2, 3}, "Commit": {1, 2, 3}, "Snapshot": {1},
		"Predict": {1}, "Write": {1}, "State": {1}}
	for method, numbers := range methods {
		for _, n := range numbers {
			for s := 1; s <= 3; s++ {
				for _, k := range []kind{column, all, gone, fatal} {
					check(fault{s, method, n, k})
				}
			}
		}
	}
	for _, f := range [][]fault{
		{{1, "State", 1, two}},                                // two stages move
		{{1, "Begin", 2, joined}},                             // a step is repeated before its commit
		{{2, "Commit", 3, all}, {3, "Write", 2, all}},         // a stage is lost again while the stages go back
		{{2, "Commit", 3, all}, {1, graph.Forward, 13, all}},  // a stage is lost again in the replay
		{{2, "Commit", 3, all}, {1, graph.Forward, 13, gone}}, // the same, and its devices never come back
		{{2, "Commit", 3, all}, {1, "Predict", 1, all}},       // then a stage is lost in a prediction
		{{1, "State", 1, all}, {2, "State", 1, follows}},
		{{2, "Commit", 3, gone}, {3, "Commit", 3, all}},           // two stages are lost at once
		{{2, graph.Backward, 6, gone}, {1, "Reload", 1, refused}}, // the other neighbour loads its layers
		{{2, "Commit", 3, all}, {3, "Write", 2, fatal}},
		{{2, "Commit", 3, all}, {1, "Begin", 4, fatal}},
		{{1, graph.Backward, 6, gone}, {2, "Reload", 1, fatal}},
	} {
		check(f...)
	}
	for between := range table {
		if !seen[between] {
			t.Errorf("no fault leads from %s to %s", between[0], between[1])
		}
	}
}

// TestPaths: a call with a fault goes through the expected states in order.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		call, want string
		faults     []fault
	}{
		{"step 2", "attempt conclude ready", nil},
		{"step 2", "attempt recover conclude attempt conclude ready", []fault{{2, graph.Backward, 6, column}}},
		{"step 2", "attempt recover conclude failed", []fault{{2, graph.Backward, 6, fatal}}},
		{"predict", "attempt conclude failed", []fault{{3, "Predict", 1, fatal}}},
		// One step was committed since the snapshot. So the rollback writes the snapshot. The replay makes
		// the writes before the step, the step, two norms and the commit, and then the writes after it.
		{"step 3", "attempt recover conclude roll back " + once + "replay " + once + once + "attempt " + once + once +
			"conclude ready " + once + "attempt conclude ready", []fault{{1, graph.Forward, 9, all}}},
		{"step 3", "attempt recover conclude move roll back " + once + "replay " + once + once + "attempt " + once +
			once + "conclude ready " + once + "attempt conclude ready", []fault{{1, graph.Forward, 9, gone}}},
	} {
		r := runs(t, true, c.faults...)
		if got := strings.Join(r.paths[c.call], " "); got != c.want {
			t.Errorf("%s with %v:\n%s, want\n%s", c.call, c.faults, got, c.want)
		}
	}
}

// once is the path of a call inside another.
const once = "attempt conclude ready "

// TestStagesMove: a stage without devices moves, unless lost devices are never opened again.
func TestStagesMove(t *testing.T) {
	f := fault{3, graph.Backward, 6, gone}
	r := runs(t, true, f)
	if len(r.moved) != 1 || r.moved[0].Stage != 3 || r.moved[0].First != "c" || r.moved[0].Step != 1 {
		t.Errorf("moved %+v, %v", r.moved, r.err)
	}
	if r = runs(t, false, f); !errors.Is(r.err, step.NoDevices) || len(r.moved) > 0 {
		t.Errorf("%v, moved %+v", r.err, r.moved)
	}
	r = runs(t, true, f, fault{2, "Reload", 1, fatal})
	const text = "no other device takes the layers of stage 3"
	if !errors.Is(r.err, errFatal) || !strings.Contains(r.err.Error(), text) {
		t.Errorf("%v", r.err)
	}
}

// TestPredictorMoves: a stage without devices predicts on the devices of another.
func TestPredictorMoves(t *testing.T) {
	g, p, state := program(t)
	for _, c := range []struct {
		faults []fault
		want   error
	}{
		{[]fault{{0, "Predict", 2, gone}}, nil}, {[]fault{{0, "Predict", 2, fatal}}, errFatal},
		{[]fault{{0, "Predict", 2, gone}, {0, "Adopt", 1, fatal}, {0, "Adopt", 2, fatal}}, step.NoDevices},
	} {
		owner := &fakeOwner{faults: c.faults, calls: map[string]int{}, stages: map[int]*fakeStage{}}
		l, err := pipeline.OpenPredictor(t.Context(), g, p, stage.Spec{Number: 3}, state, owner,
			pipeline.Config{Batch: 12, Samples: 12, Reopens: true})
		if err != nil {
			t.Fatal(err)
		}
		outs, err := l.Predict(t.Context(), tensor.New(tensor.F32, 30, 2))
		if !errors.Is(err, c.want) || err == nil && outs[0].Shape[0] != 30 {
			t.Errorf("%v: %v", c.faults, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
