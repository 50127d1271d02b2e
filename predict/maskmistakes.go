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
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// pageMasks bounds the masks that are kept for a page: each is as large as its picture.
const pageMasks = 100

// masked counts what was answered for the pixels of a sample.
type masked struct {
	sample, pixels, wrong int // pixels with a label
	h, w                  int
	label, predicted      []int16 // of the worst; else nil
}

func (a masked) fraction() float64 { return float64(a.wrong) / float64(max(a.pixels, 1)) }

// observeMask is train.EvalOptions.ObserveMask.
func (d *Details) observeMask(sample int, label []int32, scores tensor.Tensor) {
	s, n := scores.F32(), len(label)
	a := masked{sample: sample, h: scores.Shape[len(scores.Shape)-2], w: scores.Shape[len(scores.Shape)-1],
		label: make([]int16, n), predicted: make([]int16, n)}
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
	d.masks = append(d.masks, a)
	d.stored = append(d.stored, len(d.masks)-1)
	if len(d.stored) > pageMasks { // the least bad one is let go of
		least := 0
		for i, k := range d.stored {
			if d.masks[k].fraction() <= d.masks[d.stored[least]].fraction() {
				least = i
			}
		}
		gone := &d.masks[d.stored[least]]
		gone.label, gone.predicted = nil, nil
		d.stored = slices.Delete(d.stored, least, least+1)
	}
}

// worstMasks is worst of masks.
func (d *Details) worstMasks(m *models.Model, src data.Source, page *mistakesPage) *Details {
	page.Order = "the largest share of wrong pixels first, labels on the left and answers on the right"
	all := slices.DeleteFunc(slices.Clone(d.masks), func(a masked) bool { return a.wrong == 0 })
	slices.SortStableFunc(all, func(a, b masked) int { return cmp.Compare(b.fraction(), a.fraction()) })
	for _, a := range all {
		if a.label != nil && len(page.Mistakes) < pageMasks {
			page.Mistakes = append(page.Mistakes, mistake{sample: a.sample, draw: a.drawn(m, src), Rows: []mistakeRow{
				{"wrong", fmt.Sprintf("%d of %s", a.wrong, problem.Plural(a.pixels, "pixel")),
					percent(a.fraction()), true}}})
		}
	}
	page.Wrong = len(all)
	return &Details{masks: all}
}

// drawn returns what draws label and answer over the picture as the model sees it.
func (a masked) drawn(m *models.Model, src data.Source) func(context.Context) (*image.RGBA, error) {
	return func(ctx context.Context) (*image.RGBA, error) {
		picture, err := src.Sample(ctx, a.sample)
		if err != nil {
			return nil, err
		}
		if picture.Shape[0] != a.h || picture.Shape[1] != a.w {
			t := train.Transform(m, src.Info())
			if t.Height != a.h || t.Width != a.w {
				return nil, fmt.Errorf("%s: the answer is %d x %d, and the picture is not", src.Name(a.sample), a.h, a.w)
			}
			seen := tensor.New(tensor.U8, t.Height, t.Width, t.Channels)
			t.Apply(seen, picture, nil)
			picture = seen
		}
		label, predicted := data.Overlay(picture, unpacked(a.label)), data.Overlay(picture, unpacked(a.predicted))
		return data.Cells([]tensor.Tensor{label, predicted}, pageSide), nil
	}
}

func unpacked(mask []int16) []int32 {
	out := make([]int32, len(mask))
	for i, v := range mask {
		out[i] = int32(v)
	}
	return out
}

// writeMasks is WriteCSV of masks: how many pixels of a sample have a label, and how many of these are wrong.
func (d *Details) writeMasks(to io.Writer, src data.Source) error {
	lines := [][]string{{"sample", "pixels", "wrong"}}
	for _, a := range d.masks {
		lines = append(lines, []string{src.Name(a.sample), strconv.Itoa(a.pixels), strconv.Itoa(a.wrong)})
	}
	return csv.NewWriter(to).WriteAll(lines)
}
