package predict

import (
	"fmt"
	"time"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// Report is an evaluation in the form of its JSON, with the names of classes.
type Report struct {
	Samples    int                `json:"samples"`
	Correct    int                `json:"correct"`        // number of correct labels
	Accuracy   float64            `json:"accuracy"`       // share of correct labels, 0 to 1
	Top5       float64            `json:"top5"`           // share of labels among the five largest outputs
	Loss       evaluation.Figure  `json:"loss"`           // mean cross-entropy of a label; null if not finite
	PerClass   map[string]*Count  `json:"per_class"`      // counts by Label; null if nothing is counted
	Confusion  [][]int            `json:"confusion"`      // [label][predicted]; null for more than 1,000 classes
	MIoU       *evaluation.Figure `json:"miou,omitempty"` // only if labels are masks
	Throughput float64            `json:"images_per_s"`
	NotFinite  int                `json:"not_finite"` // labels with outputs that are not finite: wrong
	MacroF1    evaluation.Figure  `json:"macro_f1"`   // mean F1 of the classes that are labels or are predicted
	// BalancedAccuracy is the mean of the recall of the classes that are labels.
	BalancedAccuracy evaluation.Figure `json:"balanced_accuracy"`
	// ECE is the expected calibration error of the predicted classes over 15 equal ranges of their probability
	// (Guo and others 2017). AUROC is the area under the curve of true positives over false positives, for the
	// second of two classes. It is nil for more classes, or if one class has no sample.
	ECE   *evaluation.Figure `json:"ece,omitempty"`
	AUROC *evaluation.Figure `json:"auroc,omitempty"`
	// Thresholds are from Details.Wish, for two classes.
	Thresholds map[string]*Threshold `json:"thresholds,omitempty"`

	// Confusions has, for more than 1,000 classes, the matrix without its diagonal: by the
	// numbers of label and predicted class, the most frequent first.
	Confusions []evaluation.Misclassification `json:"confusions,omitempty"`

	wish *Wish
}

// denseClasses is the largest number of classes that a report has the whole matrix for.
const denseClasses = 1000

// Count has the number of labels of a class, and how many of them were predicted. With masks IoU is the
// class's intersection over union, null in JSON if the class is neither a label nor predicted.
type Count struct {
	N       int                `json:"n"`       // number of labels of the class
	Correct int                `json:"correct"` // number of those that were predicted
	IoU     *evaluation.Figure `json:"iou,omitempty"`
	// Precision, Recall and F1 compare the class with all others. They are null without predictions,
	// without labels, or without both, respectively.
	Precision evaluation.Figure `json:"precision"`
	Recall    evaluation.Figure `json:"recall"`
	F1        evaluation.Figure `json:"f1"`
}

// mistakes returns a line with the number of labels that count as wrong because outputs are
// not finite, or "" if there are no such labels.
func (r *Report) mistakes() string {
	what := "sample"
	if r.MIoU != nil {
		what = "pixel"
	}
	if r.NotFinite == 0 {
		return ""
	}
	return problem.Plural(r.NotFinite, what) +
		" counted as wrong: the outputs are not finite (NaN or infinite)"
}

// Summary returns a line with the figures that weigh all classes equally, and with the calibration.
// It returns "" for masks, because the table of classes has the overlap of each class. Undefined
// figures are left out: the area for more than two classes, and the calibration without answers.
func (r *Report) Summary() string {
	if r.MIoU != nil || r.Samples == 0 {
		return ""
	}
	text := fmt.Sprintf("balanced accuracy %s  macro F1 %s", r.BalancedAccuracy.Percent(), r.MacroF1.Percent())
	if r.AUROC != nil {
		text += fmt.Sprintf("  AUROC %.4f", *r.AUROC)
	}
	if r.ECE != nil {
		text += "  calibration error " + r.ECE.Percent()
	}
	return text
}

// NewReport describes an evaluation of m: e has its counts, and d has the answers for the figures of
// probabilities. If d is nil, the report omits these figures. took is the duration of the evaluation.
func NewReport(m *models.Model, e *evaluation.Evaluation, d *Details, took time.Duration) *Report {
	r := &Report{Samples: e.Samples, Correct: e.Correct, NotFinite: e.NotFinite, Accuracy: e.Accuracy(),
		Top5: e.Top5Accuracy(), Loss: evaluation.Figure(e.Loss()), PerClass: map[string]*Count{},
		Throughput: float64(e.Samples) / max(took.Seconds(), 1e-9)}
	if e.Confusion.Classes() <= denseClasses {
		r.Confusion = e.Confusion.Dense()
	} else {
		r.Confusions = e.Misclassifications()
	}
	for i, k := range e.PerClass {
		c := &Count{N: k.N, Correct: k.Correct}
		c.Precision, c.Recall, c.F1 = e.PerLabel(i)
		if e.PerPixel {
			overlap := e.Overlap(i)
			c.IoU = &overlap
		}
		if k.N == 0 && (c.IoU == nil || *c.IoU != *c.IoU) { // the class has neither labels nor predicted pixels
			c = nil
		}
		r.PerClass[Label(m, i)] = c
	}
	if e.PerPixel {
		mean := e.MeanOverlap()
		r.MIoU = &mean
	}
	r.MacroF1, r.BalancedAccuracy = e.Macro()
	if d != nil && len(d.answers) > 0 {
		ece := evaluation.Figure(d.calibrationError())
		r.ECE = &ece
		if area := d.auroc(); area == area {
			r.AUROC = (*evaluation.Figure)(&area)
		}
		if d.Wish != nil {
			r.wish, r.Thresholds = d.Wish, named(m, d.ofTwo())
		}
	}
	return r
}
