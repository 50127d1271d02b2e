package ref

import (
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/tensor"
)

// largeRun is from how many bytes on a run asks whether the machine has them.
const largeRun = 1 << 30

// checkMemory refuses a run whose values do not fit the memory that is available: a process that
// takes more is ended by the system, and says nothing.
func (f *frame) checkMemory() error {
	want := f.needs()
	if want < largeRun {
		return nil
	}
	_, free := memory.Machine()
	return lifecycle.CheckMemory(want, free, "free")
}

// needs returns how many bytes the values of a run take at once.
func (f *frame) needs() float64 {
	last, most, now := lastUses(f.fn), 0.0, 0.0
	ends := make([]float64, len(f.fn.Nodes)+2) // what is not needed any more when so many nodes have run
	for i, n := range f.fn.Nodes {
		if n.Op != graph.Reshape { // which takes the elements over
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

// bytes returns the bytes of a value, whose elements are float64.
func (f *frame) bytes(v graph.Value) float64 {
	t := f.fn.Values[v].Type
	return float64(8 * float64(f.lead(t.Kind)) * float64(tensor.Count(t.Shape)))
}
