package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/predict/format"
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
		for _, k := range w.Best(outs) {
			cells = append(cells, fmt.Sprintf("%s %.1f %%", k.Label, 100*k.P))
		}
	} else {
		for _, k := range w.Chosen {
			cells = append(cells, shortened(w.Name(k), outs[k]))
		}
	}
	_, err := fmt.Fprintf(w.out, "%-*s  %s\n", w.width, legibly(input), legibly(strings.Join(cells, "   ")))
	return err
}

// End implements format.Writer.
func (w *predictionTable) End() error { return nil }

// tableElements is how many elements of an output a line of text shows whole;
// of more it shows tableFirst, after their type and shape.
const tableElements, tableFirst = 20, 4

// shortened writes an output for a person: "logits 0.5 -1.25", and of a large one
// "mask f32[21,64,64] 0.5 -1.25 0 1 ...".
func shortened(name string, t tensor.Tensor) string {
	if t.Count() <= tableElements {
		return name + " " + strings.Join(format.Numbers(t), " ")
	}
	first := tensor.Tensor{DType: t.DType, Shape: []int{tableFirst}, Bytes: t.Bytes[:tableFirst*t.DType.Size()]}
	return fmt.Sprintf("%s %s %s ...", name, tensor.Describe(t.DType, t.Shape),
		strings.Join(format.Numbers(first), " "))
}
