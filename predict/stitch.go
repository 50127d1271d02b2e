package predict

import (
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// maxScores bounds the scores of one picture, in numbers: 2 GiB.
const maxScores = 1 << 29

// stitch puts the scores of a picture's windows together.
type stitch struct {
	windows *data.Windows
	sums    tensor.Tensor // f32 [C,H,W], for the scaled picture; without shape before the first window
	counts  []float32     // (H, W): number of windows that show each pixel
	err     error         // error of the picture
}

// add adds the scores of a window, f32 [C,h,w].
func (s *stitch) add(scores tensor.Tensor, window data.Window) error {
	classes, shape := scores.Shape[0], s.windows.Info().Shape
	if s.sums.Shape == nil {
		high, width := s.windows.Size(window.Sample)
		if n := classes * max(window.Height*window.Width, high*width); n > maxScores {
			return problem.Advise("scale it down",
				"%s: %d x %d pixels with scores of %s need more memory than 2 GiB",
				s.windows.Source.Name(window.Sample), width, high, problem.Plural(classes, "class"))
		}
		s.sums = tensor.New(tensor.F32, classes, window.Height, window.Width)
		s.counts = make([]float32, window.Height*window.Width)
	}
	high, width := shape[0], shape[1]
	scaled := scaledScores(scores, high, width).F32()
	high, rows, columns := min(high, window.Height-window.Y), high, min(width, window.Width-window.X)
	sums := s.sums.F32()
	for y := range high {
		to := (window.Y+y)*window.Width + window.X
		for x := range columns {
			s.counts[to+x]++
		}
		for c := range classes {
			from := scaled[(c*rows+y)*width:][:columns]
			for x, v := range from {
				sums[c*window.Height*window.Width+to+x] += v
			}
		}
	}
	return nil
}

// end returns the scores of a picture at its original size, and prepares s for the next picture.
func (s *stitch) end(sample int) (tensor.Tensor, error) {
	sums, counts, wrong := s.sums, s.counts, s.err
	s.sums, s.counts, s.err = tensor.Tensor{}, nil, nil
	if wrong != nil {
		return tensor.Tensor{}, wrong
	}
	for i, v := range sums.F32() {
		sums.F32()[i] = v / counts[i%len(counts)]
	}
	h, w := s.windows.Size(sample)
	return scaledScores(sums, h, w), nil
}

// scaledScores returns scores, f32 [C,H,W], at another size, by bilinear
// interpolation between the middles of pixels, as PyTorch's interpolate does
// without align_corners.
func scaledScores(scores tensor.Tensor, h, w int) tensor.Tensor {
	if slices.Equal(scores.Shape[1:], []int{h, w}) {
		return scores
	}
	out := tensor.New(tensor.F32, scores.Shape[0], h, w)
	down, across := between(scores.Shape[1], h), between(scores.Shape[2], w)
	from, to, width := scores.F32(), out.F32(), scores.Shape[2]
	for c := range scores.Shape[0] {
		plane := from[c*scores.Shape[1]*width:]
		for y, d := range down {
			upper, lower := plane[d.first*width:], plane[d.second*width:]
			for x, a := range across {
				above := a.mix(upper[a.first], upper[a.second])
				below := a.mix(lower[a.first], lower[a.second])
				to[(c*h+y)*w+x] = float32(float64(above*(1-d.weight)) + float64(below*d.weight))
			}
		}
	}
	return out
}

// neighbours are the two pixels on either side of a pixel in a picture of another size, and the
// weight of the second.
type neighbours struct {
	first, second int
	weight        float64
}

func (n neighbours) mix(first, second float32) float64 {
	return float64(float64(first)*(1-n.weight)) + float64(float64(second)*n.weight)
}

// between returns, for each of n pixels along a side, its neighbours if the same side is divided into the
// given number of pixels.
func between(divisions, n int) []neighbours {
	all := make([]neighbours, n)
	for i := range all {
		at := max(0, float64((float64(i)+0.5)*float64(divisions)/float64(n))-0.5)
		first := min(int(at), divisions-1)
		all[i] = neighbours{first, min(first+1, divisions-1), at - float64(first)}
	}
	return all
}
