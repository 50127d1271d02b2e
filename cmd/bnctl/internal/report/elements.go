package report

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/problem"
)

// Element has the figures of one of the numbers that a model predicts, or of one label if labels do not
// exclude each other. A figure that is not defined is null.
type Element struct {
	Name      string   `json:"name"`
	N         int      `json:"n,omitempty"` // number of samples
	Precision *float64 `json:"precision,omitempty"`
	Recall    *float64 `json:"recall,omitempty"`
	F1        *float64 `json:"f1,omitempty"`
	MAE       *float64 `json:"mean_absolute_error,omitempty"`
	RMSE      *float64 `json:"root_mean_square_error,omitempty"`
	R2        *float64 `json:"r2,omitempty"`
}

// addElements adds the figures of predicted numbers, or of labels that do not exclude each other.
func (e *evaluated) addElements(ev *evaluation.Evaluation, name func(int) string) {
	e.Exact, e.Judged = ev.Exact, ev.Judged
	for i := range ev.Labels {
		precision, recall, f1 := ev.Labels[i].Figures()
		e.Labels = append(e.Labels, Element{Name: name(i), Precision: defined(precision), Recall: defined(recall),
			F1: defined(f1)})
	}
	for i := range ev.Targets {
		t := &ev.Targets[i]
		e.Targets = append(e.Targets, Element{Name: name(i), N: t.N, MAE: defined(t.MAE()), RMSE: defined(t.RMSE()),
			R2: defined(t.R2())})
	}
}

func defined(f evaluation.Figure) *float64 {
	v := float64(f)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// elementsSection returns the section about predicted numbers, or about labels that do not exclude each
// other. It returns nil for other models.
func (e *evaluated) elementsSection() *classesSection {
	elements, s := append(e.Labels[:len(e.Labels):len(e.Labels)], e.Targets...), &classesSection{}
	if len(elements) == 0 {
		return nil
	}
	s.Open = len(elements) <= mostOpen
	s.Intro = fmt.Sprintf("Evaluation of %s after epoch %d", e.Data, e.Epoch)
	s.Table = table{Label: "Table of numbers", Heads: []string{"number", "samples", "mean absolute error",
		"root of the mean square error", "R2"}, Texts: []bool{true, false, false, false, false}}
	s.Title, s.Summary = "Numbers", problem.Plural(len(elements), "number")+", in the units of the data"
	if len(e.Labels) > 0 {
		s.Title, s.Summary = "Labels", problem.Plural(len(elements), "label")+": precision, recall, F1"
		s.Intro += fmt.Sprintf(": of %s %s have all labels right", problem.Plural(e.Judged, "sample"),
			thousands(float64(e.Exact)))
		s.Table = table{Label: "Table of labels", Heads: []string{"label", "precision", "recall", "F1"},
			Texts: []bool{true, false, false, false}}
	}
	s.Intro += "."
	for _, x := range elements[:min(len(elements), mostRows)] {
		if len(e.Labels) > 0 {
			s.Table.Rows = append(s.Table.Rows, cells(x.Name, fractionText(x.Precision),
				fractionText(x.Recall), fractionText(x.F1)))
			continue
		}
		s.Table.Rows = append(s.Table.Rows, cells(x.Name, thousands(float64(x.N)), number(x.MAE), number(x.RMSE),
			number(x.R2)))
	}
	if len(elements) > mostRows {
		s.Table.Note = fmt.Sprintf("The first %d; %s has all.", mostRows, evaluationFile)
	}
	return s
}

func fractionText(v *float64) string {
	if v == nil {
		return percent(math.NaN())
	}
	return percent(*v)
}

func number(v *float64) string {
	if v == nil {
		return percent(math.NaN())
	}
	return fmt.Sprintf("%.4g", *v)
}
