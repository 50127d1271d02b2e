package format

import (
	"strings"

	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// WithNotes returns a Writer that writes to w. If w has written numbers that are not finite, End calls note.
// These numbers may be in raw outputs, or in the probabilities of NPY.
func WithNotes(w Writer, a *predict.Answers, note func(format string, args ...any)) Writer {
	if _, array := w.(*npyPredictions); !array && !a.Raw {
		return w
	}
	return &notingWriter{w, a, note, 0}
}

type notingWriter struct {
	Writer
	answers   *predict.Answers
	note      func(format string, args ...any)
	notFinite int // number of inputs with numbers that are not finite
}

func (w *notingWriter) Write(input string, outs []tensor.Tensor) error {
	if !w.answers.Finite(outs) {
		w.notFinite++
	}
	return w.Writer.Write(input, outs)
}

func (w *notingWriter) End() error {
	if w.notFinite > 0 {
		w.note("outputs of %s are not finite (NaN or infinite); they are written as they are",
			problem.Plural(w.notFinite, "input"))
	}
	return w.Writer.End()
}

// shortElements is the largest number of elements that Short writes completely. Of a larger output
// Short writes the type, the shape and the first shortFirst elements.
const shortElements, shortFirst = 20, 4

// Short returns an output as a line of text: "logits 0.5 -1.25" or, if it is large, "mask f32[21,64,64] 0.5
// -1.25 0 1 ...".
func Short(name string, t tensor.Tensor) string {
	if t.Count() <= shortElements {
		return name + " " + strings.Join(numbers(t), " ")
	}
	first := tensor.Tensor{DType: t.DType, Shape: []int{shortFirst}, Bytes: t.Bytes[:shortFirst*t.DType.Size()]}
	return name + " " + tensor.Describe(t.DType, t.Shape) + " " + strings.Join(numbers(first), " ") + " ..."
}
