package predict

import (
	"cmp"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/average"
	"github.com/bnctl/bnctl/tensor"
)

// Details has the answers of an evaluation one by one, in the order of the samples. The
// zero value is ready for Predictor.EvaluateWhole, which fills it; then NewReport, WriteCSV and
// WriteMistakes read it.
type Details struct {
	// Logs keeps the data for Calibrate: a number for each class of each sample, in
	// float64. A thousand classes and fifty thousand samples need 400 MB.
	Logs bool
	// Masks is the number of worst masks to keep with label and answer, each as large as its picture,
	// for WriteMistakes. If it is not 0, the wrong pixels of all masks are counted, for WriteCSV.
	Masks int
	// Wish is the goal of the thresholds of NewReport and NewElementsReport; nil means no
	// thresholds. Wish.Fits reports whether it has a meaning for a model and data.
	Wish *Wish
	// Boxes is the result of a detector; nil for other models.
	Boxes *Detected

	answers  []answered
	masks    []masked         // counts for all samples with a mask, if Masks is set
	stored   []painted        // the worst of these masks, the worst first
	elements []elements       // samples with several labels, or numbers
	judged   []average.Judged // pictures with faults
}

// answered is the answer for a labelled sample.
type answered struct {
	sample, label, predicted int
	probability, ofLabel     float64   // probabilities of the predicted class, and of the label
	margin                   float64   // logarithm of the odds if there are two classes; otherwise NaN
	logs                     []float64 // logarithms of the probabilities, with Details.Logs
}

// Observers returns observers that store the answers of an evaluation.
func (d *Details) Observers() evaluation.Observers {
	o := evaluation.Observers{Observe: d.observe, ObserveAll: d.observeAll}
	if d.Masks > 0 {
		o.ObserveMask = d.observeMask
	}
	return o
}

// observe implements evaluation.Observers.Observe.
func (d *Details) observe(sample, label int, logs []float64, margin float64) {
	best := 0
	for c, v := range logs {
		if v > logs[best] {
			best = c
		}
	}
	a := answered{sample, label, best, tensor.Exp(logs[best]), tensor.Exp(logs[label]), margin, nil}
	if d.Logs {
		a.logs = slices.Clone(logs)
	}
	d.answers = append(d.answers, a)
}

// calibrationBins is the number of equal ranges of probability of calibrationError.
const calibrationBins = 15

// calibrationError returns the expected calibration error of the predicted classes: the mean, over 15
// equal ranges of their probability, of the difference between this probability and the share of right
// predictions, weighted by the number of predictions (Guo and others 2017).
func (d *Details) calibrationError() float64 {
	var n, right, sum [calibrationBins]float64
	for _, a := range d.answers {
		k := min(max(int(math.Ceil(a.probability*calibrationBins))-1, 0), calibrationBins-1)
		n[k]++
		sum[k] += a.probability
		if a.predicted == a.label {
			right[k]++
		}
	}
	total := 0.0
	for k := range n {
		total += math.Abs(right[k] - sum[k])
	}
	return total / float64(len(d.answers))
}

// auroc returns the area under the curve of the second of two classes; NaN for more classes.
func (d *Details) auroc() float64 {
	var scores []scored
	for _, a := range d.answers {
		if a.margin != a.margin {
			return math.NaN()
		}
		scores = append(scores, scored{a.margin, a.label == 1})
	}
	return auroc(scores)
}

// mistakes returns the answers that are wrong, the surest first.
func (d *Details) mistakes() []answered {
	right := func(a answered) bool { return a.predicted == a.label && a.probability == a.probability }
	wrong := slices.DeleteFunc(slices.Clone(d.answers), right)
	slices.SortStableFunc(wrong, func(a, b answered) int { return cmp.Compare(b.probability, a.probability) })
	return wrong
}

// WriteCSV writes a line for each answer: the name of the sample in src, the true and the
// predicted class by the labels of m, and the probabilities of the predicted and of the
// true class, 0 to 1. The first line names the columns: sample, label, predicted,
// probability, probability_of_label. With several labels, or numbers, it has two columns
// for each label: the known value, and the predicted probability or number. For masks it
// has the number of pixels with a label, and the number of these that are wrong. For boxes it has
// a line for each object and each detection. The error is from the writer.
func (d *Details) WriteCSV(dst io.Writer, m *models.Model, src data.Source) error {
	if d.Boxes != nil {
		return d.writeBoxes(dst, m, src)
	}
	if i := src.Info(); i.MultiLabel || i.Targets != nil {
		return d.writeElements(dst, m, src)
	}
	if src.Info().Masks {
		return d.writeMasks(dst, src)
	}
	w := csv.NewWriter(dst)
	lines := [][]string{{"sample", "label", "predicted", "probability", "probability_of_label"}}
	for _, a := range d.answers {
		lines = append(lines, []string{src.Name(a.sample), Label(m, a.label), Label(m, a.predicted),
			strconv.FormatFloat(a.probability, 'g', 9, 64), strconv.FormatFloat(a.ofLabel, 'g', 9, 64)})
	}
	return w.WriteAll(lines)
}
