package onnx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// border declares the inputs of the graph, with their types and shapes.
type border struct{ *reader }

// input declares the inputs that are not initializers.
func (r border) input(need []bool) error {
	in := r.fileInputs()
	switch {
	case len(in) == 0:
		return fmt.Errorf("it has no input; 1 or more are supported")
	case len(in) > 1:
		return r.severalInputs(in, need)
	case len(r.inputShapes) > 0:
		return problem.Failure("", "{input} names inputs, and the file has only one", "give its lengths alone: "+
			"{input} 3,224,224")
	}
	name := in[0].Name
	if err := r.declareInput(name, in[0], need); err != nil {
		return fmt.Errorf("input %.80q: %w", name, err)
	}
	return r.g.Err()
}

// fileInputs returns the inputs that have no value yet.
func (r border) fileInputs() (inputs []*onnxpb.ValueInfoProto) {
	for _, v := range r.src.Input {
		if x, given := r.values[v.Name]; !given || !x.IsConstant() {
			inputs = append(inputs, v)
		}
	}
	return inputs
}

// declareInput adds the input to the graph: u8 pictures with their conversion to numbers,
// other integers as f32.
func (r border) declareInput(name string, info *onnxpb.ValueInfoProto, need []bool) error {
	t, err := r.inputType(info)
	if err != nil {
		return err
	}
	integer, images := t.DType != tensor.F32, len(t.Shape) == 3
	if t.DType == tensor.U8 && images && !r.whole {
		if p := newPixels(r.reader, name, t.Shape, false); p.walk(need) {
			err := p.declare(need)
			r.rowsInput = r.values[p.at].V
			return err
		}
	}
	if integer {
		r.pixels = t.DType == tensor.U8
		t.DType = tensor.F32
	}
	v := node.Rows(r.g.Input(r.g.UniqueName(outwardName(name, "input")), t))
	if v.Unbatched = r.whole; integer {
		v.Elements = node.Integers
	}
	r.values[name], r.rowsInput = v, v.V
	if images && !integer && !r.whole && r.g.Err() == nil {
		r.remark(name, t.Shape, need)
	}
	return r.g.Err()
}

// inputType reads a type: f32 of any rank, or u8 images (N, H, W, C).
func (r border) inputType(info *onnxpb.ValueInfoProto) (graph.Type, error) {
	d, err := r.inputDType(info, false)
	if err != nil {
		return graph.Type{}, err
	}
	shape, err := r.sample(info.GetType().GetTensorType().Shape)
	return graph.Type{Kind: graph.Rows, DType: d, Shape: shape}, err
}

// inputDType returns the type of the elements of an input: f32 for all floats. If there are several
// inputs, inputs of integers or truth values keep their type.
func (r border) inputDType(info *onnxpb.ValueInfoProto, several bool) (tensor.DType, error) {
	p := info.GetType().GetTensorType()
	if p == nil {
		return 0, fmt.Errorf("its type is not given")
	}
	d, err := onnxpb.DType(p.ElemType)
	if err != nil {
		return 0, err
	}
	switch d {
	case tensor.F16, tensor.BF16, tensor.F64:
		r.file.Find(info.Name, fmt.Sprintf("the model computes in %v; here it computes in f32", d), "")
		return tensor.F32, nil
	case tensor.F32, tensor.U8:
	case tensor.Bool:
		if !several {
			return 0, fmt.Errorf("its type is %v; numbers are supported", d)
		}
	default:
		if !several {
			r.file.Find(info.Name, fmt.Sprintf("the file takes %v; here it takes the same numbers as f32", d), "")
		}
	}
	return d, nil
}

// outputs declares the results by name, in order. If the only result of a classifier is a
// softmax, the operand of the softmax follows it as the logits.
func (r *reader) outputs() error {
	var names foreign.Names
	var picks []pick
	named := map[graph.Value]string{}
	output := func(name string, v graph.Value) string {
		name = names.Free(name)
		r.g.Output(name, v, false)
		named[v] = cmp.Or(named[v], name)
		return name
	}
	count := r.countOutputs()
	for _, o := range r.src.Output {
		x, ok := r.values[o.Name]
		r.output = o.Name
		switch {
		case !ok:
			return fmt.Errorf("output %.80q is not computed from the input", o.Name)
		case x.IsSequence():
			return fmt.Errorf("output %.80q is a sequence, which is not supported", o.Name)
		case x.IsGrowing(), x.IsLengths():
			return fmt.Errorf("output %.80q: %w", o.Name, node.ErrLength)
		case x.IsConstant():
			v, err := r.constantOutput(o.Name)
			if err != nil {
				return fmt.Errorf("output %.80q: %w", o.Name, err)
			}
			r.hasType(output(outwardName(o.Name, "output"), v), o, r.values[o.Name])
			continue
		case x.Unbatched && r.shared.Tracked():
			return fmt.Errorf("output %.80q %w", o.Name, x.BatchAxis.Error())
		case x.IsScores():
			picks = append(picks, pick{o, x, len(r.types)})
			r.types = append(r.types, models.FileType{})
			if r.isDuplicateOutput(o.Name, x) {
				continue // the scores are an output of the file, too
			}
			output("scores", x.V)
		default:
			if x.HoldsBytes() {
				c := &call{reader: r, Node: r.nodeOf(nil), name: foreign.Clean(o.Name, "output")}
				x = unpackValue(c, x, ".integers")
			}
			if s := r.shared.ShapeOf(x); x.Unbatched && len(s) > 0 && s[0] == 1 { // rows begin with the batch axis
				name := r.g.UniqueName(foreign.Clean(o.Name, "output") + ".batch")
				x.V = r.g.Op(graph.Reshape, name, []graph.Value{x.V}, "shape", s[1:])
			}
			r.hasType(output(outwardName(o.Name, "output"), x.V), o, x)
		}
		if count == 1 && len(r.shared.ShapeOf(x)) == 1 && x.Logits != graph.None {
			output("logits", x.Logits)
		}
	}
	for _, p := range picks {
		r.types[p.position] = fileTypeOf(names.Free(outwardName(p.output.Name, "output")), named[p.x.V], p)
	}
	if len(picks) == 0 { // the outputs keep the file's order; their elements become f32
		r.types = slices.DeleteFunc(r.types, func(t models.FileType) bool { return t.DType == tensor.F32 })
	}
	return r.g.Err()
}

// countOutputs finds the outputs that are the result of an ArgMax. The graph's output has the scores
// instead. It returns the number of different outputs of the graph.
func (r *reader) countOutputs() int {
	count := 0
	for _, o := range r.src.Output {
		x := r.values[o.Name]
		if x.IsScores() {
			r.file.Find(o.Name, "the file picks the largest by ArgMax; what it picks from is an output, too", "")
		}
		if !x.IsScores() || !r.isDuplicateOutput(o.Name, x) {
			count++
		}
	}
	return count
}

// isDuplicateOutput reports whether another output has the value of x, or an earlier output
// has the result of the same ArgMax.
func (r *reader) isDuplicateOutput(name string, x node.Value) bool {
	before := true
	for _, o := range r.src.Output {
		if o.Name == name {
			before = false
			continue
		}
		if y := r.values[o.Name]; y.V == x.V && (before || !y.IsScores()) {
			return true
		}
	}
	return false
}
