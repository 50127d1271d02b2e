package devicetest

import (
	"context"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// offsets are the tested means of values, in standard deviations.
var offsets = []float64{0, 1, 100, 1000, -1000}

// Sizes of each replica in the cases of moments.
const (
	momentChannels = 17
	momentSide     = 13
)

func momentsCases() []Case {
	const rule = "docs/numerics.md, section 1: variance within 1e-6 relative up to mean/std = 1000"
	p := probe{name: "far from zero", op: graph.Moments,
		operands: []operand{rows(momentChannels, momentSide, momentSide)}}
	var cases []Case
	for _, mean := range offsets {
		cases = append(cases, newCase(fmt.Sprintf("moments: mean/std %g", mean), rule,
			p.program,
			func(ctx context.Context, open Opener) error { return momentsAt(ctx, open, p, mean) }))
	}
	return cases
}

// momentsAt compares moments of values around a mean with the moments of ref.
func momentsAt(ctx context.Context, open Opener, p probe, mean float64) error {
	p.operands[0] = p.operands[0].filledBy(func(d *tensor.Draws, t tensor.Tensor) {
		set(t, func(int) float64 { return mean + d.Normal() })
	})
	s, err := p.setting()
	if err != nil {
		return err
	}
	want, err := s.reference(ctx)
	if err != nil {
		return err
	}
	m, err := loaded(ctx, open, s)
	if err != nil {
		return err
	}
	defer m.Close()
	got, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	return closeMoments(got[0].F64(), want[0].F64(), s.rows)
}

// closeMoments returns an error unless the counts are equal, the means differ by at most 1e-6
// standard deviations plus 1e-7 of the mean, and the squared deviations by at most 1e-6, relative.
func closeMoments(got, want []float64, rows []int) error {
	const width = 1 + 2*momentChannels
	for i := range want {
		r, k := i/width, i%width
		bound := 0.0
		switch {
		case k > momentChannels:
			bound = 1e-6 * want[i]
		case k > 0 && rows[r] > 0:
			bound = 1e-6*math.Sqrt(want[i+momentChannels]/want[r*width]) + 1e-7*math.Abs(want[i])
		}
		if d := math.Abs(got[i] - want[i]); !(d <= bound) {
			return fmt.Errorf("replica %d, element %d of (n, means, deviations): got %g, want %g (off by %.3g, "+
				"allowed %.3g)", r, k, got[i], want[i], d, bound)
		}
	}
	return nil
}
