package predict

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"image"
	"io"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// masked counts the labelled pixels of a sample, and the wrong ones among them.
type masked struct{ sample, pixels, wrong int } // pixels with a label

func (a masked) fraction() float64 { return float64(a.wrong) / float64(max(a.pixels, 1)) }

// painted is a mask and its answer, a class for each pixel.
type painted struct {
	masked
	h, w             int
	label, predicted []int16
}

// observeMask implements evaluation.Observers.ObserveMask.
func (d *Details) observeMask(sample int, label []int32, scores tensor.Tensor) {
	s, n := scores.F32(), len(label)
	a := painted{masked: masked{sample: sample}, h: scores.Shape[len(scores.Shape)-2],
		w: scores.Shape[len(scores.Shape)-1], label: make([]int16, n), predicted: make([]int16, n)}
	for at, l := range label {
		best := 0
		for c := 1; c*n < len(s); c++ {
			if s[c*n+at] > s[best*n+at] {
				best = c
			}
		}
		a.label[at], a.predicted[at] = int16(l), int16(best)
		if l < 0 {
			continue
		}
		if a.pixels++; best != int(l) || s[best*n+at] != s[best*n+at] {
			a.wrong++
		}
	}
	if d.masks = append(d.masks, a.masked); a.wrong == 0 {
		return
	}
	at := len(d.stored)
	for at > 0 && d.stored[at-1].fraction() < a.fraction() {
		at--
	}
	if at < d.Masks {
		d.stored = slices.Insert(d.stored, at, a)
		// If there are too many masks, the one with the fewest wrong pixels is dropped.
		d.stored = slices.Delete(d.stored, min(len(d.stored), d.Masks), len(d.stored))
	}
}

// worstMasks implements worst for masks.
func (d *Details) worstMasks(m *models.Model, src data.Source, x *Mistakes) *Details {
	x.Order = "the largest share of wrong pixels first, labels on the left and answers on the right"
	all := slices.DeleteFunc(slices.Clone(d.masks), func(a masked) bool { return a.wrong == 0 })
	slices.SortStableFunc(all, func(a, b masked) int { return cmp.Compare(b.fraction(), a.fraction()) })
	worst := d.stored[:min(len(d.stored), x.limit)]
	for _, a := range worst {
		x.First = append(x.First, Mistake{Sample: a.sample, draw: a.drawn(m, src), Rows: []MistakeRow{
			{"wrong", fmt.Sprintf("%d of %s", a.wrong, problem.Plural(a.pixels, "pixel")),
				percent(a.fraction()), true}}})
		if label, predicted := a.mostly(); label != predicted {
			row := MistakeRow{"mostly", Label(m, predicted), "in place of " + Label(m, label), false}
			x.First[len(x.First)-1].Rows = append(x.First[len(x.First)-1].Rows, row)
		}
	}
	x.Wrong, x.Key, x.Pairs = len(all), keyOf(m, worst), true
	return &Details{masks: all}
}

// mostly returns the most frequent confusion of a label with a predicted class, the first of equally
// frequent ones. label and predicted are the same if no pixel has another class than its label, as
// with scores that are not numbers.
func (a *painted) mostly() (label, predicted int) {
	counts, most := map[[2]int16]int{}, 0
	for at, l := range a.label {
		if p := a.predicted[at]; l >= 0 && l != p {
			counts[[2]int16{l, p}]++
		}
	}
	for pair, n := range counts {
		l, p := int(pair[0]), int(pair[1])
		if n > most || n == most && (l < label || l == label && p < predicted) {
			label, predicted, most = l, p, n
		}
	}
	return label, predicted
}

// MaskClass is a class as a mask over a picture shows it.
type MaskClass struct {
	Name   string `json:"name"`
	Colour string `json:"colour"` // "#RRGGBB"
}

// keyOf returns the classes that are drawn, in order. Class 0 is not drawn.
func keyOf(m *models.Model, worst []painted) (key []MaskClass) {
	var drawn [data.MaskClasses + 1]bool
	for _, a := range worst {
		for _, side := range [][]int16{a.label, a.predicted} {
			for _, class := range side {
				drawn[uint8(class)] = true // -1, which means no label, is the last
			}
		}
	}
	for class := 1; class < len(drawn); class++ {
		if drawn[class] {
			r, g, b, _ := data.MaskPalette[class].RGBA()
			name := "no label"
			if class < data.MaskClasses {
				name = Label(m, class)
			}
			key = append(key, MaskClass{name, fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)})
		}
	}
	return key
}

// drawn returns a function that draws label and answer over the picture in the form that
// the model sees.
func (a painted) drawn(m *models.Model, src data.Source) func(context.Context, int) (*image.RGBA, error) {
	return func(ctx context.Context, side int) (*image.RGBA, error) {
		picture, err := src.Sample(ctx, a.sample)
		if err != nil {
			return nil, err
		}
		if picture.Shape[0] != a.h || picture.Shape[1] != a.w {
			t := fit.Transform(m, src.Info())
			if t.Height != a.h || t.Width != a.w {
				return nil, fmt.Errorf("%s: the answer is %d x %d, and the picture is not", src.Name(a.sample), a.h, a.w)
			}
			seen := tensor.New(tensor.U8, t.Height, t.Width, t.Channels)
			t.Apply(seen, picture, nil)
			picture = seen
		}
		label, predicted := data.Overlay(picture, unpacked(a.label)), data.Overlay(picture, unpacked(a.predicted))
		return data.Cells([]tensor.Tensor{label, predicted}, side), nil
	}
}

func unpacked(mask []int16) []int32 {
	out := make([]int32, len(mask))
	for i, v := range mask {
		out[i] = int32(v)
	}
	return out
}

// writeMasks implements WriteCSV for masks: how many pixels of a sample have a label, and how many of these
// are wrong.
func (d *Details) writeMasks(w io.Writer, src data.Source) error {
	lines := [][]string{{"sample", "pixels", "wrong"}}
	for _, a := range d.masks {
		lines = append(lines, []string{src.Name(a.sample), strconv.Itoa(a.pixels), strconv.Itoa(a.wrong)})
	}
	return csv.NewWriter(w).WriteAll(lines)
}
