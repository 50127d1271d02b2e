package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// A Runner need not know about stages: it gets all inputs and returns all outputs. Package lifecycle
// keeps the values between runs and makes the all-reduces of Reduce. A SlotRunner keeps the slots,
// and leaves are summed in its memory. A leaf is the gradient of one replica.
//
//	Forward ── retained ──> slot ──> Backward ── leaves ──> trees ── Reduce ──> sums ──> Commit

// stage holds the values that the program of a stage keeps between its runs. They are in
// the memory of the host, except for the slots of a SlotRunner.
type stage struct {
	device  string
	program *graph.Program
	runner  SlotRunner // nil: the values of slots are in slots
	slots   map[int]slot
	leaves  map[string]*collective.Growing // leaves by the name of the output of Backward
	ops     map[string]collective.Op       // operations that reduce the leaves
	sums    map[string]tensor.Tensor       // sums for Commit, by name
	reduced bool                           // Reduce has made the sums, and no function has run since
}

// slot holds the values that a run of Forward has kept.
type slot struct {
	rows, replicas int
	values         map[string]tensor.Tensor // values by name; empty if a SlotRunner has them
}

// last reports whether Commit may follow a run of the function directly.
func (s *stage) last(function string) bool {
	return s != nil && function == graph.Backward && s.program.Function(graph.Reduce) == nil
}

// newStage returns the stage of a program, or nil if the program is not one of a stage.
func newStage(device string, p *graph.Program, r Runner) *stage {
	if !p.Staged() {
		return nil
	}
	s := &stage{device: device, program: p, ops: map[string]collective.Op{}}
	s.runner, _ = r.(SlotRunner)
	if f := p.Function(graph.Reduce); f != nil {
		for i := range f.Nodes {
			s.ops[f.Values[f.Nodes[i].In[0]].Name] = reduction(&f.Nodes[i])
		}
	}
	s.forget()
	return s
}

func reduction(n *graph.Node) collective.Op {
	if n.Text("of") == "moments" {
		return collective.MergeMoments
	}
	return collective.Sum
}

// forget drops all retained values.
func (s *stage) forget() {
	s.slots, s.sums, s.reduced = map[int]slot{}, map[string]tensor.Tensor{}, false
	s.dropLeaves()
	if s.runner != nil {
		s.runner.Forget()
	}
}

// spent gives the Runner back tensors that will not be read any more.
func (s *stage) spent(values ...tensor.Tensor) {
	if s.runner != nil {
		s.runner.Spent(values)
	}
}

// drop drops leaves and sums.
func (s *stage) drop() {
	s.reduced = false
	s.dropLeaves()
	clear(s.sums)
	if s.runner != nil {
		s.runner.Drop()
	}
}

// again is called when a step begins. It returns the sums of the previous step to the Runner if
// that step was not committed.
func (s *stage) again() {
	if s.reduced {
		for _, t := range s.sums {
			s.spent(t)
		}
		clear(s.sums)
		s.reduced = false
	}
}

// committed drops the values that Commit has read.
func (s *stage) committed() {
	if s != nil {
		s.drop()
	}
}

func (s *stage) dropLeaves() {
	s.leaves = map[string]*collective.Growing{}
	for name, op := range s.ops {
		s.leaves[name] = collective.NewGrowing(op)
	}
}

// runnable returns the form of the program that the Runner loads. Its functions keep no
// values, unless the Runner keeps slots. Its Reduce has the sums as inputs instead of the leaves.
func runnable(p *graph.Program, slots bool) *graph.Program {
	if !p.Staged() {
		return p
	}
	out := &graph.Program{Name: p.Name, State: p.State}
	for _, f := range p.Functions {
		if f.Name == graph.Reduce {
			if f = afterSums(f); len(f.Nodes) == 0 {
				continue
			}
		}
		f = f.Clone()
		for i := range f.Outputs {
			f.Outputs[i].Keep = f.Outputs[i].Keep && slots && (f.Name == graph.Forward || f.Name == graph.Backward)
		}
		out.Functions = append(out.Functions, f)
	}
	return out
}

// afterSums returns Reduce without the all-reduces of leaves. The results of the all-reduces become
// its inputs.
func afterSums(f *graph.Function) *graph.Function {
	out := f.Clone()
	out.Nodes, out.Inputs = nil, nil
	for _, n := range f.Nodes {
		if n.Op == graph.AllReduce {
			out.Inputs = append(out.Inputs, n.Out...)
		} else {
			out.Nodes = append(out.Nodes, n)
		}
	}
	return out
}

// inputs returns all inputs of a run of fn: the inputs of step, and the values that are
// retained for it.
func (s *stage) inputs(fn *graph.Function, step device.Step) ([]tensor.Tensor, error) {
	retained, taken, here := s.program.Retained(fn.Name), s.sums, true
	if len(retained) == 0 {
		return step.Inputs, nil
	}
	if fn.Name == graph.Backward {
		from, err := s.slotOf(step)
		if err != nil {
			return nil, err
		}
		taken, here = from.values, s.runner == nil
	}
	given, all := step.Inputs, make([]tensor.Tensor, len(fn.Inputs))
	for i, id := range fn.Inputs {
		v := fn.Values[id]
		if _, ok := retained[v.Name]; !ok {
			all[i], given = given[0], given[1:]
			continue
		}
		all[i] = taken[v.Name]
		if here && all[i].IsZero() {
			return nil, Errorf(device.Invalid, "%w", problem.Advise("run "+graph.Reduce+" first",
				"nothing is retained as %s", v.Name))
		}
	}
	return all, nil
}

// slotOf returns the slot of a run of Backward.
func (s *stage) slotOf(step device.Step) (slot, error) {
	from, ok := s.slots[step.Slot]
	if !ok {
		return from, Errorf(device.Invalid, "%w", problem.Advise("run "+graph.Forward+" first",
			"nothing is retained in slot %d", step.Slot))
	}
	if rows := total(step.Rows); from.rows != rows || from.replicas != len(step.Rows) {
		return from, Errorf(device.Invalid, "slot %d keeps %d rows in %d replicas; the run has %d in %d", step.Slot,
			from.rows, from.replicas, rows, len(step.Rows))
	}
	return from, nil
}

func total(rows []int) (n int) {
	for _, r := range rows {
		n += r
	}
	return n
}

// keep stores the values that a run keeps, and removes them from its outputs.
func (s *stage) keep(fn *graph.Function, step Step, g *device.Group, out *device.Outcome) error {
	retained := map[string]tensor.Tensor{}
	var rest []tensor.Tensor
	yielded := out.Outputs
	for _, o := range fn.Outputs {
		if o.Keep && fn.Name == graph.Forward && s.runner != nil {
			continue
		}
		if o.Keep {
			retained[o.Name] = yielded[0]
		} else {
			rest = append(rest, yielded[0])
		}
		yielded = yielded[1:]
	}
	out.Outputs = rest
	if fn.Name == graph.Forward {
		s.slots[step.Slot] = slot{total(step.Rows), len(step.Rows), retained}
		return nil
	}
	delete(s.slots, step.Slot)
	return s.addLeaves(retained, numbered(step.Step, g), step)
}

// numbered returns the numbers of the replicas of a run.
func numbered(step device.Step, g *device.Group) []int {
	if step.Replicas != nil || len(step.Rows) == 0 {
		return step.Replicas
	}
	return local(g, len(step.Rows))
}

// local returns the replicas that a device holds; count is their number if g is nil.
func local(g *device.Group, count int) []int {
	if g != nil {
		return g.Replicas[g.Rank]
	}
	all := make([]int, count)
	for r := range all {
		all[r] = r
	}
	return all
}

// onto returns the sums that a SlotRunner may add the leaves of a run of Backward to. It
// returns nil unless the run has exactly one replica, the replica has rows, and its leaves have
// not been added before.
func (s *stage) onto(replicas, rows []int) map[string][]tensor.Tensor {
	if s.runner == nil || len(replicas) != 1 || len(rows) != 1 || rows[0] == 0 || s.hasAny(replicas) {
		return nil
	}
	sums := map[string][]tensor.Tensor{}
	for name, tree := range s.leaves {
		if values := tree.Onto(replicas[0]); len(values) > 0 && s.ops[name] == collective.Sum &&
			values[0].DType == tensor.F32 {
			sums[name] = values
		}
	}
	return sums
}

// added reports whether a SlotRunner has added a leaf to these sums.
func added(leaf tensor.Tensor, sums []tensor.Tensor) bool {
	return len(sums) > 0 && len(leaf.Bytes) > 0 && &leaf.Bytes[0] == &sums[len(sums)-1].Bytes[0]
}

// addLeaves adds the leaves that a run of Backward keeps. If a leaf of one of the replicas
// has been added before, another step begins, and the earlier leaves are dropped.
func (s *stage) addLeaves(retained map[string]tensor.Tensor, replicas []int, step Step) error {
	rows := step.Rows
	if len(replicas) != len(rows) {
		return Errorf(device.Invalid, "rows for %d replicas, which are %v", len(rows), replicas)
	}
	if s.hasAny(replicas) {
		for _, tree := range s.leaves {
			s.spent(tree.Drop()...)
		}
	}
	for name, t := range retained {
		tree := s.leaves[name]
		if tree == nil {
			s.spent(s.sums[name])
			s.sums[name] = t // not a leaf: a whole value, which needs no all-reduce
			continue
		}
		for i, r := range replicas {
			leaf := t.Rows(i, i+1).Reshape(t.Shape[1:]...)
			switch {
			case rows[i] == 0:
				s.spent(leaf)
			case added(leaf, step.Onto[name]):
				s.spent(tree.Added(r)...)
			default:
				s.spent(tree.Add(r, leaf)...)
			}
		}
	}
	return nil
}

func (s *stage) hasAny(replicas []int) bool {
	for _, tree := range s.leaves {
		return slices.ContainsFunc(replicas, tree.Has)
	}
	return false
}

// reduce makes a run of Reduce.
func (s *stage) reduce(ctx context.Context, fn *graph.Function, step Step, runner Runner) (
	device.Outcome, error) {
	g, out := step.Group, device.Outcome{}
	if g == nil {
		g = &device.Group{Replicas: [][]int{local(nil, len(step.Rows))}}
	}
	if err := s.complete(g.Replicas[g.Rank], step.Rows); err != nil {
		return out, err
	}
	sums := map[graph.Value]tensor.Tensor{}
	sequence := [collective.Lanes]uint64{}
	for _, e := range fn.Exchanges() {
		lane := collective.Gradients
		if e.Read {
			lane = collective.Moments
		}
		nodes := fn.Nodes[e.From:e.To]
		values := make([]collective.Reduction, len(nodes))
		for k := range nodes {
			in, t := fn.Values[nodes[k].In[0]].Name, fn.Values[nodes[k].Out[0]].Type
			partials, err := s.leaves[in].Take(g.Leaves(), g.Replicas[g.Rank])
			if err != nil {
				return out, err
			}
			values[k] = collective.Reduction{Op: s.ops[in], Partials: partials}
			if g.Alone() && len(partials) == 1 && !partials[0].Value.IsZero() {
				values[k].Result = partials[0].Value
			} else {
				values[k].Result = tensor.New(t.DType, t.Shape...)
			}
		}
		tag := collective.Tag{Generation: g.Generation, Step: step.Number, Lane: lane, Sequence: sequence[lane],
			Name: fn.Values[nodes[0].In[0]].Name}
		sequence[lane]++
		if !g.Alone() {
			began := time.Now()
			if err := g.Exchange.Start(ctx, tag, values)(); err != nil {
				return out, err
			}
			out.Blocked += time.Since(began)
		}
		for k := range nodes {
			sums[nodes[k].Out[0]] = values[k].Result
		}
	}
	if err := s.afterSums(ctx, fn, step, runner, sums); err != nil {
		return out, err
	}
	for _, o := range fn.Outputs {
		if o.Keep {
			s.sums[o.Name] = sums[o.Value]
		} else { // cloned, because the memory of a sum may be used again
			out.Outputs = append(out.Outputs, sums[o.Value].Clone())
		}
	}
	s.dropLeaves()
	s.reduced = true
	return out, nil
}

// afterSums computes the outputs of Reduce that depend on the sums, and adds them to sums.
func (s *stage) afterSums(ctx context.Context, fn *graph.Function, step Step, runner Runner,
	sums map[graph.Value]tensor.Tensor) error {
	if step.Func == nil { // Reduce has only all-reduces
		return nil
	}
	step.Inputs, step.Rows = nil, nil
	for _, v := range step.Func.Inputs {
		step.Inputs = append(step.Inputs, sums[v])
	}
	done, err := runner.Run(ctx, step)
	if err != nil {
		return err
	}
	for i, o := range fn.Outputs {
		sums[o.Value] = done.Outputs[i]
	}
	return nil
}

// complete checks that exactly the leaves of the replicas with rows have been added.
func (s *stage) complete(replicas, rows []int) error {
	for name, tree := range s.leaves {
		for i, r := range replicas {
			if tree.Has(r) != (rows[i] > 0) {
				return Errorf(device.Invalid, "%w", problem.Advise(
					"run "+graph.Backward+" once for each replica that has rows",
					"replica %d has %d rows; its leaf %s has come: %t", r, rows[i], name, tree.Has(r)))
			}
		}
	}
	return nil
}

// checkStage returns an error if the slot or the replicas of a step are invalid.
func checkStage(step device.Step, g *device.Group) error {
	if step.Slot < 0 {
		return fmt.Errorf("slot %d", step.Slot)
	}
	if step.Replicas == nil {
		return nil
	}
	if len(step.Replicas) != len(step.Rows) {
		return fmt.Errorf("rows for %d replicas, which are %v", len(step.Rows), step.Replicas)
	}
	for i, r := range step.Replicas {
		if r < 0 || i > 0 && r <= step.Replicas[i-1] || g != nil && !slices.Contains(g.Replicas[g.Rank], r) {
			return fmt.Errorf("replicas %v: want some that this device holds, in increasing order", step.Replicas)
		}
	}
	return nil
}
