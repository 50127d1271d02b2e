package format

import (
	"fmt"
	"io"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// table is a Writer of a line of text for each input.
type table struct {
	*predict.Answers
	out   io.Writer
	width int
}

// Table returns a Writer of a line of text for each input. The names of the samples of src determine the
// width of the first column.
func Table(a *predict.Answers, w io.Writer, src data.Source) Writer {
	return &table{a, w, nameWidth(src)}
}

// Write implements Writer.
func (w *table) Write(input string, outs []tensor.Tensor) error {
	var cells []string
	if !w.Raw {
		var err error
		if cells, err = w.Words(outs); err != nil {
			return err
		}
	} else {
		for _, k := range w.Chosen {
			cells = append(cells, Short(w.Name(k), outs[k]))
		}
	}
	_, err := fmt.Fprintf(w.out, "%-*s  %s\n", w.width, legible.Text(input), legible.Text(strings.Join(cells,
		"   ")))
	return err
}

// End implements Writer.
func (w *table) End() error { return nil }

// nameWidth returns the width of the longest name among the first inputs, but at most 40.
func nameWidth(src data.Source) int {
	const looked, widest = 1000, 40
	w := 0
	for i := range min(src.Info().Len, looked) {
		w = max(w, len([]rune(legible.Text(src.Name(i)))))
	}
	return min(w, widest)
}
