package schedule

import "github.com/bnctl/bnctl/plugins/cpu/internal/machine"

// Work is an amount of work: floating-point operations by kind of kernel, and bytes by the
// level that they are transferred from or to.
type Work struct {
	Products   float64 // products of windows and direct convolutions, including padding
	Tiles      float64 // products of Winograd tiles
	Transforms float64 // transforms into Winograd tiles and out of them
	Depthwise  float64
	Passes     float64 // values that other nodes, for example norms and pools, read or write one by one

	L3     float64 // bytes that are read from or written to L3
	Memory float64 // bytes that are read from or written to memory
}

// These are the shares of a core's peak that kernels reach inside networks, measured on Zen 4. Where
// AVX-512 and AVX2 differ, the number is between the two. For products of tiles they reach 0.87 and 0.70.
const (
	ofProducts   = 0.98
	ofTiles      = 0.80
	ofTransforms = 0.30
	ofDepthwise  = 0.58
	ofPasses     = 0.12
)

// Seconds returns the time that a core with these rates needs for the work.
func (w Work) Seconds(r machine.Rates) float64 {
	operations := w.Products/ofProducts + w.Tiles/ofTiles + w.Transforms/ofTransforms +
		w.Depthwise/ofDepthwise + w.Passes/ofPasses
	return operations/r.Flops + w.L3/r.L3 + w.Memory/r.Memory
}
