package format

import (
	"io"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// NPY returns a Writer of arrays with a row for each input. It writes a single array with the probabilities
// of the classes, or an array for each output of Arrays. files has a file for each array. If files has only
// one file, only the first array is written.
func NPY(a *predict.Answers, inputs int, files []io.Writer) Writer {
	return &npyPredictions{Answers: a, inputs: inputs, files: files}
}

type npyPredictions struct {
	*predict.Answers
	inputs int
	files  []io.Writer
	begun  bool
	alike  alike
}

func (w *npyPredictions) Write(input string, outs []tensor.Tensor) error {
	if w.Raw {
		if err := w.alike.check(w.Answers, input, outs); err != nil {
			return err
		}
	}
	rows := w.rows(outs)
	for i, row := range rows {
		if !w.begun {
			err := data.WriteNPYHeader(w.files[i], row.DType, append([]int{w.inputs}, row.Shape...))
			if err != nil {
				return problem.Advise("write JSON instead", "%w", err)
			}
		}
		if _, err := w.files[i].Write(row.Bytes); err != nil {
			return err
		}
	}
	w.begun = true
	return nil
}

// rows returns the row that an input adds to each array.
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

func (w *npyPredictions) End() error { return nil }
