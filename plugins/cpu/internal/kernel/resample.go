package kernel

import (
	"fmt"
	"slices"
)

// resampleKernel is the assembly of Resample for that number of channels and more. It computes
// count pixels; first is the index of the first one's first term.
type resampleKernel struct {
	minChannels int
	run         func(y *float32, x *float32, ends *int32, first int, pixels *int32, weights *float64, count int,
		channels int)
}

// Resampling says which pixels of an image each pixel of another one is a weighted sum of: the
// terms from ends[i-1] to ends[i] of the lists.
type Resampling struct {
	ends    []int32
	pixels  []int32 // where they begin, in bytes
	weights []float64
	last    int // the pixel that begins last; -1 without any
}

// NewResampling checks and completes lists: ends never fall, and the last is the number of pixels
// and of weights.
func NewResampling(ends, pixels []int32, weights []float64) *Resampling {
	all := 0
	if len(ends) > 0 {
		all = int(ends[len(ends)-1])
	}
	if len(pixels) != all || len(weights) != all || !slices.IsSorted(ends) || all > 0 && slices.Min(pixels) < 0 {
		panic(fmt.Sprintf("kernel.NewResampling: %d pixels and %d weights for %d", len(pixels), len(weights), all))
	}
	m := &Resampling{ends, pixels, weights, -1}
	for _, at := range pixels {
		m.last = max(m.last, int(at))
	}
	return m
}

// Terms returns the number of terms of all sums together.
func (m *Resampling) Terms() int { return len(m.pixels) }

// begin returns the index of the first term of pixel i.
func (m *Resampling) begin(i int) int {
	if i == 0 {
		return 0
	}
	return int(m.ends[i-1])
}

// Resample sets the pixels [from, to) of an image of that number of channels, which y begins with,
// per channel, to sums over pixels of the image x with a weight for each: from 0 on in their order,
// in float64, every product and every sum rounded. A pixel without terms is 0.
func (s *Set) Resample(y, x []float32, channels int, m *Resampling, from, to int) {
	if from < 0 || to > len(m.ends) || len(y) < (to-from)*channels ||
		m.last >= 0 && len(x) < m.last/4+channels {
		panic(fmt.Sprintf("kernel.Resample: pixels [%d, %d) of %d, of %d channels: %d values of %d", from, to,
			len(m.ends), channels, len(y), len(x)))
	}
	if k := s.resample; k != nil && channels >= k.minChannels && from < to && len(m.pixels) > 0 {
		k.run(&y[0], &x[0], &m.ends[from], m.begin(from), &m.pixels[0], &m.weights[0], to-from, channels)
		return
	}
	for p := from; p < to; p++ {
		first, end := m.begin(p), int(m.ends[p])
		for c := range channels {
			sum := 0.0
			for i := first; i < end; i++ {
				sum += float64(m.weights[i] * float64(x[int(m.pixels[i])/4+c]))
			}
			y[(p-from)*channels+c] = float32(sum)
		}
	}
}
