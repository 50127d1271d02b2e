package parallel

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Loading is a negotiation. Each device may refuse nodes that it cannot run. The program is
// then decomposed for all devices and loaded again, until all accept it or a device refuses
// a node that cannot be decomposed further:
//
//	load on all --> refused ops --> decompose them in the whole program --+
//	     ^                                                                |
//	     +----------------------------------------------------------------+

// commonProgram is the program that all members load. An operation that one member refuses
// is decomposed for all: the result must not depend on the participating devices.
type commonProgram struct {
	current  *graph.Program // the program that members load
	original *graph.Program // the program that Open received
	refused  []graph.Op
}

func newCommonProgram(p *graph.Program) *commonProgram {
	return &commonProgram{current: p, original: p}
}

// fresh returns the operations that are not decomposed yet.
func (p *commonProgram) fresh(ops []graph.Op) []graph.Op {
	return slices.DeleteFunc(ops, func(o graph.Op) bool { return slices.Contains(p.refused, o) })
}

// decompose decomposes further operations.
func (p *commonProgram) decompose(ops []graph.Op) error {
	p.refused = append(p.refused, ops...)
	simpler, err := graph.Decompose(p.original, p.refused)
	if err == nil {
		p.current = simpler
	}
	return err
}

// loading is the result of loading the program on all members that lack it.
type loading struct {
	refused []graph.Op
	refusal error   // refusal of the first member that refuses operations
	lost    []error // errors of lost members, each a *lost
	err     error   // error of the first member that fails otherwise
}

// loadOnce loads the program on all members that lack it, at once.
func (p *commonProgram) loadOnce(ctx context.Context, ms members, t *timeouts) (l loading) {
	for i, err := range ms.all(func(_ int, m *member) error { return p.loadOn(ctx, m, t) }) {
		var r *device.Refused
		var gone *lost
		switch {
		case err == nil:
		case errors.As(err, &gone):
			gone.err = ms[i].named(gone.err)
			l.lost = append(l.lost, gone)
		case errors.As(err, &r):
			l.refusal = cmp.Or(l.refusal, ms[i].named(err))
			for _, n := range r.Nodes {
				l.refused = append(l.refused, n.Op)
			}
		default:
			l.err = cmp.Or(l.err, ms[i].named(err))
		}
	}
	slices.Sort(l.refused)
	l.refused = slices.Compact(l.refused)
	return l
}

// loadOn loads the program on a member, unless the member already has it.
func (p *commonProgram) loadOn(ctx context.Context, m *member, t *timeouts) error {
	if m.exe != nil {
		return nil
	}
	return t.load(m, func() error {
		exe, err := m.Device.Load(ctx, p.current, m.capacity)
		if err == nil {
			m.exe = exe
		}
		return err
	})
}

// read reads all state from a member.
func (p *commonProgram) read(ctx context.Context, m *member) (map[string]tensor.Tensor, error) {
	state := make(map[string]tensor.Tensor, len(p.current.State))
	for _, s := range p.current.State {
		t, err := m.exe.Read(ctx, s.Name)
		if err != nil {
			return nil, m.named(err)
		}
		state[s.Name] = t
	}
	return state, nil
}

// write writes the tensors in state to a member, in the order of the program's table.
func (p *commonProgram) write(ctx context.Context, m *member, state map[string]tensor.Tensor) error {
	var names []string
	for _, s := range p.current.State {
		if _, ok := state[s.Name]; ok {
			names = append(names, s.Name)
		}
	}
	return m.exe.WriteAll(ctx, names, state)
}
