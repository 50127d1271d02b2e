package onnx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// tail computes the end of a file for one sample. The outputs of the head are constants of
// the tail, so that its nodes are computed in the same way as constants of a file.
type tail struct {
	graph    *onnxpb.GraphProto
	opset    int
	values   map[string]node.Value // the constants of the file
	computed []bool                // nodes that were computed from constants only
	decoder  *decode.Decoder
	external *decode.External
	inputs   []tailInput
}

// tailInput is an output of the head (the model's graph) that the tail reads.
type tailInput struct {
	name    string
	batched bool // the file has a batch axis before the shape of a sample
}

// maxHosted is the maximum size of the values of a tail, in bytes.
const maxHosted = 2 << 30

// newTail prepares a tail. It reads the constants, so that the file is no longer needed.
func newTail(g *onnxpb.GraphProto, d *decoded) (*tail, error) {
	t := &tail{graph: g, opset: d.opset, values: map[string]node.Value{}, decoder: d.Decoder,
		external: d.external}
	r := t.reader()
	if err := r.initializers(t.decoder, t.external); err != nil {
		return nil, err
	}
	if err := r.constants(t.decoder, t.external, true); err != nil {
		return nil, err
	}
	for _, n := range g.Node {
		var err error
		decode.EachInput(n, func(name string) {
			if _, ok := r.values[name]; ok && err == nil {
				t.values[name], _, err = r.operand(name)
			}
		})
		if err == nil {
			err = t.keepBodies(n)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, o := range g.Output {
		if _, ok := r.values[o.Name]; ok {
			x, _, err := r.operand(o.Name)
			if err != nil {
				return nil, err
			}
			t.values[o.Name] = x
		}
	}
	t.computed = r.done
	return t, nil
}

// keepBodies loads the tensors of branches and loops. They are decoded again for each sample.
func (t *tail) keepBodies(n *onnxpb.NodeProto) error {
	for _, a := range n.Attribute {
		g := a.GetG()
		all := slices.Clone(g.GetInitializer())
		for _, inner := range g.GetNode() {
			if err := t.keepBodies(inner); err != nil {
				return err
			}
			for _, value := range inner.Attribute {
				if value.T != nil && value.T.DataType != int32(onnxpb.TensorProto_STRING) {
					all = append(all, value.T)
				}
			}
		}
		for _, p := range all {
			file, err := t.decoder.Initializer(p, t.external)
			if err != nil {
				return err
			}
			x, err := file.Load()
			if err != nil {
				return err
			}
			p.RawData, p.DataLocation = slices.Clone(x.Bytes), onnxpb.TensorProto_DEFAULT
		}
	}
	return nil
}

func (t *tail) reader() *reader {
	r := newReader(&onnxpb.ModelProto{Graph: t.graph}, t.opset, 0, &foreign.File{})
	r.decoder, r.external, r.unavailable = t.decoder, t.external, map[string]bool{}
	r.shared.Batch, r.shared.FoldBudget = 1, maxHosted
	return r
}

// run returns the outputs of the file for one sample. outs are the outputs of the head.
func (t *tail) run(outs []tensor.Tensor) (list []tensor.Tensor, err error) {
	r := t.reader()
	r.values, r.done = maps.Clone(t.values), t.computed
	for i, in := range t.inputs {
		x := outs[i]
		if in.batched {
			x.Shape = append([]int{1}, x.Shape...)
		}
		r.values[in.name] = node.Constant(x)
	}
	for i, n := range t.graph.Node {
		if t.computed[i] {
			continue
		}
		if table[decode.Operator(n)].structure != nil {
			n = proto.Clone(n).(*onnxpb.NodeProto) // reading a body removes its elements
		}
		if err := r.node(n); err != nil {
			return nil, fmt.Errorf("node %s (%.80q): %w", n.OpType, decode.First(n.Output, ""), err)
		}
	}
	for _, o := range t.graph.Output {
		x, err := t.output(r, o.Name)
		if err != nil {
			return nil, fmt.Errorf("output %.80q: %w", o.Name, err)
		}
		list = append(list, x)
	}
	return list, nil
}

// output returns an output of the file. Floats are converted to f32, as in all models.
func (t *tail) output(r *reader, name string) (x tensor.Tensor, err error) {
	v, ok, err := r.operand(name)
	switch {
	case err != nil:
		return x, err
	case !ok || !v.IsConstant() || v.IsSequence():
		return x, fmt.Errorf("is not a tensor")
	case element.IsFloat(v.Tensor.DType):
		return v.Tensor.ToF32()
	}
	return v.Tensor, nil
}

// attach returns the model of the head with the tail.
func (t *tail) attach(m *models.Model, outputs []hostedOutput) *models.Model {
	var infos []models.OutputInfo
	for _, o := range outputs {
		infos = append(infos, o.info)
	}
	out := *m
	out.Tail = &models.Tail{Outputs: infos, Nodes: len(t.graph.Node),
		Run: func(outs []tensor.Tensor) ([]tensor.Tensor, error) {
			all, err := t.run(outs)
			if err != nil {
				return nil, err
			}
			for i, o := range outputs {
				if all[i], err = o.sample(all[i]); err != nil {
					return nil, err
				}
			}
			return all, nil
		}}
	return &out
}

// hostedOutput is an output of a tail, the end of a file that the host computes.
type hostedOutput struct {
	info    models.OutputInfo
	batched bool // its first axis is the batch
}

// newHostedOutput describes an output of a file. batch is the file's name for the length of the batch.
func newHostedOutput(o *onnxpb.ValueInfoProto, batch string, whole bool) hostedOutput {
	p := o.GetType().GetTensorType()
	d, err := onnxpb.DType(p.GetElemType())
	if err != nil || element.IsFloat(d) {
		d = tensor.F32
	}
	dims := p.GetShape().GetDim()
	h := hostedOutput{}
	if len(dims) > 0 && !whole {
		first := dims[0]
		h.batched = first.GetDimValue() == 1 || batch != "" && first.GetDimParam() == batch
	}
	if h.batched {
		dims = dims[1:]
	}
	shape := lengthsOf(dims)
	for i := range shape {
		if shape[i] = cmp.Or(shape[i], -1); dims[i].GetDimParam() != "" {
			shape[i] = -1
		}
	}
	h.info = models.OutputInfo{Name: o.Name, Hosted: true,
		Type: graph.Type{Kind: graph.Rows, DType: d, Shape: shape}}
	return h
}

// sample returns an output without the axis of the batch.
func (h hostedOutput) sample(t tensor.Tensor) (tensor.Tensor, error) {
	if !h.batched {
		return t, nil
	}
	if len(t.Shape) == 0 || t.Shape[0] != 1 {
		return t, fmt.Errorf("output %s is %v for a batch of 1", h.info.Name, t)
	}
	t.Shape = t.Shape[1:]
	return t, nil
}
