package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// tablePredictions writes a line of text for each input.
type tablePredictions struct {
	*predictions
	out   io.Writer
	width int
}

func (w *tablePredictions) write(input string, outs []tensor.Tensor) error {
	var cells []string
	if !w.Raw {
		for _, k := range w.best(outs) {
			cells = append(cells, fmt.Sprintf("%s %.1f %%", k.Label, 100*k.P))
		}
	} else {
		for _, k := range w.Chosen {
			cells = append(cells, shortened(w.Name(k), outs[k]))
		}
	}
	_, err := fmt.Fprintln(w.out, legibly("%-*s  %s", w.width, legible(input), strings.Join(cells, "   ")))
	return err
}

func (w *tablePredictions) end() error { return nil }
