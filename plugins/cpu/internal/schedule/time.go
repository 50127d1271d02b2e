package schedule

import "github.com/bnctl/bnctl/plugins/cpu/internal/machine"

// Work is an amount of work: floating-point operations by kind of kernel, and bytes by the
// level that they are transferred from or to.
type Work struct {
	Products   float64 // products of windows and direct convolutions, including padding
	Tiles      float64 // products of Winograd tiles
	Transforms float64 // transforms into Winograd tiles and out of them
	Depthwise  float64
	Passes     float64 // values of other nodes that work value by value: norms, pools

	L3     float64 // bytes read and written that no nearer cache has
	Memory float64 // bytes read and written that no cache has
}

// The shares of a core's peak that kernels reach inside networks, measured on Zen 4. Where
// AVX-512 and AVX2 differ, the number is between both; for products of tiles they reach
// 0.87 and 0.70.
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
