package main

import (
	"fmt"
	"io"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/tensor"
)

// npyPredictions writes arrays for all inputs: the probabilities of the
// classes, or with raw outputs one array for each of them.
type npyPredictions struct {
	*predictions
	files []io.Writer // as many as arrays
	begun bool
}

func (w *npyPredictions) write(_ string, outs []tensor.Tensor) error {
	rows := w.rows(outs)
	for i, row := range rows {
		if !w.begun {
			err := data.WriteNPYHeader(w.files[i], row.DType, append([]int{w.inputs}, row.Shape...))
			if err != nil {
				return fmt.Errorf("%w, or use --format json", err)
			}
		}
		if _, err := w.files[i].Write(row.Bytes); err != nil {
			return err
		}
	}
	w.begun = true
	return nil
}

// rows returns what one input adds to each array.
func (w *npyPredictions) rows(outs []tensor.Tensor) (rows []tensor.Tensor) {
	if !w.Raw {
		p := w.Probabilities(outs)
		return []tensor.Tensor{tensor.Of(p, len(p))}
	}
	for _, k := range w.Chosen[:len(w.files)] {
		rows = append(rows, outs[k])
	}
	return rows
}

func (w *npyPredictions) end() error { return nil }
