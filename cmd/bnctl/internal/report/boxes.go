package report

import (
	"fmt"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/internal/chart"
	"github.com/bnctl/bnctl/objects/average"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
)

// boxFigures are the figures of a detector, in pixels of its input.
type boxFigures struct {
	COCO *average.COCOFigures `json:"coco"`
	VOC  *average.VOCFigures  `json:"voc"`
}

// addBoxes adds the figures of detected boxes. In the matrix, the background is the last class.
func (e *evaluated) addBoxes(d *predict.Detected, coco *average.COCOFigures) {
	e.Boxes = &boxFigures{coco, average.VOC(d.Set, d.Found)}
	counts := average.Confuse(d.Set, d.Found, average.ConfusedScore, average.ConfusedOverlap).Counts
	e.Classes = make([]Class, len(counts))
	for i, row := range counts {
		e.Classes[i].Name = "background"
		if i < len(d.Set.Classes) {
			e.Classes[i].Name = d.Set.Classes[i]
			e.Classes[i].Correct = row[i]
		}
		for j, n := range row {
			e.Classes[i].N += n
			e.Classes[j].Predicted += n
		}
		e.MatrixClasses = append(e.MatrixClasses, i)
	}
	if e.Matrix = counts; len(counts) > mostDrawn {
		e.MatrixClasses, e.Matrix = nil, nil
	}
}

// detectedOf returns the boxes of an evaluation, or nil if the model does not predict boxes.
func detectedOf(e *evaluation.Evaluation) *predict.Detected {
	set, found := e.Detected()
	if set == nil {
		return nil
	}
	return &predict.Detected{Set: set, Found: found, OfInput: true}
}

// boxesSection returns the section about classes, for a detector.
func (e *evaluated) boxesSection() *classesSection {
	c := e.Boxes.COCO
	s := &classesSection{Title: "Boxes", Open: len(e.Boxes.VOC.Classes) <= mostOpen,
		Summary: problem.Plural(len(e.Boxes.VOC.Classes), "class") + ": average precision, best score",
		Intro: fmt.Sprintf("Evaluation of %s after epoch %d, in pixels of the input: AP %s, "+
			"at an overlap of 0.5 %s, at 0.75 %s.", e.Data, e.Epoch, precisionText(c.AP),
			precisionText(c.AP50), precisionText(c.AP75)),
		Curves: predict.PrecisionRecall(e.Boxes.VOC)}
	if len(e.Matrix) > 0 {
		p := e.confusionPanel()
		svg := chart.InPage(p.Elements, "Confusion matrix with background", p.Width, p.Height)
		s.Matrix = &drawing{SVG: svg,
			Caption: fmt.Sprintf("Boxes with a score of at least %g and an overlap of at least %g.",
				average.ConfusedScore, average.ConfusedOverlap)}
	}
	s.Table = table{Label: "Table of classes", Heads: []string{"class", "objects", "AP", "AP at 0.5", "best F1",
		"from score"}, Texts: []bool{true, false, false, false, false, false}}
	for i, v := range e.Boxes.VOC.Classes[:min(len(e.Boxes.VOC.Classes), mostRows)] {
		class := &e.Boxes.COCO.Classes[i]
		s.Table.Rows = append(s.Table.Rows, cells(v.Name, thousands(float64(v.Objects)), precisionText(class.AP),
			precisionText(class.AP50), percent(v.F1), fmt.Sprintf("%.3g", v.Threshold)))
	}
	return s
}

// precisionText returns a figure of COCO as text. It is -1 without an object for it.
func precisionText(v float64) string {
	if v < 0 {
		return "–"
	}
	return percent(v)
}

// valid reports whether the figures have the same classes.
func (b *boxFigures) valid() bool {
	return b == nil || b.COCO != nil && b.VOC != nil && len(b.COCO.Classes) == len(b.VOC.Classes)
}
