package pipeline

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// A column runs forward as long as it may have one more replica in progress, because later stages
// wait for its output. Otherwise it runs backward. If it has to wait, it prepares its next function
// by a run without replicas: a device lays out new weights for its kernels in the first run of a
// function.

// turns determines the order of the runs of a column in a flow.
type turns struct {
	flow                 *flow
	program              *graph.Program
	forward, backward    *graph.Function // nil if the stage lacks the pass
	replicas             []int           // replicas with rows
	started, startedBack int             // number of replicas that have begun each pass
	limit                int             // maximum number of replicas in progress
	prepared             bool
}

// newTurns returns the turns of a column of stage i.
func newTurns(f *flow, i int, m Column) *turns {
	p := f.trainer.predictor.stages[i].Program()
	t := &turns{flow: f, program: p, limit: stage.UnderWay(len(f.trainer.programs), f.trainer.first+i)}
	t.forward, t.backward = p.Function(f.passes.forward), p.Function(f.passes.backward)
	for _, r := range m.Replicas() {
		if f.batch.Sizes[r] > 0 {
			t.replicas = append(t.replicas, r)
		}
	}
	if t.forward == nil {
		t.started = len(t.replicas)
	}
	if t.backward == nil {
		t.startedBack, t.limit = len(t.replicas), max(len(t.replicas), 1)
	}
	t.prepared = t.forward == nil || t.backward == nil || len(t.replicas) == 0
	return t
}

// left reports whether there are runs left.
func (t *turns) left() bool { return t.started < len(t.replicas) || t.startedBack < len(t.replicas) }

// next returns the function to run now and the index of its replica, or -1 to prepare the function. It
// returns nil if the column must wait. The caller holds the lock of the flow.
func (t *turns) next() (*graph.Function, int) {
	switch {
	case t.started < len(t.replicas) && t.started-t.startedBack < t.limit && t.ready(t.forward, t.started):
		t.started++
		return t.forward, t.started - 1
	case t.startedBack < len(t.replicas) && (t.startedBack < t.started || t.forward == nil) &&
		t.ready(t.backward, t.startedBack):
		t.startedBack++
		return t.backward, t.startedBack - 1
	case !t.prepared && t.startedBack == 0:
		t.prepared = true
		return t.forward, -1
	}
	return nil, 0
}

func (t *turns) ready(fn *graph.Function, stage int) bool {
	return t.flow.ready(t.program, fn, t.replicas[stage])
}

// prepare runs the functions of a column without replicas, in a separate slot. It skips the
// backward function if the first replica has arrived meanwhile.
func (f *flow) prepare(ctx context.Context, m Column, t *turns, number uint64) error {
	for _, fn := range []*graph.Function{t.forward, t.backward} {
		if fn == t.backward && f.due(t) {
			return nil
		}
		run := device.Step{Function: fn.Name, Number: number, Slot: t.limit, Rows: []int{}, Replicas: []int{}}
		for _, v := range t.program.Given(fn) {
			in := fn.Values[v]
			if in.Name == step.InputInverse {
				run.Inputs = append(run.Inputs, tensor.Scalar(f.batch.Inverse))
			} else {
				run.Inputs = append(run.Inputs, tensor.New(in.Type.DType, in.Type.Sized(0, 0)...))
			}
		}
		run.Profile = f.profile != nil
		out, err := m.Run(ctx, run)
		if err != nil {
			return err
		}
		f.add(m, out)
		f.note(m, fn, out)
	}
	return nil
}

// due reports whether the first forward run of a column has not begun but its input has arrived.
func (f *flow) due(t *turns) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return t.started == 0 && t.ready(t.forward, 0)
}
