package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/predict"
)

// evaluated has those results of an evaluation that a report shows. It is stored as evaluation.json in the
// folder of a run's logs.
type evaluated struct {
	Epoch         int         `json:"epoch"` // counted from 1
	Data          string      `json:"data"`  // description of the data
	Samples       int         `json:"samples"`
	Counted       int         `json:"counted"` // number of labels
	Correct       int         `json:"correct"`
	NotFinite     int         `json:"not_finite,omitempty"`
	Masks         bool        `json:"masks,omitempty"`
	Classes       []Class     `json:"classes"`
	MatrixClasses []int       `json:"matrix_classes"` // numbers of the classes that Matrix has
	Matrix        [][]int     `json:"matrix"`         // [label][predicted]
	Confusions    []Confusion `json:"confusions"`     // the most frequent first
	Recipe        string      `json:"recipe"`         // SHA-256 of the recipe, which identifies the run

	// Mistakes are the worst of the wrong predictions, of which there are Wrong, in the order that Order
	// describes. Key names the classes that their masks show.
	Mistakes []Mistake           `json:"mistakes,omitempty"`
	Order    string              `json:"mistakes_order,omitempty"` // "the surest first"
	Wrong    int                 `json:"wrong,omitempty"`
	Key      []predict.MaskClass `json:"mistakes_key,omitempty"`

	// Labels is set if labels do not exclude each other, and Targets if the model predicts numbers. Judged is
	// the number of samples, and Exact the number of samples where all labels are predicted correctly.
	Labels  []Element `json:"labels,omitempty"`
	Exact   int       `json:"exact,omitempty"`
	Judged  int       `json:"judged,omitempty"`
	Targets []Element `json:"targets,omitempty"`

	// Boxes has the figures of a detector. Classes and Matrix then count boxes, and the background is the last
	// class.
	Boxes *boxFigures `json:"boxes,omitempty"`
}

// Class counts the labels of a class, and how often it was predicted.
type Class struct {
	Name      string `json:"name"`
	N         int    `json:"n"` // number of labels
	Correct   int    `json:"correct"`
	Predicted int    `json:"predicted"`
}

// Confusion states that for N labels of one class another class was predicted.
type Confusion struct {
	Label     int `json:"label"`
	Predicted int `json:"predicted"`
	N         int `json:"n"`
}

// Mistake is a sample with a wrong prediction.
type Mistake struct {
	Sample  string               `json:"sample"`
	Rows    []predict.MistakeRow `json:"rows"`
	Picture []byte               `json:"picture,omitempty"` // PNG
}

// Maximum numbers of classes in the stored matrix, and of confusions that are stored.
const (
	mostDrawn      = 30
	mostConfusions = 100
)

// recall, precision and f1 are figures of the class against all others. They are NaN if the denominator is 0.
func (c *Class) recall() float64    { return ratio(c.Correct, c.N) }
func (c *Class) precision() float64 { return ratio(c.Correct, c.Predicted) }
func (c *Class) f1() float64        { return ratio(2*c.Correct, c.N+c.Predicted) }

// iou returns the intersection over union of the labels and the predictions of the class.
func (c *Class) iou() float64 { return ratio(c.Correct, c.N+c.Predicted-c.Correct) }

func ratio(n, total int) float64 {
	if total == 0 {
		return math.NaN()
	}
	return float64(n) / float64(total)
}

// summarise returns those results of an evaluation that a report shows. name returns the name of a class.
func summarise(e *evaluation.Evaluation, name func(class int) string) *evaluated {
	out := &evaluated{Samples: e.Samples, Counted: e.Counted, Correct: e.Correct, NotFinite: e.NotFinite,
		Masks: e.Masks}
	if d := detectedOf(e); d != nil {
		out.addBoxes(d, e.AveragePrecision())
		return out
	}
	if e.MultiLabel || e.Targets != nil {
		out.addElements(e, name)
		return out
	}
	wrong := make([]int, len(e.PerClass)) // number of wrong labels, or wrong predictions, of each class
	for i, k := range e.PerClass {
		out.Classes = append(out.Classes, Class{name(i), k.N, k.Correct, k.Predicted})
	}
	mistakes := e.Misclassifications()
	for _, m := range mistakes {
		wrong[m.Label], wrong[m.Predicted] = wrong[m.Label]+m.N, wrong[m.Predicted]+m.N
	}
	for _, m := range mistakes[:min(len(mistakes), mostConfusions)] {
		out.Confusions = append(out.Confusions, Confusion{m.Label, m.Predicted, m.N})
	}
	for i := range e.PerClass {
		out.MatrixClasses = append(out.MatrixClasses, i)
	}
	if len(out.MatrixClasses) > mostDrawn {
		slices.SortStableFunc(out.MatrixClasses, func(a, b int) int { return cmp.Compare(wrong[b], wrong[a]) })
		out.MatrixClasses = out.MatrixClasses[:mostDrawn]
		slices.Sort(out.MatrixClasses)
	}
	for _, label := range out.MatrixClasses {
		var row []int
		for _, class := range out.MatrixClasses {
			row = append(row, e.Confusion.N(label, class))
		}
		out.Matrix = append(out.Matrix, row)
	}
	return out
}

// valid reports whether the numbers that were read from a file are consistent. Without any sample they are
// not.
func (e *evaluated) valid() bool {
	if e.Epoch < 1 || e.Samples < 1 || e.Correct < 0 || e.Correct > e.Counted || !e.Boxes.valid() {
		return false
	}
	class := func(i int) bool { return i >= 0 && i < len(e.Classes) }
	for _, i := range e.MatrixClasses {
		if !class(i) {
			return false
		}
	}
	for _, row := range e.Matrix {
		if len(row) != len(e.MatrixClasses) {
			return false
		}
	}
	for _, c := range e.Confusions {
		if !class(c.Label) || !class(c.Predicted) {
			return false
		}
	}
	return len(e.Matrix) == len(e.MatrixClasses)
}
