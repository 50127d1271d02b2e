package cpu

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// machine is what programs run on.
type machine struct {
	kernels *kernel.Set
	reduced bool // the precision is device.BF16
	// fourBytes keeps maps of bfloat16 in float32 (half.go), to be compared with.
	fourBytes bool
	pool      *pool
	group     *device.Group // nil: this device holds all replicas
}

// memory is what a loaded program has of memory: its state, its packed weights,
// and the arena with everything that a run computes.
type memory struct {
	states  map[string]*state
	blank   bool // some of them may have no memory yet
	packs   map[string]packed
	reserve reserve // for packs
	kept    []*slot // what train keeps for commit
	arena   []byte
	lanes   int // where the memory of lanes begins in the arena
	lane    int // bytes of a lane: what a row has while it passes through a group
}

// fillBlank gives memory to what was not written before the first run.
func (m *memory) fillBlank() {
	if m.blank {
		for _, s := range m.states {
			s.bytes()
		}
		m.blank = false
	}
}

// stateBytes returns the size of all state.
func (m *memory) stateBytes() (n int) {
	for _, s := range m.states {
		n += s.size()
	}
	return n
}

// packed is weights in some order, made for one filter and shared by the nodes
// that want them so.
type packed interface {
	bytes() int64
}
