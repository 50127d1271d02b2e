package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// A file with several inputs becomes a graph with one input, f32 [K]. A row holds a sample of each
// input, one after the other:
//
//	inputs [K]:  | image ............ | state ..... | rate |
//
// The graph slices and reshapes it. If all inputs begin with the batch, a sample is one row of each. If
// the file fixes the batch of one input to 1 and another input has no batch, a sample is one run of the
// file. The inputs without a batch are then unbatched values; see unbatched.go.

// fileInput is one of several inputs of a file.
type fileInput struct {
	name    string // name in the file
	field   models.Field
	dims    []*onnxpb.TensorShapeProto_Dimension
	lengths []int // lengths of all axes; 0: open
	batched bool  // the first axis is the batch
}

// severalInputs declares the fields of the input.
func (r border) severalInputs(infos []*onnxpb.ValueInfoProto, need []bool) error {
	inputs := make([]*fileInput, len(infos))
	var names foreign.Names
	for i, info := range infos {
		var err error
		if inputs[i], err = r.fileInputOf(info); err != nil {
			return fmt.Errorf("input %.80q: %w", info.Name, err)
		}
		inputs[i].field.Name = names.Free(outwardName(info.Name, "input"))
	}
	if err := r.placeBatch(inputs); err != nil {
		return err
	}
	if err := r.closeShapes(inputs); err != nil {
		return err
	}
	total := 0
	for _, x := range inputs {
		n, err := tensor.Size(tensor.F32, x.field.Shape)
		if err == nil && n == 0 {
			err = fmt.Errorf("its shape %v has no elements", x.field.Shape)
		}
		if err != nil {
			return fmt.Errorf("input %.80q: %w", x.name, err)
		}
		if total += n / tensor.F32.Size(); total > maxLength {
			return fmt.Errorf("the inputs have more than %d numbers together", maxLength)
		}
		r.fields = append(r.fields, x.field)
	}
	r.rowsInput = r.g.Input("inputs", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{total}})
	at, used := 0, r.usedNames(need)
	for _, x := range inputs {
		n := tensor.Count(x.field.Shape)
		if used[x.name] {
			r.values[x.name] = r.sliceField(x, at, n)
		}
		at += n
	}
	return r.g.Err()
}

// fileInputOf reads the type of an input.
func (r border) fileInputOf(info *onnxpb.ValueInfoProto) (*fileInput, error) {
	d, err := r.inputDType(info, true)
	if err != nil {
		return nil, err
	}
	x := &fileInput{name: info.Name, field: models.Field{DType: d}}
	shape := info.GetType().GetTensorType().Shape
	if shape == nil {
		return nil, fmt.Errorf("its shape is not in the file; one input of several needs it")
	}
	x.dims, x.lengths = shape.Dim, lengthsOf(shape.Dim)
	for _, dim := range x.dims {
		if n := dim.GetDimValue(); n > maxLength {
			return nil, fmt.Errorf("a length of %d, want at most %d", n, maxLength)
		}
	}
	return x, nil
}

// placeBatch finds the inputs that begin with the batch, and the length of the batch.
func (r border) placeBatch(inputs []*fileInput) error {
	if r.whole {
		r.shared.Batch = 1
		return nil
	}
	fixed, alike := 0, true
	for _, x := range inputs {
		switch {
		case len(x.lengths) == 0:
			alike = false
		case x.lengths[0] == 0:
		case fixed != 0 && fixed != x.lengths[0]:
			alike = false
		default:
			fixed = x.lengths[0]
		}
	}
	any := false
	for _, x := range inputs {
		x.batched = len(x.lengths) > 0 && (alike || x.lengths[0] <= 1)
		any = any || x.batched
	}
	if r.shared.Batch = int64(fixed); !alike {
		r.shared.Batch = 1
	}
	if !any {
		return problem.Advise("export the model with a batch of 1 in front of each input",
			"the inputs have no batch in common: %s", describeInputs(inputs))
	}
	return nil
}

// usedNames returns the names that the needed nodes read, and the names of outputs.
func (r border) usedNames(need []bool) map[string]bool {
	used := map[string]bool{}
	for i, n := range r.src.Node {
		if need[i] {
			decode.EachInput(n, func(name string) { used[name] = true })
		}
	}
	for _, o := range r.src.Output {
		used[o.Name] = true
	}
	return used
}

// sliceField returns the value of an input of the file: a slice of n numbers of the graph's
// input that begins at index first.
func (r border) sliceField(x *fileInput, first, n int) node.Value {
	name := r.g.UniqueName(x.field.Name)
	shape := x.field.Shape
	flat := name
	if len(shape) != 1 {
		flat = r.g.UniqueName(name + ".flat")
	}
	v := r.g.Op(graph.Slice, flat, []graph.Value{r.rowsInput}, "begin", []int{first}, "end", []int{first + n})
	if len(shape) != 1 {
		v = r.g.Op(graph.Reshape, name, []graph.Value{v}, "shape", shape)
	}
	rows := node.Rows(v)
	rows.Unbatched = !x.batched
	switch d := x.field.DType; d {
	case tensor.F32:
	case tensor.Bool:
		rows.Elements = node.Truths
	case tensor.I32, tensor.I64:
		rows.Elements, rows.Kind = node.Integers, d
	default:
		rows.Elements = node.Integers
	}
	return rows
}

// sampleDims returns the axes of a sample in the file.
func (x *fileInput) sampleDims() []*onnxpb.TensorShapeProto_Dimension {
	if x.batched {
		return x.dims[1:]
	}
	return x.dims
}

// sample returns the lengths of a sample. Open lengths are 0.
func (x *fileInput) sample() []int {
	return slices.Clone(x.lengths[len(x.dims)-len(x.sampleDims()):])
}

// describeInputs lists the names and shapes of inputs: "image [1,3,8,8], rate []".
func describeInputs(inputs []*fileInput) string {
	var all []string
	for _, x := range inputs {
		all = append(all, fmt.Sprintf("%.80s %s", x.name, described(x.dims, x.lengths)))
	}
	return strings.Join(all, ", ")
}
