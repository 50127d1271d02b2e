package lifecycle

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// recorder is a Backend, and also the Runner of every program that it loads. It counts calls
// and computes nothing.
type recorder struct {
	calls  []string
	kept   bool  // the argument retained of Grow
	commit error // error that Commit returns
}

func (r *recorder) Load(*graph.Program, device.Capacity) (Runner, error) { return r.called("Load") }
func (r *recorder) Close() error {
	_, err := r.called("Close device")
	return err
}

func (r *recorder) called(call string) (Runner, error) {
	r.calls = append(r.calls, call)
	return running{r}, nil
}

// running is the Runner of a recorder.
type running struct{ *recorder }

func (r running) Run(context.Context, Step) (device.Outcome, error) { return device.Outcome{}, nil }
func (r running) Commit(context.Context, Step) error {
	r.called("Commit")
	return r.commit
}
func (r running) Needs() device.Needs { return device.Needs{} }
func (r running) Grow(_ device.Capacity, kept bool) error {
	r.recorder.kept = kept
	return nil
}
func (r running) Read(string) (tensor.Tensor, error) { return tensor.Tensor{}, nil }
func (r running) Write(string, tensor.Tensor) error  { return nil }
func (r running) Close()                             { r.called("Close") }

// loaded returns a program of a step of training on a recorder.
func loaded(t testing.TB) (*recorder, *Device, device.Executable) {
	t.Helper()
	text, err := os.ReadFile("../../graph/testdata/step.program")
	if err != nil {
		t.Fatal(err)
	}
	p, err := graph.ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	d := New(func() device.Info { return device.Info{Name: "mine"} }, r)
	x, err := d.Load(t.Context(), p, device.Capacity{Rows: 4, Replicas: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r, d, x
}

// trainStep returns a step of training that fits the program.
func trainStep(t testing.TB, x device.Executable) device.Step {
	t.Helper()
	s := device.Step{Function: graph.Train, Rows: []int{2, 2}}
	fn := x.(*Executable).program.Function(graph.Train)
	for _, id := range fn.Inputs {
		v := fn.Values[id].Type
		s.Inputs = append(s.Inputs, tensor.New(v.DType, v.Sized(4, 2)...))
	}
	return s
}

// TestCommits checks the state machine of the package comment, transition by transition.
func TestCommits(t *testing.T) {
	r, _, x := loaded(t)
	step := trainStep(t, x)
	hyper := device.Hyper{"lr": 1, "decay": 1, "momentum": 1}
	train := func() error { _, err := x.Run(t.Context(), step); return err }
	commit := func(v device.Version) func() error {
		return func() error { return x.Commit(t.Context(), v, hyper) }
	}
	failing := func(with error) func() error {
		return func() error {
			r.commit = with
			defer func() { r.commit = nil }()
			return commit(1)()
		}
	}
	for _, c := range []struct {
		name string
		do   func() error
		want string // the error; "" for success
		runs int    // commits that the runner has seen
	}{
		{"nothing is kept", commit(0), "mine: Commit: invalid: nothing is kept for version 0; run train first", 0},
		{"train", train, "", 0},
		{"a later version", commit(1), "mine: Commit: invalid: version 1 is to be committed, the state is at 0", 0},
		{"this version", commit(0), "", 1},
		{"again", commit(0), "", 1},
		{"the next without a run", commit(1), "mine: Commit: invalid: nothing is kept for version 1; run train first", 1},
		{"train at 1", train, "", 1},
		{"cancelled", failing(context.Canceled), "mine: Commit: canceled: context canceled", 2},
		{"not finite", failing(Errorf(device.NonFinite, "w: element 0 is NaN")),
			"mine: Commit: not finite: w: element 0 is NaN", 3},
		{"train after it", train, "", 3},
		{"the driver fails", failing(errors.New("a buffer is lost")), "mine: Commit: a buffer is lost", 4},
		{"after that", commit(1), "mine: Commit: invalid: nothing is kept for version 1; run train first", 4},
		{"train again", train, "", 4},
		{"the second version", commit(1), "", 5},
		{"an earlier version", commit(0), "mine: Commit: invalid: version 0 is to be committed, the state is at 2", 5},
	} {
		got, runs := "", 0
		if err := c.do(); err != nil {
			got = err.Error()
		}
		for _, call := range r.calls {
			if call == "Commit" {
				runs++
			}
		}
		if got != c.want || runs != c.runs {
			t.Errorf("%s: %q after %d commits, want %q after %d", c.name, got, runs, c.want, c.runs)
		}
	}
}

// TestGrowKeeps checks that Grow reports to the runner whether the values that it keeps are still needed.
func TestGrowKeeps(t *testing.T) {
	r, _, x := loaded(t)
	for _, kept := range []bool{false, true} {
		if kept {
			if _, err := x.Run(t.Context(), trainStep(t, x)); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.Grow(t.Context(), device.Capacity{Rows: 8}); err != nil || r.kept != kept {
			t.Errorf("%v, kept %v, want %v", err, r.kept, kept)
		}
	}
}

// TestCloses checks that a device closes its programs and then the backend, each once, and that it
// does not keep closed programs.
func TestCloses(t *testing.T) {
	r, d, x := loaded(t)
	second, err := d.Load(t.Context(), x.(*Executable).program, device.Capacity{})
	if err != nil {
		t.Fatal(err)
	}
	for _, close := range []func() error{x.Close, x.Close, d.Close, d.Close, second.Close} {
		if err := close(); err != nil {
			t.Error(err)
		}
	}
	if got, want := strings.Join(r.calls, ", "), "Load, Load, Close, Close, Close device"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(d.loaded) > 0 {
		t.Errorf("the closed device holds %d programs", len(d.loaded))
	}
	if _, err := x.Read(t.Context(), "w"); !errors.Is(err, device.Invalid) {
		t.Errorf("Read of a closed program: %v, want %v", err, device.Invalid)
	}
}

// BenchmarkRun measures the overhead of a call: go test -bench . -benchmem
// ./device/lifecycle
func BenchmarkRun(b *testing.B) {
	_, _, x := loaded(b)
	step, ctx := trainStep(b, x), context.Background()
	b.ReportAllocs()
	for range b.N {
		if _, err := x.Run(ctx, step); err != nil {
			b.Fatal(err)
		}
	}
}
