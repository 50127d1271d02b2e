package predict

import (
	"fmt"
	"math"
	"time"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// ElementsReport describes an evaluation as Report does, for samples with several labels, or with
// numbers.
type ElementsReport struct {
	Samples    int               `json:"samples"`
	Loss       evaluation.Figure `json:"loss"`       // mean over the elements that are known; null if not finite
	NotFinite  int               `json:"not_finite"` // elements with answers that are not finite
	Throughput float64           `json:"images_per_s"`

	Labels     map[string]*LabelReport `json:"per_label,omitempty"`
	Accuracy   *evaluation.Figure      `json:"accuracy,omitempty"`    // accuracy of all known labels
	ExactMatch *evaluation.Figure      `json:"exact_match,omitempty"` // share of samples with no wrong label
	MacroF1    *evaluation.Figure      `json:"macro_f1,omitempty"`    // mean over the labels with an F1
	MacroAUROC *evaluation.Figure      `json:"macro_auroc,omitempty"` // mean over the labels with an AUROC

	Targets map[string]*TargetReport `json:"per_target,omitempty"`
	R2      *evaluation.Figure       `json:"r2,omitempty"` // mean over the targets with an R2

	Thresholds map[string]*Threshold `json:"thresholds,omitempty"` // thresholds for Details.Wish

	names []string // names of labels or targets, in their order
	wish  *Wish
}

// NewElementsReport does the same as NewReport for samples with several labels, or numbers. It returns nil
// for other samples.
func NewElementsReport(m *models.Model, e *evaluation.Evaluation, d *Details,
	took time.Duration) *ElementsReport {
	r := &ElementsReport{Samples: e.Samples, Loss: evaluation.Figure(e.Loss()), NotFinite: e.NotFinite,
		Throughput: float64(e.Samples) / max(took.Seconds(), 1e-9)}
	switch {
	case e.MultiLabel:
		r.labels(m, e, d)
	case e.Targets != nil:
		r.targets(m, e)
	default:
		return nil
	}
	return r
}

func (r *ElementsReport) labels(m *models.Model, e *evaluation.Evaluation, d *Details) {
	r.Labels = map[string]*LabelReport{}
	if r.wish = d.Wish; r.wish != nil {
		r.Thresholds = map[string]*Threshold{}
	}
	var f1, area mean
	for k, c := range e.Labels {
		l := &LabelReport{AUROC: evaluation.Figure(auroc(d.scoresOf(k))), Positives: e.PerClass[k].N}
		for _, a := range d.elements {
			if a.label[k] >= 0 {
				l.N++
			}
		}
		l.Precision, l.Recall, l.F1 = c.Figures()
		f1.add(l.F1)
		area.add(l.AUROC)
		r.names = append(r.names, Label(m, k))
		r.Labels[Label(m, k)] = l
		if r.wish != nil {
			r.Thresholds[Label(m, k)] = r.wish.threshold(d.scoresOf(k))
		}
	}
	fraction := func(n, of int) *evaluation.Figure {
		v := evaluation.Figure(float64(n) / float64(of))
		return &v
	}
	r.Accuracy, r.ExactMatch = fraction(e.Correct, e.Counted), fraction(e.Exact, e.Judged)
	r.MacroF1, r.MacroAUROC = f1.figure(), area.figure()
}

func (r *ElementsReport) targets(m *models.Model, e *evaluation.Evaluation) {
	r.Targets = map[string]*TargetReport{}
	for k := range e.Targets {
		t := &e.Targets[k]
		r.names = append(r.names, Label(m, k))
		r.Targets[Label(m, k)] = &TargetReport{t.N, t.MAE(), t.RMSE(), t.R2()}
	}
	r2 := e.MeanR2()
	r.R2 = &r2
}

// mean is the mean of the figures that are not NaN.
type mean struct{ sum, n evaluation.Figure }

func (m *mean) add(f evaluation.Figure) {
	if f == f {
		m.sum, m.n = m.sum+f, m.n+1
	}
}

func (m *mean) figure() *evaluation.Figure {
	v := m.sum / m.n // NaN without figures
	return &v
}

// Lines writes the report for people: a line with the figures over all labels or targets, and a table
// with a row for each.
func (r *ElementsReport) Lines() []string {
	lines := append(append(r.head(), ""), r.table()...)
	if r.wish != nil {
		lines = append(lines, r.wish.table(r.names, r.Thresholds)...)
	}
	return lines
}

func (r *ElementsReport) head() []string {
	figures := fmt.Sprintf("R2 %s", plain(r.R2))
	if r.Targets == nil {
		figures = fmt.Sprintf("exact match %s  labels right %s  macro F1 %s  macro AUROC %s",
			r.ExactMatch.Percent(), r.Accuracy.Percent(), r.MacroF1.Percent(), plain(r.MacroAUROC))
	}
	lines := []string{fmt.Sprintf("%s  %s  loss %.4f  (%.0f img/s)", problem.Plural(r.Samples, "sample"),
		figures, r.Loss, r.Throughput)}
	if r.NotFinite > 0 {
		lines = append(lines, problem.Plural(r.NotFinite, "answer")+
			" counted as wrong: not finite (NaN or infinite)")
	}
	return lines
}

func (r *ElementsReport) table() (table []string) {
	width := 6
	for _, name := range r.names {
		width = min(max(width, len([]rune(name))), 24)
	}
	head := fmt.Sprintf("%-*s  samples  positive  precision     recall         F1    AUROC", width, "label")
	if r.Targets != nil {
		head = fmt.Sprintf("%-*s  samples  mean abs. error  root mean sq.       R2", width, "target")
	}
	table = append(table, head)
	for _, name := range r.names {
		if t := r.Targets[name]; t != nil {
			table = append(table, fmt.Sprintf("%-*s  %7d  %15.6g  %13.6g  %7s", width, name, t.N, t.MAE, t.RMSE,
				plain(&t.R2)))
			continue
		}
		l := r.Labels[name]
		table = append(table, fmt.Sprintf("%-*s  %7d  %8d  %9s  %9s  %9s  %7s", width, name, l.N, l.Positives,
			l.Precision.Percent(), l.Recall.Percent(), l.F1.Percent(), plain(&l.AUROC)))
	}
	return table
}

// plain formats a figure, or "-" for NaN and nil.
func plain(f *evaluation.Figure) string {
	if f == nil || math.IsNaN(float64(*f)) {
		return "-"
	}
	return fmt.Sprintf("%.4f", *f)
}
