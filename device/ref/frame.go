package ref

import (
	"context"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// frame is one evaluation of a function.
type frame struct {
	fn     *graph.Function
	values []*array // value by its number; nil before it is computed and after its last use
	first  []int    // first row of each replica of this device, followed by the number of rows
	owner  []int    // the replica, as an index into first, of each row
	f64    bool     // keep f32 values in float64 (Eval64)
	bf16   bool     // whether the precision is device.BF16
	class  string   // class with the definitions to compute; "": the default loops of this package
	norms  map[graph.Value]class.Norm

	kernels map[graph.Op]Kernel

	group     device.Group
	step      uint64
	exchanges [collective.Lanes]uint64 // number of exchanges so far
	blocked   time.Duration
	took      []time.Duration // time of each node, if requested
}

// newFrame returns a frame over replicas with the given numbers of rows.
func newFrame(fn *graph.Function, rows []int) *frame {
	f := &frame{fn: fn, values: make([]*array, len(fn.Values)), first: make([]int, 1, len(rows)+1)}
	for r, n := range rows {
		f.first = append(f.first, f.first[r]+n)
		for range n {
			f.owner = append(f.owner, r)
		}
	}
	return f
}

func (f *frame) replicas() int { return len(f.first) - 1 }

// lead returns the length of the leading axis of values of a kind.
func (f *frame) lead(k graph.Kind) int {
	switch k {
	case graph.Rows:
		return len(f.owner)
	case graph.Replica:
		return f.replicas()
	}
	return 1
}

// block returns the block of a that corresponds to block n of a result of kind k: a whole
// value corresponds to every block, and a replica's value corresponds to each of its rows.
func (f *frame) block(a *array, k graph.Kind, n int) []float64 {
	switch {
	case a.typ.Kind == k:
		return a.block(n)
	case a.typ.Kind == graph.Whole:
		return a.block(0)
	}
	return a.block(f.owner[n])
}

// run computes the nodes in order. All-reduces that follow each other are one
// exchange.
func (f *frame) run(ctx context.Context) error {
	last := lastUses(f.fn)
	nodes, exchanges := f.fn.Nodes, f.fn.Exchanges()
	for i := 0; i < len(nodes); {
		if err := ctx.Err(); err != nil {
			return err
		}
		end, began := i+1, time.Now()
		if nodes[i].Op == graph.AllReduce {
			e := exchanges[0]
			exchanges, end = exchanges[1:], e.To
			if err := f.allReduce(ctx, e); err != nil {
				return err
			}
		} else if err := f.compute(&nodes[i]); err != nil {
			return err
		}
		f.drop(nodes[i:end], last, end)
		if f.took != nil {
			f.took[i] = time.Since(began)
		}
		i = end
	}
	return nil
}

// compute runs the loop of one node.
func (f *frame) compute(n *graph.Node) error {
	for _, v := range n.Out {
		t := f.fn.Values[v].Type
		f.values[v] = newArray(t, f.lead(t.Kind))
	}
	c := &call{frame: f, Node: n}
	loop := loops[n.Op]
	if define := definitions[n.Op]; f.class != "" && define != nil {
		loop = define
	}
	if k := f.kernels[n.Op]; k == nil || !c.replaced(k) && c.err == nil {
		loop(c)
	}
	if c.err != nil {
		return fmt.Errorf("%s: %w", f.fn.NodeName(n), c.err)
	}
	if !f.f64 {
		for _, v := range n.Out {
			f.values[v].round(f.bf16)
		}
	}
	return nil
}

// result returns a value as a tensor.
func (f *frame) result(v graph.Value) tensor.Tensor {
	a := f.values[v]
	return a.tensor(f.stored(a.typ.DType), 0, a.lead)
}

// stored returns the type that values of type d have outside the frame.
func (f *frame) stored(d tensor.DType) tensor.DType {
	if f.f64 && d == tensor.F32 {
		return tensor.F64
	}
	return d
}
