package data

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/bnctl/bnctl/tensor"
)

// Statistics describes the samples and labels of a source.
type Statistics struct {
	PerClass []int     // number of labels of each class (if a label is a class number, of samples); or of boxes
	Ignored  int       // number of labels or elements of labels that are -1; or of ignored boxes
	Targets  []Target  // statistics of the numbers of Info.Targets
	Smallest [2]int    // least height and least width of the pictures; 0 for arrays
	Largest  [2]int    // greatest height and greatest width
	Mean     []float64 // per channel of pictures, from 0 to 255; one number for arrays
	Std      []float64 // standard deviation, in the same form as Mean
	// ImageMean and ImageStd give each picture the same weight, whatever its size. ImageMean is the mean of the
	// pictures' means. For ImageStd, the mean squared deviation of the pixels from ImageMean is computed for
	// each picture. ImageStd is the root of the mean of these.
	ImageMean, ImageStd []float64
}

// Describe reads all samples of a source and returns their statistics. The sums over
// pictures are exact; only the final division rounds.
func Describe(ctx context.Context, src Source) (Statistics, error) {
	info := src.Info()
	s := Statistics{PerClass: make([]int, len(info.Classes))}
	var err error
	if s.Targets, err = DescribeTargets(ctx, src); err != nil {
		return s, err
	}
	for i := range info.Len {
		labels, err := src.Label(ctx, i)
		if err != nil {
			return s, err
		}
		s.count(info, labels)
	}
	if info.Pictures() {
		err = s.describePictures(ctx, src)
	} else {
		err = s.describeArrays(ctx, src)
	}
	return s, err
}

// count counts the label of a sample.
func (s *Statistics) count(info Info, labels []int32) {
	if info.Boxes {
		s.countBoxes(labels)
		return
	}
	for k, label := range labels {
		switch {
		case info.Targets != nil:
			if n := Number(label); n != n {
				s.Ignored++
			}
		case label < 0:
			s.Ignored++
		case !info.MultiLabel:
			s.PerClass[label]++
		case label == 1:
			s.PerClass[k]++
		}
	}
}

// countBoxes counts the boxes of a sample.
func (s *Statistics) countBoxes(labels []int32) {
	for ; len(labels) >= BoxFields; labels = labels[BoxFields:] {
		switch class := BoxOf(labels).Class; {
		case class >= 0:
			s.PerClass[class]++
		case class != NoBox:
			s.Ignored++
		}
	}
}

// channelSums are exact sums over the pixels of pictures.
type channelSums struct {
	count          uint64
	sum, low, high [3]uint64 // sums of the values; sums of their squares in 128 bits, as high and low words
	small, large   [2]int
	means, squares [3]float64 // sums over pictures: of the mean value, and of the mean squared value
}

func (s *Statistics) describePictures(ctx context.Context, src Source) error {
	info := src.Info()
	const perPart = 64 // number of samples that one goroutine sums up at a time
	chunks := make([]channelSums, (info.Len+perPart-1)/perPart)
	err := eachSample(len(chunks), func(k int) error {
		for i := k * perPart; i < min((k+1)*perPart, info.Len); i++ {
			t, err := src.Sample(ctx, i)
			if err != nil {
				return err
			}
			chunks[k].add(t)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	total := chunks[0]
	for _, p := range chunks[1:] {
		total.merge(p)
	}
	channels := 3
	if info.Shape != nil {
		channels = info.Shape[2]
	}
	s.Smallest, s.Largest = total.small, total.large
	for c := range channels {
		n := float64(total.count)
		mean := float64(total.sum[c]) / n
		square := (float64(float64(total.high[c])*0x1p64) + float64(total.low[c])) / n
		s.Mean = append(s.Mean, mean)
		s.Std = append(s.Std, math.Sqrt(max(0, square-float64(mean*mean))))
		mean = total.means[c] / float64(info.Len)
		s.ImageMean = append(s.ImageMean, mean)
		s.ImageStd = append(s.ImageStd, math.Sqrt(max(0, total.squares[c]/float64(info.Len)-float64(mean*mean))))
	}
	return nil
}

// add adds one picture to the sums. The sums of one picture fit into 64 bits (maxPixels * 255^2).
func (s *channelSums) add(t tensor.Tensor) {
	h, w, c := t.Shape[0], t.Shape[1], t.Shape[2]
	one := channelSums{count: uint64(h * w), small: [2]int{h, w}, large: [2]int{h, w}}
	for i := 0; i < len(t.Bytes); i += c {
		for k, v := range t.Bytes[i : i+c] {
			one.sum[k] += uint64(v)
			one.low[k] += uint64(v) * uint64(v)
		}
	}
	for k := range one.means {
		one.means[k], one.squares[k] = float64(one.sum[k])/float64(h*w), float64(one.low[k])/float64(h*w)
	}
	if s.count == 0 {
		*s = one
		return
	}
	s.merge(one)
}

func (s *channelSums) merge(o channelSums) {
	s.count += o.count
	for k := range s.sum {
		s.means[k] += o.means[k]
		s.squares[k] += o.squares[k]
		s.sum[k] += o.sum[k]
		var carry uint64
		s.low[k], carry = bits.Add64(s.low[k], o.low[k], 0)
		s.high[k] += o.high[k] + carry
	}
	for axis := range 2 {
		s.small[axis] = min(s.small[axis], o.small[axis])
		s.large[axis] = max(s.large[axis], o.large[axis])
	}
}

// describeArrays reads all elements in order, in two passes.
func (s *Statistics) describeArrays(ctx context.Context, src Source) error {
	sum, squares, n := 0.0, 0.0, 0.0
	pass := func(visit func(v float64)) error {
		for i := range src.Info().Len {
			t, err := src.Sample(ctx, i)
			if err != nil {
				return err
			}
			for _, v := range t.F32() {
				visit(float64(v))
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	}
	if err := pass(func(v float64) { sum += v; n++ }); err != nil {
		return err
	}
	mean := sum / n
	if err := pass(func(v float64) { squares += float64((v - mean) * (v - mean)) }); err != nil {
		return err
	}
	s.Mean, s.Std = []float64{mean}, []float64{math.Sqrt(squares / n)}
	return nil
}

// Sizes returns the range of picture sizes as text, width x height: "32x32", or "from 75x56 to 500x375". It
// returns "" for arrays.
func (s Statistics) Sizes() string {
	if s.Largest == [2]int{} {
		return ""
	}
	small := fmt.Sprintf("%dx%d", s.Smallest[1], s.Smallest[0])
	large := fmt.Sprintf("%dx%d", s.Largest[1], s.Largest[0])
	if small == large {
		return small
	}
	return fmt.Sprintf("from %s to %s", small, large)
}
