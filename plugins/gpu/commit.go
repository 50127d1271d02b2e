package gpu

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
)

// Commit implements lifecycle.Runner. It ignores the end of ctx, because it updates the state in place.
func (e *executable) Commit(ctx context.Context, s lifecycle.Step) error {
	fn := e.functions[graph.Commit]
	if err := e.start(context.WithoutCancel(ctx), s).launchAll(fn, s.Inputs); err != nil {
		return err
	}
	if err := e.update(fn); err != nil {
		return err
	}
	return e.checkUpdates(fn)
}

// update copies the results of the function to the state, unless they have been computed in place.
func (e *executable) update(fn *function) error {
	for _, u := range fn.Updates {
		s, v := e.states[u.State], fn.values[u.Value]
		s.stamp++
		if s == v.state || s.size() == 0 {
			continue
		}
		if err := e.backend.driver.Copy(s.buffer, v.buffer(), s.size()); err != nil {
			return err
		}
	}
	return nil
}

// elementwise has the optimizers that compute each element of their results from the same elements of their
// operands. Their kernels read an element before they write it.
var elementwise = map[graph.Op]bool{graph.SGD: true, graph.AdamW: true, graph.LARS: true, graph.EMA: true}

// inPlace returns the state tensor that a result of node i of commit replaces, if the node may write to that
// tensor directly: no later node reads the old tensor, and only averages read the new one. A commit that
// fails leaves the tensor undefined, as the contract allows.
func (c *compiler) inPlace(i int, id graph.Value) *state {
	if c.fn.Name != graph.Commit || !elementwise[c.node.Op] {
		return nil
	}
	var s *state
	for _, u := range c.fn.Updates {
		if u.Value == id && s != nil {
			return nil
		}
		if u.Value == id {
			s = c.exe.states[u.State]
		}
	}
	if s == nil || s.DType != c.fn.values[id].DType || s.size() != c.fn.values[id].size() {
		return nil
	}
	for _, v := range c.fn.values {
		if v.state == s && v.last > i {
			return nil
		}
	}
	for _, n := range c.fn.Nodes[i+1:] {
		if n.Op != graph.EMA && slices.Contains(n.In, id) {
			return nil
		}
	}
	return s
}
