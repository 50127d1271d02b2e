package kernel

import (
	"fmt"
	"slices"
)

// resampleKernel is the assembly of Resample for images with at least minChannels channels. It computes
// count pixels. first is the index of the first term of the first of these pixels.
type resampleKernel struct {
	minChannels int
	run         func(y *float32, x *float32, ends *int32, first int, pixels *int32, weights *float64, count int,
		channels int)
	average func(y *float32, x *float32, ends *int32, first int, pixels *int32, divisors *float64, count int,
		channels int)
}

// Resampling describes an image with pixels that are weighted sums of pixels of another
// one: pixel i sums the terms from ends[i-1] to ends[i] of the lists.
type Resampling struct {
	ends    []int32
	pixels  []int32 // offsets of the pixels of all terms, in bytes
	weights []float64
	last    int // the largest of the offsets in pixels; -1 without pixels
}

// NewResampling checks and completes the lists. ends must not decrease, and its last element must be the
// number of pixels and of weights.
func NewResampling(ends, pixels []int32, weights []float64) *Resampling {
	if len(weights) != len(pixels) {
		panic(fmt.Sprintf("kernel.NewResampling: %d weights for %d pixels", len(weights), len(pixels)))
	}
	return completed(&Resampling{ends, pixels, weights, -1})
}

// completed checks and completes the lists.
func completed(m *Resampling) *Resampling {
	all, ends, pixels := 0, m.ends, m.pixels
	if len(ends) > 0 {
		all = int(ends[len(ends)-1])
	}
	if len(pixels) != all || !slices.IsSorted(ends) || all > 0 && slices.Min(pixels) < 0 {
		panic(fmt.Sprintf("kernel.Resampling: %d pixels for %d", len(pixels), all))
	}
	for _, at := range pixels {
		m.last = max(m.last, int(at))
	}
	return m
}

// Terms returns the number of terms in all sums.
func (m *Resampling) Terms() int { return len(m.pixels) }

// begin returns the index of the first term of pixel i.
func (m *Resampling) begin(i int) int {
	if i == 0 {
		return 0
	}
	return int(m.ends[i-1])
}

// Resample sets y to the pixels [from, to) of an image of the given number of channels. A pixel is, per
// channel, the sum of its terms: pixels of the image x times their weights. The sum starts from 0 and
// adds the terms in order in float64; every product and every sum is rounded. A pixel without terms is 0.
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

// Averages describes an image with pixels that are averages of pixels of another one, and
// the divisors of their sums.
type Averages struct {
	terms    *Resampling
	divisors []float64
}

// NewAverages checks and completes lists: see NewResampling. There is a divisor for each pixel.
func NewAverages(ends, pixels []int32, divisors []float64) *Averages {
	if len(divisors) != len(ends) {
		panic(fmt.Sprintf("kernel.NewAverages: %d divisors for %d pixels", len(divisors), len(ends)))
	}
	return &Averages{completed(&Resampling{ends, pixels, nil, -1}), divisors}
}

// Average sets y to the pixels [from, to) of an image of the given number of channels. A pixel is, per
// channel, the sum of its terms, which are pixels of the image x, divided by its divisor. The sum starts
// from 0 and adds the terms in order in float64. The quotient is rounded to float32.
func (s *Set) Average(y, x []float32, channels int, a *Averages, from, to int) {
	m := a.terms
	if from < 0 || to > len(m.ends) || len(y) < (to-from)*channels || m.last >= 0 && len(x) < m.last/4+channels {
		panic(fmt.Sprintf("kernel.Average: pixels [%d, %d) of %d, of %d channels: %d values of %d", from, to,
			len(m.ends), channels, len(y), len(x)))
	}
	if k := s.resample; k != nil && channels >= k.minChannels && from < to && len(m.pixels) > 0 {
		k.average(&y[0], &x[0], &m.ends[from], m.begin(from), &m.pixels[0], &a.divisors[from], to-from, channels)
		return
	}
	for p := from; p < to; p++ {
		for c := range channels {
			sum := 0.0
			for _, at := range m.pixels[m.begin(p):m.ends[p]] {
				sum += float64(x[int(at)/4+c])
			}
			y[(p-from)*channels+c] = float32(sum / a.divisors[p])
		}
	}
}
