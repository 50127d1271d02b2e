package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/train"
)

// top is how many classes a label may be among for the figure that is called so: all of a few it is always.
const top = 5

func reportEvaluation(o *output, m *models.Model, e *train.Evaluation, d *predict.Details,
	took time.Duration) {
	if v := predict.NewElementsReport(m, e, d, took); v != nil {
		o.event("eval", v)
		for _, line := range v.Lines() {
			o.result("%s", line)
		}
		return
	}
	v := predict.NewReport(m, e, d, took)
	o.event("eval", v)
	figures := fmt.Sprintf("accuracy %.2f %%", 100*v.Accuracy)
	if len(e.PerClass) > top {
		figures += fmt.Sprintf("  top-5 %.2f %%", 100*v.Top5)
	}
	if e.Masks {
		figures = fmt.Sprintf("mIoU %.2f %%  pixel accuracy %.2f %%", 100**v.MIoU, 100*v.Accuracy)
	}
	o.result("%s  %s  loss %.4f  (%.0f img/s)", plural(v.Samples, "sample"), figures, v.Loss, v.Throughput)
	if w := v.Wrong(); w != "" {
		o.result("%s", w)
	}
	if w := v.Summary(); w != "" {
		o.result("%s", w)
	}
	o.result("")
	classTable(o, m, e)
	o.result("")
	confusions(o, m, e)
}

// widest returns the width of the widest label, between 5 and 24. Longer ones
// are not cut, for two might then look alike: they push their row to the right.
func widest(m *models.Model, classes int) int {
	w := 5
	for i := range classes {
		w = max(w, len([]rune(predict.Label(m, i))))
	}
	return min(w, 24)
}

func classTable(o *output, m *models.Model, e *train.Evaluation) {
	w := widest(m, len(e.PerClass))
	head := "  samples  correct   recall  precision        F1"
	if e.Masks {
		head = "      pixels     correct   accuracy       IoU"
	}
	o.result("%-*s%s", w, "class", head)
	for i, k := range e.PerClass {
		switch percent := 100 * float64(k.Correct) / float64(k.N); {
		case e.Masks && e.Overlap(i) >= 0: // there may be predictions alone
			o.result("%-*s  %10d  %10d  %7.2f %%  %6.2f %%", w, predict.Label(m, i), k.N, k.Correct, percent,
				100*e.Overlap(i))
		case k.N > 0:
			precision, _, f1 := e.PerLabel(i)
			o.result("%-*s  %7d  %7d %7.2f %%  %9s  %8s", w, predict.Label(m, i), k.N, k.Correct, percent,
				precision.Percent(), f1.Percent())
		}
	}
}

// matrixClasses is the number of classes up to which the confusion matrix is
// drawn; above it the most frequent confusions are listed.
const matrixClasses = 20

// columnWidth is that of a column of the confusion matrix.
const columnWidth = 5

func confusions(o *output, m *models.Model, e *train.Evaluation) {
	if len(e.Confusion) > matrixClasses {
		frequentConfusions(o, m, e)
		return
	}
	w, column, row := widest(m, len(e.Confusion)), predict.Label, predict.Label
	if w > columnWidth { // labels would be cut: the columns have numbers, and the rows both
		column = func(_ *models.Model, i int) string { return fmt.Sprint(i) }
		row = func(m *models.Model, i int) string { return fmt.Sprintf("%2d %s", i, predict.Label(m, i)) }
		w += len("00 ")
	}
	head := fmt.Sprintf("%-*s", w, "class")
	for i := range e.Confusion {
		head += fmt.Sprintf(" %*s", columnWidth, column(m, i))
	}
	o.result("%s   (rows: label, columns: predicted)", head)
	for i, counts := range e.Confusion {
		var line strings.Builder
		for _, n := range counts {
			fmt.Fprintf(&line, " %5s", dotForZero(n))
		}
		o.result("%-*s%s", w, row(m, i), line.String())
	}
}

func dotForZero(n int) string {
	if n == 0 {
		return "."
	}
	return fmt.Sprint(n)
}

// frequentConfusions lists which label was taken for what most often.
func frequentConfusions(o *output, m *models.Model, e *train.Evaluation) {
	all := e.Misclassifications()
	for _, k := range all[:min(len(all), matrixClasses)] {
		o.result("%5d x %s taken for %s", k.N, predict.Label(m, k.Label), predict.Label(m, k.Predicted))
	}
}
