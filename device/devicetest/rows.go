package devicetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// manyRows are the numbers of rows of successive runs on one opened device. They increase and decrease.
// Some are equal to the block size of a kernel, or next to it, and some are much larger.
var manyRows = []int{1, 65, 2, 1000, 63, 129, 64}

// rowsOf returns the rows of each replica for a run of about n rows. Without spread there is a single
// replica with all rows. With spread there are n replicas, some with two rows and some with no rows.
func rowsOf(n int, spread bool) []int {
	if !spread {
		return []int{n}
	}
	list := slices.Repeat([]int{1}, n)
	for i := range list {
		switch i % 9 {
		case 4:
			list[i] = 2
		case 7:
			list[i] = 0
		}
	}
	return list
}

// rowProbes returns a probe for each operation with rows or replicas, with little work for each row.
func rowProbes() []probe {
	image, dense := convolution{name: "3x3", in: 3, out: 5, h: 5, w: 4, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1},
		bias: true}, matrixProbes(37, 19, "37 to 19")
	first := slices.Concat(image.probes(), dense[1:])
	for _, most := range []int{200, 1000} { // elements per row
		for _, p := range allProbes() {
			same := func(x probe) bool { return x.op == p.op && subject(x) == subject(p) }
			if p.perRow() && p.work() <= most && !slices.ContainsFunc(first, same) {
				first = append(first, p)
			}
		}
	}
	return first
}

// perRow reports whether a probe has an operand of rows or of replicas.
func (p probe) perRow() bool {
	return slices.ContainsFunc(p.operands, func(o operand) bool {
		return o.fill != nil &&
			o.typ.Kind != graph.Whole
	})
}

// subject returns the activation of a probe of an activation's derivative. It returns nil for other
// probes.
func subject(p probe) any {
	if p.op == graph.ActivationGrad {
		return p.attrs[1]
	}
	return nil
}

// work counts the elements of a probe's operands per row.
func (p probe) work() int {
	n := 0
	for _, o := range p.operands {
		n += tensor.Count(o.typ.Shape)
	}
	return n
}

func rowCases() []Case {
	var cases []Case
	for _, p := range rowProbes() {
		cases = append(cases, newCase("rows: "+p.title(), p.rule()+". A row's values don't depend on how many "+
			"rows there are, nor on the run before: look at what the kernel does beyond its block of rows, and "+
			"at what is left of a larger batch.", p.program, p.manyRows))
	}
	const rule = "Grow raises the capacity to at least c, keeping the state; a step of any size within it is " +
		"as any other. Look at what is left of a larger batch, and at what was made for a smaller one."
	for _, n := range []network{small("batch"), small("replica")} {
		cases = append(cases, newCase("rows: batches that grow and shrink: "+n.name, rule, n.program, n.manyRows))
	}
	return cases
}

// manyRows trains on batches of many sizes and compares each step with ref, which gets the
// state read from the device.
func (n network) manyRows(ctx context.Context, open Opener) error {
	s, err := n.setting(graph.Train, 2)
	if err != nil {
		return err
	}
	m, err := loaded(ctx, open, s)
	if err != nil {
		return err
	}
	defer m.Close()
	for v, size := range manyRows {
		for _, function := range []string{graph.Predict, graph.Train} {
			if err := n.sized(ctx, m, function, rowsOf(size, v%2 == 1)); err != nil {
				return fmt.Errorf("%s of %d rows: %w", function, size, err)
			}
		}
		if err := m.x.Commit(ctx, device.Version(v), n.rule.values); err != nil {
			return err
		}
	}
	return nil
}

// sized runs a function and compares its first output, the logits, with the output of ref.
func (n network) sized(ctx context.Context, m *member, function string, rows []int) error {
	s, err := n.setting(function, rows...)
	if err != nil {
		return err
	}
	if err := m.x.Grow(ctx, device.Capacity{Rows: sum(rows), Replicas: len(rows)}); err != nil {
		return err
	}
	for name := range s.state {
		if s.state[name], err = m.x.Read(ctx, name); err != nil {
			return err
		}
	}
	got, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	return s.predictedBy(ctx, got[0])
}

// manyRows makes runs of many sizes on one opened device and compares them with ref. The capacity of
// the executable grows as needed.
func (p probe) manyRows(ctx context.Context, open Opener) error {
	first, err := p.settingOf(rowsOf(2, false))
	if err != nil {
		return err
	}
	m, err := loaded(ctx, open, first)
	if err != nil {
		return err
	}
	defer m.Close()
	for _, n := range manyRows {
		for _, spread := range []bool{false, true} {
			s, err := p.settingOf(rowsOf(n, spread))
			if err == nil {
				s.state = first.state
				err = m.x.Grow(ctx, device.Capacity{Rows: sum(s.rows), Replicas: len(s.rows)})
			}
			if err == nil {
				err = s.alsoAlone(ctx, m)
			}
			if err != nil {
				return fmt.Errorf("%d rows in %d replicas: %w", sum(s.rows), len(s.rows), err)
			}
		}
	}
	return nil
}

// alsoAlone compares a run with ref, and the results of its last replica with a run of that replica alone.
func (s *setting) alsoAlone(ctx context.Context, m *member) error {
	joint, err := s.compare(ctx, m)
	last := len(s.rows) - 1
	if err != nil || last == 0 || !m.Info().Has(device.Deterministic) {
		return err
	}
	alone, err := s.ofReplicas(last).run(ctx, m.x)
	if err == nil {
		err = s.sameBits(alone, joint, last)
	}
	if err != nil {
		return fmt.Errorf("replica %d alone: %w", last, err)
	}
	return nil
}

// settingOf is like settingWith but with a larger tolerance for sums over more rows.
func (p probe) settingOf(rows []int) (*setting, error) {
	more := float64(max(1, slices.Max(rows)))
	p.tol.terms = int(float64(p.tol.terms) * more)
	p.tol.absolute *= more
	return p.settingWith(rows)
}
