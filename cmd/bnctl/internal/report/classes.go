package report

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/bnctl/bnctl/internal/chart"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
)

// classesSection is the part of a page that shows an evaluation.
type classesSection struct {
	Title, Intro, Summary string
	Open                  bool
	Matrix                *drawing
	Curves                template.HTML // precision by recall, for detected boxes
	Confusions            *table
	Table                 table
	Mistakes              []pictured
	MistakesIntro         string
	Key                   []predict.MaskClass // key of the colours of masks
	Pairs                 bool                // each picture consists of two, side by side
}

type pictured struct {
	Picture template.URL
	Mistake
}

// mostRows is the maximum number of classes in a table. A table of at most mostOpen classes is open when the
// page is shown.
const mostRows, mostOpen = 1000, 40

// classesSection returns the section, or nil without an evaluation.
func (r *Run) classesSection() *classesSection {
	e := r.evaluation
	if e == nil {
		return nil
	}
	s := e.elementsSection()
	switch {
	case e.Boxes != nil:
		s = e.boxesSection()
	case len(e.Classes) > 0:
		s = e.exclusiveSection()
	}
	if s != nil {
		e.addMistakes(s)
	}
	return s
}

// addMistakes adds the pictures of wrong predictions to a section.
func (e *evaluated) addMistakes(s *classesSection) {
	s.Key, s.Pairs = e.Key, e.Masks || e.Boxes != nil
	s.MistakesIntro = fmt.Sprintf("%s of %s: %s.", thousands(float64(e.Wrong)),
		problem.Plural(e.Samples, "sample"), e.Order)
	if e.Wrong > len(e.Mistakes) {
		s.MistakesIntro += fmt.Sprintf(" The first %d.", len(e.Mistakes))
	}
	for _, m := range e.Mistakes {
		item := pictured{Mistake: m}
		if len(m.Picture) > 0 {
			item.Picture = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(m.Picture))
		}
		s.Mistakes = append(s.Mistakes, item)
	}
}

// exclusiveSection returns the section for classes that exclude each other.
func (e *evaluated) exclusiveSection() *classesSection {
	unit := "samples"
	if e.Masks {
		unit = "pixels"
	}
	s := &classesSection{Title: "Classes", Open: len(e.Classes) <= mostOpen, Table: e.classTable(),
		Intro: fmt.Sprintf("Evaluation of %s after epoch %d: %s of %s %s met (%s).", e.Data, e.Epoch,
			thousands(float64(e.Correct)), thousands(float64(e.Counted)), unit, percent(ratio(e.Correct, e.Counted)))}
	if e.NotFinite > 0 {
		s.Intro += fmt.Sprintf(" %s counted as wrong, because the outputs were not finite.",
			thousands(float64(e.NotFinite)))
	}
	s.Summary = problem.Plural(len(e.Classes), "class") + ": recall, precision, F1"
	if e.Masks {
		s.Summary = problem.Plural(len(e.Classes), "class") + ": IoU, recall, precision"
	}
	if len(e.MatrixClasses) > 1 {
		p := e.confusionPanel()
		d := drawing{SVG: chart.InPage(p.Elements, fmt.Sprintf("Confusion matrix of %s",
			problem.Plural(len(e.MatrixClasses), "class")),
			p.Width, p.Height)}
		if len(e.MatrixClasses) < len(e.Classes) {
			d.Caption = fmt.Sprintf("The %d of %s that are confused most.", len(e.MatrixClasses),
				problem.Plural(len(e.Classes), "class"))
		}
		s.Matrix = &d
	}
	s.Confusions = e.confusionTable()
	return s
}

// confusionTable returns the table of the most frequent confusions, or nil without any.
func (e *evaluated) confusionTable() *table {
	const limit = 15
	if len(e.Confusions) == 0 {
		return nil
	}
	t := &table{Label: "Most frequent confusions", Heads: []string{"label", "predicted as", "times",
		"of the label"},
		Texts: []bool{true, true, false, false}}
	for _, c := range e.Confusions[:min(len(e.Confusions), limit)] {
		label := &e.Classes[c.Label]
		t.Rows = append(t.Rows, cells(label.Name, e.Classes[c.Predicted].Name, thousands(float64(c.N)),
			percent(ratio(c.N, label.N))))
	}
	return t
}

// classTable returns the table of classes. They are in their order or, if there are many, sorted by F1, the
// lowest first.
func (e *evaluated) classTable() table {
	t := table{Label: "Table of classes", Heads: []string{"class", "labels", "met", "recall", "precision", "F1"},
		Texts: []bool{true, false, false, false, false, false}}
	score := (*Class).f1
	if e.Masks {
		t.Heads[5], score = "IoU", (*Class).iou
	}
	order := make([]*Class, len(e.Classes))
	for i := range e.Classes {
		order[i] = &e.Classes[i]
	}
	if len(order) > mostOpen {
		slices.SortStableFunc(order, func(a, b *Class) int { return compareScores(score(a), score(b)) })
		t.Note = "The lowest " + t.Heads[5] + " first."
	}
	if len(order) > mostRows {
		t.Note = fmt.Sprintf("The %d with the lowest %s of %s; %s has all.", mostRows, t.Heads[5],
			problem.Plural(len(order), "class"), evaluationFile)
		order = order[:mostRows]
	}
	for _, c := range order {
		r := cells(c.Name, thousands(float64(c.N)), thousands(float64(c.Correct)), percent(c.recall()),
			percent(c.precision()), percent(score(c)))
		if v := score(c); len(order) <= mostOpen && !math.IsNaN(v) {
			r.Cells[5].Bar = math.Round(1000*v) / 10
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// compareScores compares two scores, to sort classes. Classes without a score are last.
func compareScores(a, b float64) int {
	if math.IsNaN(a) || math.IsNaN(b) {
		return cmp.Compare(btoi(math.IsNaN(a)), btoi(math.IsNaN(b)))
	}
	return cmp.Compare(a, b)
}

func btoi(v bool) int {
	if v {
		return 1
	}
	return 0
}

// confusionSVG returns a drawing of the confusion matrix of a run as an SVG file, or nil if the run has no
// matrix.
func confusionSVG(r *Run) []byte {
	if r.evaluation == nil || len(r.evaluation.MatrixClasses) < 2 {
		return nil
	}
	elements, width, height := chart.Stacked([]chart.Panel{r.evaluation.confusionPanel()}, 1)
	return chart.InFile(elements, "Confusion matrix of "+r.Name, width, height)
}
