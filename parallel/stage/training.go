package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// A training function is one pass. A stage has three passes, because other stages compute between
// its forward and its backward pass. The training function determines the pass of each node:
//
//	forward    nodes that depend on no label
//	backward   nodes that depend on a label, up to the closing all-reduces
//	reduce     these all-reduces, and the nodes that depend on them
//
// If there is an all-reduce before the end, as with synchronised batch norm, the replicas have to
// run together, and nothing is left to reduce.

type phase int

const (
	forward phase = iota
	backward
	reduce
	unread // the node is in no pass, because its results are never read
)

// training divides the training function.
func (w *work) training(f *graph.Function) error {
	c := &trainingCut{cut: w.newCut(f), phase: make([]phase, len(f.Nodes))}
	c.phases()
	c.deal()
	c.readAgain()
	if err := c.check(); err != nil {
		return err
	}
	names := []string{forward: graph.Forward, backward: graph.Backward, reduce: graph.Reduce}
	sections := make([][]*section, len(names))
	for p, name := range names {
		sections[p] = c.sections(name, func(i int) bool { return c.phase[i] == phase(p) })
	}
	c.outputs(sections)
	for s := range c.stages {
		if err := c.keep(sections[forward][s], sections[backward][s], keptPrefix, sections[forward]); err != nil {
			return err
		}
		if err := c.keep(sections[backward][s], sections[reduce][s], leafPrefix, nil); err != nil {
			return err
		}
		for p := range names {
			fn, err := sections[p][s].function()
			if err != nil {
				return err
			}
			if len(fn.Outputs) > 0 {
				w.divided[s].Functions = append(w.divided[s].Functions, fn)
			}
		}
	}
	return nil
}

type trainingCut struct {
	*cut
	phase []phase // phase of each node
}

// phases determines the pass of each node.
func (c *trainingCut) phases() {
	judged := make([]bool, len(c.fn.Values)) // by value: whether it depends on a label
	for _, v := range c.fn.Inputs {
		judged[v] = c.ofLoss(v)
	}
	closed := make([]bool, len(c.fn.Values)) // by value: depends on an all-reduce that depends on a label
	together := false
	for i := range c.fn.Nodes {
		n := &c.fn.Nodes[i]
		isJudged := strings.Contains(c.fn.NodeName(n)+".", again+".") ||
			slices.ContainsFunc(n.In, func(v graph.Value) bool { return v != graph.None && judged[v] })
		isClosed := slices.ContainsFunc(n.In, func(v graph.Value) bool { return v != graph.None && closed[v] }) ||
			isJudged && n.Op == graph.AllReduce
		together = together || n.Op == graph.AllReduce && !isJudged
		for _, v := range n.Out {
			judged[v], closed[v] = isJudged, isClosed
			together = together || isClosed && c.fn.Values[v].Type.Kind == graph.Rows
		}
		switch {
		case isClosed:
			c.phase[i] = reduce
		case isJudged:
			c.phase[i] = backward
		}
	}
	for i, p := range c.phase {
		if together && p == reduce {
			c.phase[i] = backward
		}
	}
}

// ofLoss reports whether an input belongs to the loss: it is neither an input of the template nor
// the random numbers of a dropout.
func (c *trainingCut) ofLoss(v graph.Value) bool {
	main := c.network.main
	if slices.ContainsFunc(main.Inputs, func(m graph.Value) bool {
		return main.Values[m].Name == c.fn.Values[v].Name
	}) {
		return false
	}
	for i := range c.fn.Nodes {
		if n := &c.fn.Nodes[i]; n.Op == graph.Dropout && slices.Contains(n.In[1:], v) {
			return false
		}
	}
	return true
}

// deal assigns each node to a stage.
func (c *trainingCut) deal() {
	for i := range c.fn.Nodes {
		n := &c.fn.Nodes[i]
		switch {
		case c.phase[i] == forward:
			c.stage[i] = c.stageOfNode(i)
		case c.sums(n):
			c.stage[i] = c.earliest(n)
		case c.judges(n):
			c.stage[i] = c.latest(n)
		default:
			if s, ok := c.stageByName(c.fn.NodeName(n)); ok {
				c.stage[i] = s
			} else {
				c.stage[i] = c.earliest(n)
			}
		}
	}
}

// sums reports whether a node adds gradients, or reduces them.
func (c *trainingCut) sums(n *graph.Node) bool {
	return (n.Op == graph.Add || n.Op == graph.AllReduce) && !slices.ContainsFunc(n.In,
		func(v graph.Value) bool { return c.maker[v] < 0 || c.phase[c.maker[v]] == forward })
}

// judges reports whether a node has a label as an input.
func (c *trainingCut) judges(n *graph.Node) bool {
	return slices.ContainsFunc(n.In, func(v graph.Value) bool {
		return v != graph.None && slices.Contains(c.fn.Inputs, v) && c.ofLoss(v)
	})
}

// earliest returns the first of the stages from which a node reads gradients or, if it
// reads no gradients, the first of all stages from which it reads.
func (c *trainingCut) earliest(n *graph.Node) int {
	first, other := c.stages, c.stages
	for _, v := range n.In {
		s, ok := c.stageOf(v)
		if !ok {
			continue
		}
		other = min(other, s)
		if c.maker[v] >= 0 && c.phase[c.maker[v]] != forward {
			first = min(first, s)
		}
	}
	if first == c.stages {
		first = other
	}
	return first % c.stages
}

// latest returns the last of the stages that a node reads from. For a node that reads only inputs, it
// is the last stage, which has the loss.
func (c *trainingCut) latest(n *graph.Node) int {
	last := -1
	for _, v := range n.In {
		if s, ok := c.stageOf(v); ok {
			last = max(last, s)
		}
	}
	if last < 0 {
		return c.stages - 1
	}
	return last
}

// check makes sure that values of the forward pass go to later stages and gradients to
// earlier ones.
func (c *trainingCut) check() error {
	for i := range c.fn.Nodes {
		for _, v := range c.fn.Nodes[i].In {
			if v == graph.None || c.maker[v] < 0 || c.phase[i] == unread {
				continue
			}
			from, to := c.stage[c.maker[v]], c.stage[i]
			made := c.phase[c.maker[v]]
			if made == forward && from > to || made == backward && from < to || made == reduce && from != to {
				return problem.New("stages", "", fmt.Sprintf("%s of stage %d needs %s of stage %d, which is "+
					"not there yet", c.fn.NodeName(&c.fn.Nodes[i]), to+1, c.fn.Values[v].Name, from+1),
					"begin the stage with another layer")
			}
		}
	}
	return nil
}

// outputs adds the outputs of the function that are inputs or state, so no node makes them.
func (c *trainingCut) outputs(sections [][]*section) {
	for _, o := range c.fn.Outputs {
		if c.maker[o.Value] < 0 {
			sections[forward][0].gives(o.Name, o.Value, o.Keep)
		}
	}
}

// keep makes the function src of a stage keep the values that the function reader reads from it. The values
// that src does not make come from other stages; across has the sections that make these values.
func (c *trainingCut) keep(src, reader *section, prefix string, across []*section) error {
	for _, v := range reader.reads() {
		i := c.maker[v]
		if i < 0 || reader.has(v) || c.phase[i] > c.phaseOf(src) {
			continue
		}
		if c.byState(i) {
			reader.again(i)
			continue
		}
		if c.phase[i] < c.phaseOf(src) { // a result of the forward pass that reduce reads
			return fmt.Errorf("%s is read when its values are gone", c.fn.Values[v].Name)
		}
		if s := c.stage[i]; s != src.stage {
			if across == nil {
				return fmt.Errorf("%s of stage %d is read in stage %d", c.fn.Values[v].Name, s+1, src.stage+1)
			}
			src.takes(v, named(acrossPrefix, c.fn, v))
			across[s].gives(named(acrossPrefix, c.fn, v), v, false)
		}
		name := named(prefix, c.fn, v)
		src.gives(name, v, true)
		reader.takes(v, name)
	}
	return nil
}

// phaseOf returns the pass that a section belongs to.
func (c *trainingCut) phaseOf(p *section) phase {
	switch p.name {
	case graph.Forward:
		return forward
	case graph.Backward:
		return backward
	}
	return reduce
}
