package main

import (
	"encoding/csv"
	"fmt"
	"strconv"

	"github.com/bnctl/bnctl/tensor"
)

// csvPredictions writes a row for each class of an input, or with raw outputs
// one for each input.
type csvPredictions struct {
	predictions
	csv   *csv.Writer
	begun bool
}

func (w *csvPredictions) write(input string, outs []tensor.Tensor) error {
	if !w.begun {
		w.begun = true
		if err := w.csv.Write(w.head(outs)); err != nil {
			return err
		}
	}
	if w.raw {
		return w.csv.Write(append([]string{input}, words(outs[0])...))
	}
	for rank, k := range w.best(outs[0]) {
		row := []string{input, strconv.Itoa(rank + 1), k.Label, strconv.Itoa(k.Index),
			strconv.FormatFloat(float64(k.P), 'g', -1, 64)}
		if err := w.csv.Write(row); err != nil {
			return err
		}
	}
	return nil
}

func (w *csvPredictions) head(outs []tensor.Tensor) []string {
	if !w.raw {
		return []string{"input", "rank", "label", "index", "p"}
	}
	head := []string{"input"}
	for i := range outs[0].Count() {
		head = append(head, fmt.Sprintf("%s.%d", w.outputName(0), i))
	}
	return head
}

func (w *csvPredictions) end() error {
	w.csv.Flush()
	if err := w.csv.Error(); err != nil {
		return err
	}
	return w.predictions.end()
}
