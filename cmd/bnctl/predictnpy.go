package main

import (
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/tensor"
)

// npyPredictions writes one array for all inputs: the probabilities, or with
// raw outputs the first output.
type npyPredictions struct {
	predictions
	begun bool
}

func (w *npyPredictions) write(_ string, outs []tensor.Tensor) error {
	row := outs[0]
	if !w.raw {
		row = tensor.New(tensor.F32, row.Shape...)
		for i, p := range scores(w.model, outs[0].F32()) {
			row.F32()[i] = float32(p)
		}
	}
	if !w.begun {
		w.begun = true
		err := data.WriteNPYHeader(w.out, row.DType, append([]int{w.inputs}, row.Shape...))
		if err != nil {
			return fmt.Errorf("%w, or use --format json", err)
		}
	}
	_, err := w.out.Write(row.Bytes)
	return err
}
