// Package kernel holds the inner loops of the CPU device: for each, a definition in plain Go and
// assembly for the vector units.
//
// A Set is one family of them. Sets of one class have the same bits: in class
// "fma" every sum of products is one chain of fused multiply-adds in an order
// that the definition states, whatever the width of the vectors; class "amx"
// also has what matrix units compute (Matrix); class "generic" rounds every
// product and every sum. No result depends on how the work is cut into calls.
package kernel

import (
	"fmt"
	"slices"
	"strings"
)

//go:generate go run -C _asm . window
//go:generate go run -C _asm . gradient
//go:generate go run -C _asm . channels
//go:generate go run -C _asm . elementwise
//go:generate go run -C _asm . doubles
//go:generate go run -C _asm . fetch
//go:generate go run -C _asm . depthwise
//go:generate go run -C _asm . depthwiserows
//go:generate go run -C _asm . pooling
//go:generate go run -C _asm . resample
//go:generate go run -C _asm . direct
//go:generate go run -C _asm . winograd
//go:generate go run -C _asm . winogradgradient
//go:generate go run -C _asm . bf16
//go:generate go run -C _asm . pairs
//go:generate go run -C _asm . pairsgradient
//go:generate go run -C _asm . directpairs
//go:generate go run -C _asm . matrix
//go:generate go run -C _asm . int8
//go:generate go run -C _asm . gather
//go:generate go run -C _asm . activation
//go:generate go run -C _asm . shuffle
//go:generate go run -C _asm ./neon window
//go:generate go run -C _asm ./neon gradient
//go:generate go run -C _asm ./neon direct
//go:generate go run -C _asm ./neon depthwise
//go:generate go run -C _asm ./neon elementwise
//go:generate go run -C _asm ./neon activation
//go:generate go run -C _asm ./neon channels
//go:generate go run -C _asm ./neon pooling
//go:generate go run -C _asm ./neon int8
//go:generate go run -C _asm ./neon winograd
//go:generate go run -C _asm ./neon winogradgradient

// Lanes is the number of channels that kernels process together: weights are
// packed in panels of up to PanelLanes output channels.
const Lanes = 16

// PanelLanes is the number of output channels of a panel of weights; the last
// panel may have fewer, in whole Lanes.
const PanelLanes = 4 * Lanes

// Set is one implementation of all kernels. Its methods may be called from
// any number of goroutines at a time.
type Set struct {
	Name  string // "amx", "avx512", "avx2", "neon", "go" or "generic"
	Class string // "amx", "fma" or "generic"

	// These fields have the assembly. If a field is nil or empty, the definition is used.
	window             []windowTiles       // widest first
	gradient           []gradientTiles     // widest first
	denseGradient      []denseGradientTile // most values first
	stagedGradient     *stagedGradient
	normColumns        []*normColumns[float32] // in order of preference
	normHalves         []*normColumns[uint16]  // columns for bfloat16
	sumColumns         []*sumColumns[float32]
	doubleSums         []*doubleSums
	sumHalves          []*sumColumns[uint16]
	depthwise          []depthwiseTiles     // widest first
	depthwiseGradients []depthwiseGradients // widest first
	depthwiseRows      []depthwiseRowTiles
	elements           *elements
	doubles            *doubles
	activations        *activations
	pools              *pools
	resample           *resampleKernel
	directs            *directTiles
	winograd           *winogradKernels
	winogradGradients  winogradGradients
	bf16               *bf16Kernels
	pairs              []pairsTiles // widest first
	pairsGradients     pairsGradients
	directPairs        []sizedDirectPairs
	matrix             *matrixKernels
	int8               *int8Kernels
	tableInt8          func(y, x *byte, table *[256]byte, vectors int)
	gathers            *gatherKernels
	shuffles           *shuffleKernel
	fetch              func(from *byte, step, count int)
	peak               func(n int)
	lanes              int  // number of lanes of the registers in peak
	fused              bool // the definition computes chains of fused multiply-adds
}

// Generic is the set in plain Go that rounds every product and every sum.
var Generic = &Set{Name: "generic", Class: "generic"}

// definition is class "fma" in plain Go. All assembly is compared with it.
var definition = &Set{Name: "go", Class: "fma", fused: true}

// Fused reports whether sums of products are chains of fused multiply-adds, as
// in every class but "generic".
func (s *Set) Fused() bool { return s.fused }

// Matrices reports whether sets of this class compute some layers by Matrix.
func (s *Set) Matrices() bool { return s.Class == "amx" }

// Sets returns the sets that this machine can run, the preferred one first. Class "fma"
// runs everywhere: without assembly for it, by its definition.
func Sets() []*Set {
	sets := native()
	if len(sets) == 0 {
		sets = []*Set{definition}
	}
	return append(sets, Generic)
}

// Pick returns the fastest set of this machine that has the given class or name. For "auto"
// it returns the fastest set at a precision: matrix units are fast only with bfloat16,
// because float32 as three terms is slower there than multiply-adds.
func Pick(name string, bfloat16 bool) (*Set, error) {
	sets := Sets()
	for _, s := range sets {
		if name == s.Class || name == s.Name || name == "auto" && (bfloat16 || !s.Matrices()) {
			return s, nil
		}
	}
	var have []string
	for _, s := range sets {
		for _, n := range []string{s.Class, s.Name} {
			if !slices.Contains(have, n) {
				have = append(have, n)
			}
		}
	}
	return nil, fmt.Errorf("kernels %q do not run on this machine; it has %s", name, strings.Join(have, ", "))
}
