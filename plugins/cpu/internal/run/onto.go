package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/tensor"
)

// The gradients of a replica are leaves of a tree. The sums of the tree are stored in regions.
// The last gradient need not be stored at all: it is added to the sums that wait for it, piece
// by piece, while it is in the cache.
//
// 	replica   0        1        2        3
// 	          store    add      store    add, and the result to the sum of 0 and 1
// 	waiting   [0,1)    [0,2)    [0,2)    [0,4)
// 	                            [2,3)

// setSums records the sums that outputs of fn are added to, by name of the output and in order: see Adds.
func (f *Frame) setSums(fn *Function, sums map[string][]tensor.Tensor) {
	if len(sums) == 0 {
		return
	}
	f.onto, f.added = map[*Value][]tensor.Tensor{}, map[*Value]bool{}
	for _, o := range fn.graph.Outputs {
		v := fn.values[o.Value]
		if o.Keep && v.inLeaves() && v.DType == tensor.F32 && len(sums[o.Name]) > 0 && fn.ends(o.Value) {
			f.onto[v] = sums[o.Name]
		}
	}
}

// ends reports whether v is an output of the function under one name, and nothing else reads it.
func (fn *Function) ends(v graph.Value) bool {
	outputs := 0
	for _, o := range fn.graph.Outputs {
		if o.Value == v {
			outputs++
		}
	}
	return outputs == 1 && !slices.ContainsFunc(fn.graph.Nodes, func(n graph.Node) bool {
		return slices.Contains(n.In, v)
	})
}

// Adds reports whether v, a value of one replica, is added to sums with Add instead of being stored. If so,
// the caller must pass all its elements to Add.
func (f *Frame) Adds(v *Value) bool {
	_, ok := f.onto[v]
	if ok {
		f.added[v] = true
	}
	return ok
}

// Add adds elements of v, which begin at index start, to the first of the sums that wait for v. It adds this
// sum to the next sum, and so on. It may overwrite elements.
func (f *Frame) Add(v *Value, start int, elements []float32) {
	sums := f.onto[v]
	for i, t := range sums {
		sum := layout.View[float32](t.Bytes)[start:][:len(elements)]
		to := elements
		if i == len(sums)-1 {
			to = sum
		}
		f.Kernels.Add(to, sum, elements)
	}
}

// addStored adds those gradients to sums that no action has added: they were stored first.
func (f *Frame) addStored() {
	for v := range f.onto {
		if f.added[v] {
			continue
		}
		all := f.F32(v)
		f.EachSpan(len(all), func(_ *Worker, from, to int) { f.Add(v, from, all[from:to]) })
		f.added[v] = true
	}
}
