package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/format"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// predictionTable writes a line of text for each input.
type predictionTable struct {
	*predict.Answers
	out   io.Writer
	width int
}

// Write implements format.Writer.
func (w *predictionTable) Write(input string, outs []tensor.Tensor) error {
	var cells []string
	if !w.Raw {
		best, err := w.Best(outs)
		if err != nil {
			return err
		}
		for _, k := range best {
			cells = append(cells, fmt.Sprintf("%s %.1f %%", k.Label, 100*k.P))
		}
	} else {
		for _, k := range w.Chosen {
			cells = append(cells, format.Short(w.Name(k), outs[k]))
		}
	}
	_, err := fmt.Fprintf(w.out, "%-*s  %s\n", w.width, legibly(input), legibly(strings.Join(cells, "   ")))
	return err
}

// End implements format.Writer.
func (w *predictionTable) End() error { return nil }
