// Package draft writes the text form of a graph from the tensors of a checkpoint: its
// layers, in the order of the file, with their shapes. Unknown parts are left open.
//
// Use it for a checkpoint without its code. Of is the only entry point.
package draft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Draft is the text of a graph. Some operands may be unknown.
type Draft struct {
	Text    string
	Layers  int
	Strides int // number of convolutions: a checkpoint does not store their strides and padding
	Open    int // number of lines with a "?": unknown operands and layers, and guesses to check
}

// Summary describes the draft of a file in one line: its layers, open places, and missing parts.
func (d *Draft) Summary(path string) string {
	strides := ""
	if d.Strides > 0 {
		strides = fmt.Sprintf(", with strides and padding of %s", problem.Plural(d.Strides, "convolution"))
	}
	return fmt.Sprintf("%s of %s, %s left open or guessed where a ? is%s; the draft lacks activations, "+
		"pooling and sums of layers, which the file does not have", problem.Plural(d.Layers, "layer"), path,
		problem.Plural(d.Open, "line"), strides)
}

// Of drafts the graph of a state dict. input is the shape of a sample: [C,H,W], or [C,L]
// for 1-D samples. nil means 224 x 224 and the channels of the first layer. Of refuses a
// file that contains a graph, and a file without tensors named like layers.
func Of(f *formats.File, name string, input []int) (*Draft, error) {
	if f.Model != nil {
		return nil, problem.Failure("", "the file has a graph of its own", "train it as it is")
	}
	layers := layersOf(f.Tensors)
	d := &drafter{name: name}
	for i, l := range layers {
		var next *layer
		if i+1 < len(layers) {
			next = layers[i+1]
		}
		d.kinds = append(d.kinds, l.kind(next))
	}
	if !slices.ContainsFunc(d.kinds, func(k kind) bool { return k == conv || k == transposed || k == dense }) {
		return nil, noStructure(f.Tensors)
	}
	d.wire(layers, input)
	open := 0
	for _, line := range d.lines {
		if strings.Contains(line, "?") {
			open++
		}
	}
	return &Draft{Text: d.text(layers), Layers: len(layers), Strides: d.strides, Open: open}, nil
}

// noStructure returns the error for tensors that do not belong to layers.
func noStructure(tensors []formats.Tensor) error {
	const most = 3
	var names []string
	for _, t := range tensors[:min(most, len(tensors))] {
		names = append(names, t.String())
	}
	if len(tensors) > most {
		names = append(names, "...")
	}
	return problem.Failure("", fmt.Sprintf("nothing in its %s says what layers there are: %s",
		problem.Plural(len(tensors), "tensor"), strings.Join(names, ", ")),
		"save a state_dict(), whose names are LAYER.weight, LAYER.bias and LAYER.running_mean")
}

// drafter writes the lines of a function as a chain of layers.
type drafter struct {
	name    string
	kinds   []kind
	lines   []string
	input   string // the type of a sample
	x       string // name of the input
	last    string // name of the preceding value
	shape   []int  // shape of last; 0: unknown length
	strides int
}

// wire writes a line for each layer. Its operand is the preceding value if the lengths fit.
func (d *drafter) wire(layers []*layer, input []int) {
	d.x = "x"
	if slices.ContainsFunc(layers, func(l *layer) bool { return l.name == d.x }) {
		d.x = "input"
	}
	if input == nil {
		input = firstInput(layers, d.kinds)
	}
	d.input, d.last, d.shape = tensor.Describe(tensor.F32, input), d.x, input
	for i, l := range layers {
		switch k := d.kinds[i]; k {
		case conv, transposed:
			d.convolution(l, k)
		case dense:
			d.dense(l)
		case batchNorm:
			in, fits := d.operand(l.mean.Shape[0])
			d.add(l, "batch_norm(%s, %s, %s, %s, %s)", in, read(l.weight), read(l.bias), read(l.mean),
				read(l.variance))
			d.after(fits, l.mean.Shape[0])
		default:
			d.aside(l, k)
		}
	}
}

// firstInput returns the shape of a sample that fits the first layer.
func firstInput(layers []*layer, kinds []kind) []int {
	for i, l := range layers {
		switch {
		case kinds[i] == dense:
			return []int{l.weight.Shape[1]}
		case kinds[i] == conv && len(l.weight.Shape) == 3:
			return []int{l.weight.Shape[1], 224}
		case kinds[i] == conv:
			return []int{l.weight.Shape[1], 224, 224}
		case kinds[i] == batchNorm:
			return []int{l.mean.Shape[0], 224, 224}
		}
	}
	return []int{3, 224, 224}
}

// operand returns the preceding value if it has this number of channels, else "?".
func (d *drafter) operand(channels int) (name string, fits bool) {
	if len(d.shape) > 0 && d.shape[0] == channels {
		return d.last, true
	}
	return "?", false
}

// after sets d.shape to the shape of the output of the layer that was added.
func (d *drafter) after(fits bool, channels int) {
	if !fits || len(d.shape) == 0 {
		d.shape = []int{channels, 0, 0}
		return
	}
	d.shape = append([]int{channels}, d.shape[1:]...)
}

// add writes the line of a layer.
func (d *drafter) add(l *layer, format string, args ...any) {
	d.last = clean(l.name)
	d.lines = append(d.lines, "  "+d.last+" = "+fmt.Sprintf(format, args...))
}

// note writes a comment line.
func (d *drafter) note(format string, args ...any) {
	d.lines = append(d.lines, "  # "+fmt.Sprintf(format, args...))
}

// read returns the operand that reads a tensor.
func read(t *formats.Tensor) string {
	if t == nil {
		return "_"
	}
	return "@" + clean(t.Name)
}

// clean returns name in the form that the text form permits.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_./:-", r) {
			return r
		}
		return '_'
	}, name)
}
