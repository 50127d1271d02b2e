package predict

import (
	"context"
	"fmt"
	"image"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
)

// Mistakes are the samples of a source that were answered wrongly.
type Mistakes struct {
	Order string // order of First: "the surest first"
	Wrong int    // number of all samples that were answered wrongly
	First []Mistake
	Key   []MaskClass // the classes of masks or boxes that First draws
	Pairs bool        // each picture is two pictures side by side: label and answer

	limit int // maximum length of First
}

// Mistake is a sample that was answered wrongly.
type Mistake struct {
	Sample int
	Rows   []MistakeRow

	draw func(ctx context.Context, side int) (*image.RGBA, error) // draws the mistake; nil: the sample is drawn
}

// MistakeRow is a line below the picture of a mistake: a term, a label or number, and its
// probability.
type MistakeRow struct {
	Term   string `json:"term"`
	Value  string `json:"value"`
	Number string `json:"number,omitempty"`
	Wrong  bool   `json:"wrong,omitempty"`
}

// Draw draws the sample, which is from src, into a square of side pixels. For a mask it draws two pictures:
// with the label on the left, and with the answer on the right.
func (x *Mistake) Draw(ctx context.Context, src data.Source, side int) (*image.RGBA, error) {
	if x.draw != nil {
		return x.draw(ctx, side)
	}
	return data.Grid(ctx, src, []int{x.Sample}, 1, side)
}

// Mistakes returns the samples of src that were answered wrongly by m, the evaluated model. First
// has the worst of them, up to the given number, in an order that depends on the labels:
//
//   - one class: by the probability of the wrong class
//   - several labels, at least one of them wrong: by the loss
//   - numbers: by the squared error in units of their deviations
//   - masks: by the share of wrong pixels; there are at most Details.Masks of them
//   - boxes: by the number of objects that are missed, of detections without an object, and of wrong classes
func (d *Details) Mistakes(m *models.Model, src data.Source, limit int) *Mistakes {
	x := &Mistakes{limit: limit}
	d.worst(m, src, x)
	return x
}

// worst returns the answers that are wrong, the worst first, and puts the first of them into x.
func (d *Details) worst(m *models.Model, src data.Source, x *Mistakes) *Details {
	switch info := src.Info(); {
	case d.Boxes != nil:
		return d.worstBoxes(m, src, x)
	case info.Masks:
		return d.worstMasks(m, src, x)
	case info.Targets != nil:
		return d.worstNumbers(m, x)
	case info.MultiLabel:
		return d.worstLabels(m, x)
	}
	x.Order = "the surest first"
	wrong := &Details{answers: d.mistakes()}
	for _, a := range wrong.answers[:min(len(wrong.answers), x.limit)] {
		rows := []MistakeRow{{"said", Label(m, a.predicted), percent(a.probability), true},
			{"is", Label(m, a.label), percent(a.ofLabel), false}}
		if a.probability != a.probability {
			rows = []MistakeRow{{"said", "no number", "", true}, {"is", Label(m, a.label), "", false}}
		}
		x.First = append(x.First, Mistake{Sample: a.sample, Rows: rows})
	}
	x.Wrong = len(wrong.answers)
	return wrong
}

func percent(p float64) string { return fmt.Sprintf("%.1f %%", 100*p) }
