package wire

import (
	"fmt"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// SetReplicas sets the replicas of the device and the number of rows of each in this run.
// Next compares the counts that the device sends with these numbers.
func (c *Progress) SetReplicas(replicas, rows []int) {
	if len(replicas) == len(rows) { // otherwise the run is INVALID, and the device reports it
		c.replicas, c.rows = replicas, rows
	}
}

// rowsIn returns the rows of the leaves of a node that the device holds.
func (c *Progress) rowsIn(n collective.Node) int {
	rows := 0
	for i, r := range c.replicas {
		if n.From <= r && r < n.To {
			rows += c.rows[i]
		}
	}
	return rows
}

// checkPartials compares a reduction from the device with the rows of its replicas: which partial
// values are present, and the counts in moments.
func (c *Progress) checkPartials(tag collective.Tag, i int, v collective.Reduction, due expectedValue) error {
	if c.rows == nil {
		return nil
	}
	for _, p := range v.Partials {
		rows, absent := c.rowsIn(p.Node), p.Value.IsZero()
		where := fmt.Sprintf("exchange %q: value %d: the part of replicas %d to %d", tag.Name, i, p.Node.From,
			p.Node.To-1)
		switch {
		case absent && rows > 0:
			return fmt.Errorf("%s came as absent; they have %d rows", where, rows)
		case !absent && rows == 0:
			return fmt.Errorf("%s is there; due is an absent part, since they have no rows", where)
		case absent || due.each == 0:
			continue
		}
		if err := counted(p.Value, rows*due.each); err != nil {
			return fmt.Errorf("%s %w: %d for each of %d rows", where, err, due.each, rows)
		}
	}
	return nil
}

// counted returns an error unless moments count the given number of values.
func counted(m tensor.Tensor, want int) error {
	if m.DType != tensor.F64 || m.Count() == 0 || m.F64()[0] == float64(want) {
		return nil
	}
	return fmt.Errorf("counts %v values; due are %d", m.F64()[0], want)
}

// countedOf returns the number of values that the moments v count for each row. It returns 0 if v is not
// the result of a Moments node.
func countedOf(f *graph.Function, v graph.Value) int {
	n := producer(f, v)
	if n == nil || n.Op != graph.Moments {
		return 0
	}
	return tensor.Count(f.Values[n.In[0]].Type.Shape[1:])
}

// producer returns the node that produces v, or nil if v is not a result.
func producer(f *graph.Function, v graph.Value) *graph.Node {
	for i := range f.Nodes {
		for _, out := range f.Nodes[i].Out {
			if out == v {
				return &f.Nodes[i]
			}
		}
	}
	return nil
}

// Counts describes the outputs of a function with counts that the host knows before the run.
type Counts struct{ outputs []countingOutput }

// countingOutput is an output that counts values or labels of the rows of each replica.
type countingOutput struct {
	name   string
	at     int  // index among the outputs that are not kept
	each   int  // number of values or labels in a row
	labels bool // the output counts labels that are correct, and labels that are not ignored
}

// CountsOf returns the known counts of the outputs of f.
func CountsOf(f *graph.Function) Counts {
	var c Counts
	at := 0
	for _, o := range f.Outputs {
		if o.Keep {
			continue
		}
		out := countingOutput{name: o.Name, at: at, each: countedOf(f, o.Value)}
		if n := producer(f, o.Value); n != nil && n.Op == graph.Correct {
			out.each, out.labels = tensor.Count(f.Values[n.In[1]].Type.Shape), true
		}
		if out.each > 0 && f.Values[o.Value].Type.Kind == graph.Replica {
			c.outputs = append(c.outputs, out)
		}
		at++
	}
	return c
}

// Check returns an error if the counts of the outputs do not match the rows of the
// replicas.
func (c Counts) Check(outputs []tensor.Tensor, rows []int) error {
	for _, o := range c.outputs {
		t := outputs[o.at]
		width := tensor.Count(t.Shape[1:])
		for r, n := range rows {
			if err := o.check(t.F64()[r*width:(r+1)*width], n*o.each); err != nil {
				return fmt.Errorf("output %s: replica %d of %d rows %w", o.name, r, n, err)
			}
		}
	}
	return nil
}

func (o countingOutput) check(got []float64, most int) error {
	switch {
	case o.labels && !(got[0] >= 0 && got[0] <= got[1] && got[1] <= float64(most)):
		return fmt.Errorf("has %v hits among %v labels; there are at most %d", got[0], got[1], most)
	case !o.labels && got[0] != float64(most):
		return fmt.Errorf("counts %v values; due are %d", got[0], most)
	}
	return nil
}
