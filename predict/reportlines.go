package predict

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// manyClasses is the number of classes above which the figure top-5 has a meaning. With five classes
// every label is among the first five.
const manyClasses = 5

// Lines formats the report for people: the overall figures, a table of classes, and the
// confusions. m and e are the model and evaluation that it was made from.
func (r *Report) Lines(m *models.Model, e *evaluation.Evaluation) []string {
	lines := []string{fmt.Sprintf("%s  %s  loss %.4f  (%.0f img/s)", problem.Plural(r.Samples, "sample"),
		r.figures(e), r.Loss, r.Throughput)}
	for _, more := range []string{r.mistakes(), r.Summary()} {
		if more != "" {
			lines = append(lines, more)
		}
	}
	lines = append(append(lines, ""), classTable(m, e)...)
	lines = append(append(lines, ""), confusions(m, e)...)
	if r.wish != nil {
		lines = append(lines, r.wish.table([]string{Label(m, 0), Label(m, 1)}, r.Thresholds)...)
	}
	return lines
}

func (r *Report) figures(e *evaluation.Evaluation) string {
	switch {
	case e.PerPixel:
		return fmt.Sprintf("mIoU %.2f %%  pixel accuracy %.2f %%", 100**r.MIoU, 100*r.Accuracy)
	case len(e.PerClass) > manyClasses:
		return fmt.Sprintf("accuracy %.2f %%  top-5 %.2f %%", 100*r.Accuracy, 100*r.Top5)
	}
	return fmt.Sprintf("accuracy %.2f %%", 100*r.Accuracy)
}

// widest returns the width of the widest label, between 5 and 24. Longer labels are not
// truncated, since two might then look the same; they push their row to the right.
func widest(m *models.Model, classes int) int {
	w := 5
	for i := range classes {
		w = max(w, len([]rune(Label(m, i))))
	}
	return min(w, 24)
}

func classTable(m *models.Model, e *evaluation.Evaluation) []string {
	w := widest(m, len(e.PerClass))
	head := "  samples  correct   recall  precision        F1"
	if e.PerPixel {
		head = "      pixels     correct   accuracy       IoU"
	}
	lines := []string{fmt.Sprintf("%-*s%s", w, "class", head)}
	for i, k := range e.PerClass {
		switch percent := 100 * float64(k.Correct) / float64(k.N); {
		case e.PerPixel && e.Overlap(i) >= 0: // a class may have predictions without labels
			lines = append(lines, fmt.Sprintf("%-*s  %10d  %10d  %7.2f %%  %6.2f %%", w, Label(m, i), k.N, k.Correct,
				percent, 100*e.Overlap(i)))
		case k.N > 0:
			precision, _, f1 := e.PerLabel(i)
			lines = append(lines, fmt.Sprintf("%-*s  %7d  %7d %7.2f %%  %9s  %8s", w, Label(m, i), k.N, k.Correct,
				percent, precision.Percent(), f1.Percent()))
		}
	}
	return lines
}

// matrixClasses is the largest number of classes for a drawn confusion matrix. For more,
// the most frequent confusions are listed.
const matrixClasses = 20

// columnWidth is the width of a column of the confusion matrix.
const columnWidth = 5

func confusions(m *models.Model, e *evaluation.Evaluation) []string {
	classes := e.Confusion.Classes()
	if classes > matrixClasses {
		return frequentConfusions(m, e)
	}
	w, column, row := widest(m, classes), Label, Label
	if w > columnWidth { // labels would be cut: columns have numbers, rows numbers and labels
		column = func(_ *models.Model, i int) string { return fmt.Sprint(i) }
		row = func(m *models.Model, i int) string { return fmt.Sprintf("%2d %s", i, Label(m, i)) }
		w += len("00 ")
	}
	head := fmt.Sprintf("%-*s", w, "class")
	for i := range classes {
		head += fmt.Sprintf(" %*s", columnWidth, column(m, i))
	}
	lines := []string{head + "   (rows: label, columns: predicted)"}
	for i, counts := range e.Confusion.Dense() {
		var line strings.Builder
		for _, n := range counts {
			fmt.Fprintf(&line, " %*s", columnWidth, dotForZero(n))
		}
		lines = append(lines, fmt.Sprintf("%-*s%s", w, row(m, i), line.String()))
	}
	return lines
}

func dotForZero(n int) string {
	if n == 0 {
		return "."
	}
	return fmt.Sprint(n)
}

// frequentConfusions lists the most frequent confusions of a label with another class.
func frequentConfusions(m *models.Model, e *evaluation.Evaluation) (lines []string) {
	all := e.Misclassifications()
	for _, k := range all[:min(len(all), matrixClasses)] {
		lines = append(lines, fmt.Sprintf("%5d x %s taken for %s", k.N, Label(m, k.Label), Label(m, k.Predicted)))
	}
	return lines
}
