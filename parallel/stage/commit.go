package stage

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// commit divides the commit function: every update is made in the stage that has its state. A
// factor that scales all gradients is computed first, in separate functions:
//
//	commit.squares   on each stage: the sum of squares of every gradient
//	commit.factor    on the first: their sum, and the factor
//	commit           on each stage, with the factor as a hyper-parameter
func (w *work) commit(f *graph.Function) error {
	c := &commitCut{cut: w.newCut(f), norm: make([]bool, len(f.Nodes))}
	for i := range f.Nodes {
		if f.Nodes[i].Op == graph.ClipFactor {
			c.mark(i)
		}
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if c.norm[i] && n.Op != graph.SumSquares {
			continue // the factor is computed by the first stage only
		}
		if err := c.deal(i); err != nil {
			return err
		}
	}
	squares := func(i int) bool { return c.norm[i] && f.Nodes[i].Op == graph.SumSquares }
	factor := func(i int) bool { return c.norm[i] && f.Nodes[i].Op != graph.SumSquares }
	updates := func(i int) bool { return !c.norm[i] }
	if err := c.handed(graph.Squares, squares, factor); err != nil {
		return err
	}
	if err := c.handed(graph.Factor, factor, updates); err != nil {
		return err
	}
	return c.updates(updates)
}

type commitCut struct {
	*cut
	norm []bool // by node: whether the factor depends on it
}

// mark marks a node and the nodes that lead to it.
func (c *commitCut) mark(i int) {
	if c.norm[i] {
		return
	}
	c.norm[i] = true
	for _, v := range c.fn.Nodes[i].In {
		if v != graph.None && c.maker[v] >= 0 {
			c.mark(c.maker[v])
		}
	}
}

// deal gives a node the stage that has the state and the gradients that the node reads.
func (c *commitCut) deal(i int) error {
	n, found := &c.fn.Nodes[i], -1
	for _, v := range n.In {
		s, ok := c.stageOf(v)
		if v != graph.None && c.maker[v] >= 0 && c.norm[c.maker[v]] {
			continue // every stage has the factor
		}
		if !ok && v != graph.None && c.maker[v] < 0 {
			s, ok = c.keeps(c.fn.Values[v].Name)
		}
		if !ok {
			continue
		}
		if found >= 0 && s != found {
			return fmt.Errorf("%s reads of stages %d and %d", c.fn.NodeName(n), found+1, s+1)
		}
		found = s
	}
	c.stage[i] = max(found, 0)
	return nil
}

// keeps returns the stage with a training function that keeps the input of that name.
func (c *commitCut) keeps(name string) (int, bool) {
	for s, p := range c.divided {
		if _, ok := p.Retained(graph.Commit)[name]; ok {
			return s, true
		}
	}
	return 0, false
}

// handed makes the functions of the nodes selected by meant. Their outputs are the values
// that the nodes selected by readers read.
func (c *commitCut) handed(name string, meant, readers func(int) bool) error {
	sections := c.sections(name, meant)
	for i := range c.fn.Nodes {
		if !readers(i) {
			continue
		}
		for _, v := range c.fn.Nodes[i].In {
			if v == graph.None {
				continue
			}
			if s, ok := c.made(v, meant); ok {
				sections[s].gives(named(acrossPrefix, c.fn, v), v, false)
			}
		}
	}
	return c.build(sections)
}

// updates makes the commit functions.
func (c *commitCut) updates(meant func(int) bool) error {
	sections := c.sections(graph.Commit, meant)
	for _, u := range c.fn.Updates {
		s := c.home[u.State]
		sections[s].updates = append(sections[s].updates, u)
	}
	return c.build(sections)
}

// build makes the functions of sections. Their inputs include the values of the gradient norm that
// other stages computed.
func (c *commitCut) build(sections []*section) error {
	for s, p := range sections {
		for _, v := range p.reads() {
			if i := c.maker[v]; i >= 0 && c.norm[i] {
				p.takes(v, named(acrossPrefix, c.fn, v))
			}
		}
		f, err := p.function()
		if err != nil {
			return err
		}
		if len(f.Outputs)+len(f.Updates) > 0 {
			c.divided[s].Functions = append(c.divided[s].Functions, f)
		}
	}
	return nil
}
