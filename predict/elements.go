package predict

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// elements is the answer for a sample with several labels, or numbers.
type elements struct {
	sample int
	label  []int32   // label of the model's outputs, as in data.Source
	answer []float64 // logits, or numbers
}

// observeAll implements evaluation.Observers.ObserveAll.
func (d *Details) observeAll(sample int, label []int32, answer []float64) {
	d.elements = append(d.elements, elements{sample, slices.Clone(label), slices.Clone(answer)})
}

// scoresOf returns the scores of label k in the samples that have a known label k.
func (d *Details) scoresOf(k int) (scores []scored) {
	for _, e := range d.elements {
		if e.label[k] >= 0 {
			scores = append(scores, scored{e.answer[k], e.label[k] == 1})
		}
	}
	return scores
}

// writeElements implements WriteCSV for samples with several labels, or numbers. It writes two columns for
// each label: its name with the known value (empty if unknown), and with the predicted probability or
// number.
func (d *Details) writeElements(dst io.Writer, m *models.Model, src data.Source) error {
	w, numbers := csv.NewWriter(dst), src.Info().Targets != nil
	says, head := ".p", []string{"sample"}
	if numbers {
		says = ".predicted"
	}
	all := tensor.Count(src.Info().LabelShape)
	if len(d.elements) > 0 {
		all = len(d.elements[0].label) // the model may have more labels
	}
	for k := range all {
		head = append(head, Label(m, k), Label(m, k)+says)
	}
	lines := [][]string{head}
	for _, e := range d.elements {
		line := []string{src.Name(e.sample)}
		for k, bits := range e.label {
			known, said := "", e.answer[k]
			switch number := data.Number(bits); {
			case numbers && number == number:
				known = strconv.FormatFloat(float64(number), 'g', -1, 32)
			case !numbers && bits >= 0:
				known = strconv.Itoa(int(bits))
			}
			if !numbers {
				said = models.Sigmoid(said)
			}
			line = append(line, known, strconv.FormatFloat(said, 'g', 9, 64))
		}
		lines = append(lines, line)
	}
	return w.WriteAll(lines)
}

// LabelReport is the JSON form of the figures of a label that does not exclude others.
type LabelReport struct {
	N         int               `json:"n"`         // samples with a known label
	Positives int               `json:"positives"` // number of positive labels among these
	Precision evaluation.Figure `json:"precision"`
	Recall    evaluation.Figure `json:"recall"`
	F1        evaluation.Figure `json:"f1"`
	AUROC     evaluation.Figure `json:"auroc"` // null without positives, or without negatives
}

// TargetReport is the JSON form of the figures of a number, in its units.
type TargetReport struct {
	N    int               `json:"n"` // samples with a known number
	MAE  evaluation.Figure `json:"mae"`
	RMSE evaluation.Figure `json:"rmse"`
	R2   evaluation.Figure `json:"r2"` // null if all numbers are equal
}
