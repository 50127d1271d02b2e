package predict

import (
	"time"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// Report is an evaluation by the names of classes, as JSON has it.
type Report struct {
	Samples    int               `json:"samples"`
	Correct    int               `json:"correct"`        // labels met
	Accuracy   float64           `json:"accuracy"`       // share of labels met, 0 to 1
	Top5       float64           `json:"top5"`           // share of labels among the five largest outputs
	Loss       train.Figure      `json:"loss"`           // mean cross-entropy of a label; null if not finite
	PerClass   map[string]*Count `json:"per_class"`      // by Label; null where there is nothing to count
	Confusion  [][]int           `json:"confusion"`      // [label][predicted]
	MIoU       *train.Figure     `json:"miou,omitempty"` // where labels are masks
	Throughput float64           `json:"images_per_s"`
	NotFinite  int               `json:"not_finite"` // labels for which the outputs are not finite: wrong
}

// Count is how many labels of a class there were, and how many were met. With
// masks IoU is the class's intersection over union, null in JSON where the class
// is neither a label nor predicted.
type Count struct {
	N       int           `json:"n"`       // labels
	Correct int           `json:"correct"` // of them met
	IoU     *train.Figure `json:"iou,omitempty"`
}

// Wrong is a line that says how many labels count as wrong because
// outputs are not finite; "" if none.
func (r *Report) Wrong() string {
	what := "sample"
	if r.MIoU != nil {
		what = "pixel"
	}
	if r.NotFinite == 0 {
		return ""
	}
	return problem.Counted(r.NotFinite, what) +
		" counted as wrong: the outputs are not finite (NaN or infinite)"
}

// NewReport describes an evaluation of m that took so long.
func NewReport(m *models.Model, e *train.Evaluation, took time.Duration) *Report {
	r := &Report{Samples: e.Samples, Correct: e.Correct, NotFinite: e.NotFinite, Accuracy: e.Accuracy(),
		Top5: e.Top5Accuracy(), Loss: train.Figure(e.Loss()), PerClass: map[string]*Count{}, Confusion: e.Confusion,
		Throughput: float64(e.Samples) / max(took.Seconds(), 1e-9)}
	for i, k := range e.PerClass {
		c := &Count{N: k.N, Correct: k.Correct}
		if e.Masks {
			overlap := e.Overlap(i)
			c.IoU = &overlap
		}
		if k.N == 0 && (c.IoU == nil || *c.IoU != *c.IoU) { // neither a label nor, of pixels, predicted
			c = nil
		}
		r.PerClass[Label(m, i)] = c
	}
	if e.Masks {
		mean := e.MeanOverlap()
		r.MIoU = &mean
	}
	return r
}
