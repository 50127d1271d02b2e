package kernel

import (
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// tried is how many numbers are tried at a time. They are neighbours and have the same sign and exponent.
const tried = 4096

// TestActivationsOfAllNumbers compares the sets of this machine with each other, with the definitions and
// with exact results. make test-activations tries every float32, and compares 1 in 64 of them with the
// definition. If BNCTL_ACTIVATIONS is whole, it compares all of them with the definition, which takes some
// hours.
func TestActivationsOfAllNumbers(t *testing.T) {
	step, seldom := 65537, 1
	switch os.Getenv("BNCTL_ACTIVATIONS") {
	case "":
	case "whole":
		step = 1
	default:
		step, seldom = 1, 64
	}
	for _, d := range defined {
		t.Run(d.String(), func(t *testing.T) {
			worst := farthest{of: d.op}
			var next atomic.Int64
			var all sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				all.Go(func() {
					r := newTrial(t, d)
					for !t.Failed() {
						n := int(next.Add(1) - 1)
						if n*tried*step >= 1<<32 {
							break
						}
						r.try(uint32(n*tried*step), uint32(step), n%seldom == n/seldom%seldom)
					}
					worst.add(r.worst.units, r.worst.at)
				})
			}
			all.Wait()
			worst.judge(t)
		})
	}
}

// trial is a function with its derivative, and the results of trying numbers with them.
type trial struct {
	nodeFunction
	t               *testing.T
	f, slope        func(float32) float32
	a, b            float32
	x, want, y, one []float32
	truth           func(float64) float64
	worst           farthest
}

func newTrial(t *testing.T, d nodeFunction) *trial {
	r := &trial{nodeFunction: d, t: t, x: make([]float32, tried), want: make([]float32, tried),
		y: make([]float32, tried), one: slices.Repeat([]float32{1}, tried), truth: d.truth()}
	r.f, r.slope, r.a, r.b = d.of()
	r.worst.of = d.op
	return r
}

// try compares the sets for numbers that begin at the given bits. It includes the definition if
// define is set or if there is no assembly.
func (r *trial) try(bits, step uint32, define bool) {
	for i := range r.x {
		r.x[i] = math.Float32frombits(bits + uint32(i)*step)
	}
	sets := vectorSets()
	if define || len(sets) == 0 {
		sets = append(sets, definition)
	}
	r.agree(sets, func(s *Set) { s.Apply(r.nodeFunction.f, r.y, r.x, r.a, r.b, r.f) })
	if r.truth != nil {
		r.worst.block(r.want, r.truth, bits, step)
	}
	if r.hasSlopes {
		r.agree(sets, func(s *Set) { s.ApplyGradient(r.nodeFunction.f, r.y, r.x, r.one, r.a, r.b, r.slope) })
	}
}

// agree reports an error if the sets disagree. It stores the results of the first set in want.
func (r *trial) agree(sets []*Set, apply func(*Set)) {
	for k, s := range sets {
		if apply(s); k == 0 {
			copy(r.want, r.y)
			continue
		}
		for i, v := range r.y {
			if w := r.want[i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
				r.t.Errorf("of %g (%#08x) %s gives %g, %s %g", r.x[i], math.Float32bits(r.x[i]), s.Name, v,
					sets[0].Name, w)
				return
			}
		}
	}
}
