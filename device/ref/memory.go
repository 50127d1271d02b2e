package ref

import (
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/tensor"
)

// largeRun is the minimum size, in bytes, of a run that checks whether the machine has enough
// memory.
const largeRun = 1 << 30

// checkMemory refuses a run with values that do not fit into the available memory: the
// system would end the process without a message.
func (f *frame) checkMemory() error {
	want := f.needs()
	if want < largeRun {
		return nil
	}
	_, free := memory.Machine()
	return lifecycle.CheckMemory(want, free, "free")
}

// needs returns the maximum number of bytes that the values of a run occupy at a time.
func (f *frame) needs() float64 {
	last, most, now := lastUses(f.fn), 0.0, 0.0
	ends := make([]float64, len(f.fn.Nodes)+2) // ends[n]: bytes that become free after n nodes
	for i, n := range f.fn.Nodes {
		if n.Op != graph.Reshape { // the result of Reshape shares the elements of its operand
			for _, v := range n.Out {
				bytes := f.bytes(v)
				now += bytes
				ends[max(last[v], i+1)] += bytes
			}
		}
		most = max(most, now)
		now -= ends[i+1]
	}
	return most
}

// bytes returns the size of a value in bytes; its elements are float64.
func (f *frame) bytes(v graph.Value) float64 {
	t := f.fn.Values[v].Type
	return float64(8 * float64(f.lead(t.Kind)) * float64(tensor.Count(t.Shape)))
}
