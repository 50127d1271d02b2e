package operations

import (
	"slices"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// buildSoftmax computes the function that class.Softmax defines, for one line with
// contiguous elements or for all interleaved lines at once.
func buildSoftmax(c *plan.Compiler) run.Action {
	x, y, axis := c.In(0), c.Out(0), c.Node().Int("axis")
	strides := y.Strides()
	l := line{y.Shape[axis], strides[axis]}
	shape := slices.Clone(y.Shape)
	shape[axis] = 1
	s := softmax{line: l, kernels: c.Kernels(), logarithm: c.Node().Op == graph.LogSoftmax}
	return run.ByUnit(y.Kind, &run.ByRows{Work: 4 * y.Count, Row: func(f *run.Frame, w *run.Worker, i, piece,
		pieces int) {
		in, out := layout.View[float32](f.Unit(x, w, y.Kind, i)), layout.View[float32](f.Unit(y, w, y.Kind, i))
		layout.WalkPiece(shape, strides, nil, nil, piece, pieces, func(n, at, _, _, step, _, _ int) {
			switch {
			case l.step == 1 && step == l.n:
				for k, lines := 0, max(1, maxInterleaved/l.n); k < n; k += lines {
					s.contiguousLines(out[at+k*l.n:][:min(lines, n-k)*l.n], in[at+k*l.n:])
				}
			case l.step == 1:
				for k := range n {
					s.contiguousLines(out[at+k*step:][:l.n], in[at+k*step:])
				}
			case step == 1:
				for from := 0; from < n; from += maxInterleaved {
					s.interleavedLines(out[at+from:], in[at+from:], min(maxInterleaved, n-from), w)
				}
			default:
				for k := range n {
					s.stridedLine(out[at+k*step:], in[at+k*step:], w)
				}
			}
		})
	}})
}

// maxInterleaved is the maximum number of interleaved lines that are computed together. For contiguous
// lines, it is the maximum number of their elements together.
const maxInterleaved = 1024

// softmax computes the softmax, or its logarithm, of lines.
type softmax struct {
	line
	kernels   *kernel.Set
	logarithm bool
}

// contiguousLines computes several lines that follow each other, each with contiguous elements.
func (s *softmax) contiguousLines(y, x []float32) {
	x = x[:len(y)]
	for at := 0; at < len(y); at += s.n {
		s.centre(y[at:][:s.n], x[at:][:s.n])
	}
	s.kernels.Apply(kernel.ExpNormal, y, y, 0, 0, class.ExpNormal)
	for at := 0; at < len(y); at += s.n {
		line := y[at:][:s.n]
		total := lineSum(line)
		if s.logarithm {
			s.centre(line, x[at:][:s.n])
			total = class.Log(total)
			for i := range line {
				line[i] -= total
			}
			continue
		}
		whole := s.n / wholeVectors * wholeVectors
		s.kernels.Apply(kernel.Over, line[:whole], line[:whole], total, 0,
			func(v float32) float32 { return v / total })
		for i := range line[whole:] {
			line[whole+i] /= total
		}
	}
}

// wholeVectors is a multiple of the number of lanes in every set of kernels.
const wholeVectors = 16

// centre sets y to x minus the largest element of x.
func (s *softmax) centre(y, x []float32) {
	most := x[0]
	for _, v := range x {
		if v > most {
			most = v
		}
	}
	for i, v := range x {
		y[i] = v - most
	}
}

// lineSum returns the sum of a line as class.Softmax defines it. Two chains, of two blocks, are computed at
// once.
func lineSum(y []float32) float32 {
	const n = class.BlockPositions
	total := 0.0
	for len(y) > n {
		a, b, second := float32(0), float32(0), y[n:min(2*n, len(y))]
		for i, v := range second {
			a, b = a+y[i], b+v
		}
		for _, v := range y[len(second):n] {
			a += v
		}
		total = (total + float64(a)) + float64(b)
		y = y[n+len(second):]
	}
	last := float32(0)
	for _, v := range y {
		last += v
	}
	return float32(total + float64(last))
}

// interleavedLines computes n lines with elements that are interleaved.
func (s *softmax) interleavedLines(y, x []float32, n int, w *run.Worker) {
	workspace := w.Floats(2 * n)
	most, block := workspace[:n], workspace[n:]
	total := w.Doubles(n)
	copy(most, x)
	for k := range s.n {
		for i, v := range x[k*s.step:][:n] {
			if v > most[i] {
				most[i] = v
			}
		}
	}
	clear(total)
	for k := range s.n {
		if k%class.BlockPositions == 0 {
			addBlocks(total, block, k == 0)
			clear(block)
		}
		e := y[k*s.step:][:n]
		s.kernels.Combine(kernel.Sub, e, x[k*s.step:][:n], most)
		s.kernels.Apply(kernel.ExpNormal, e, e, 0, 0, class.ExpNormal)
		s.kernels.Add(block, block, e)
	}
	addBlocks(total, block, false)
	for i, t := range total {
		block[i] = float32(t)
	}
	if s.logarithm {
		s.kernels.Apply(kernel.Log, block, block, 0, 0, class.Log)
	}
	for k := range s.n {
		e := y[k*s.step:][:n]
		if !s.logarithm {
			s.kernels.Combine(kernel.Div, e, e, block)
			continue
		}
		s.kernels.Combine(kernel.Sub, e, x[k*s.step:][:n], most)
		s.kernels.Combine(kernel.Sub, e, e, block)
	}
}

// addBlocks adds a block to the total. For the first block there is nothing to add, and addBlocks does
// nothing.
func addBlocks(total []float64, block []float32, first bool) {
	if first {
		return
	}
	for i, v := range block {
		total[i] += float64(v)
	}
}

// stridedLine computes a line with elements that are not contiguous.
func (s *softmax) stridedLine(y, x []float32, w *run.Worker) {
	workspace := w.Floats(2 * s.n)
	from, to := workspace[:s.n], workspace[s.n:]
	for k := range s.n {
		from[k] = x[k*s.step]
	}
	s.contiguousLines(to, from)
	for k, v := range to {
		y[k*s.step] = v
	}
}
