package format

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// CSV returns a Writer of a table. The table has a row for each class of an input. If outputs are not
// classes, it has one row for each input, with the elements of all outputs.
func CSV(a *predict.Answers, w io.Writer) Writer {
	return &csvPredictions{Answers: a, csv: csv.NewWriter(w)}
}

// csvPredictions writes a row for each class of an input or, if outputs are raw, one row for each input.
type csvPredictions struct {
	*predict.Answers
	csv   *csv.Writer
	begun bool
	alike alike
}

func (w *csvPredictions) Write(input string, outs []tensor.Tensor) error {
	if !w.begun {
		w.begun = true
		if err := w.csv.Write(w.head(outs)); err != nil {
			return err
		}
	}
	if w.byLabel() {
		row := append([]string{input}, numbers(tensor.Of(w.Probabilities(outs), outs[w.Scores].Count()))...)
		if !w.Finite(outs) {
			return &predict.NotFinite{Output: w.Name(w.Scores)}
		}
		return w.csv.Write(row)
	}
	if w.Raw {
		if err := w.alike.check(w.Answers, input, outs); err != nil {
			return err
		}
		row := []string{input}
		for _, k := range w.Chosen {
			row = append(row, numbers(outs[k])...)
		}
		return w.csv.Write(row)
	}
	best, err := w.Best(outs)
	for rank, k := range best {
		row := []string{input, strconv.Itoa(rank + 1), k.Label, strconv.Itoa(k.Index), probability(k.P).String()}
		if err := w.csv.Write(row); err != nil {
			return err
		}
	}
	return err
}

// byLabel reports whether the table has a column for each label, with its probability or its number.
func (w *csvPredictions) byLabel() bool { return w.Several() || w.Numbers() }

// head returns the names of the columns. An output has a column for each element, in row-major order.
func (w *csvPredictions) head(outs []tensor.Tensor) []string {
	if w.byLabel() {
		head := []string{"input"}
		for k := range outs[w.Scores].Count() {
			head = append(head, predict.Label(w.Model, k))
		}
		return head
	}
	if !w.Raw {
		return []string{"input", "rank", "label", "index", "p"}
	}
	head := []string{"input"}
	for _, k := range w.Chosen {
		for i := range outs[k].Count() {
			head = append(head, fmt.Sprintf("%s.%d", w.Name(k), i))
		}
	}
	return head
}

func (w *csvPredictions) End() error {
	w.csv.Flush()
	return w.csv.Error()
}
