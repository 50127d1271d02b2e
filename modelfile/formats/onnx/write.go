package onnx

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// What is written.
const (
	writtenIR = 8
	producer  = "bnctl"
	batchName = "N"
)

// The operator sets that can be written. In all of them the operations that
// bnctl writes mean the same: HardSwish exists since 14, and from 18 on the
// axes of ReduceMean are an input.
const (
	OldestOpset  = 14
	DefaultOpset = 17
)

// Write writes a model as ONNX: operator set 17, in prediction, the length of
// the batch open. Tensors keep their names, outputs theirs; an input of u8
// images stays one, and the model contains its preprocessing. The error names
// operations that have no counterpart in ONNX.
func Write(w io.Writer, m *models.Model) error { return WriteOpset(w, m, DefaultOpset) }

// WriteOpset is Write with another operator set, OldestOpset to DefaultOpset.
func WriteOpset(w io.Writer, m *models.Model, opset int) error {
	if opset < OldestOpset || opset > DefaultOpset {
		return fmt.Errorf("onnx: operator set %d: %d to %d can be written", opset, OldestOpset, DefaultOpset)
	}
	p, err := encode(m, opset)
	if err != nil {
		return fmt.Errorf("onnx: model %s: %w", m.Architecture, err)
	}
	if n := proto.Size(p); n > math.MaxInt32 {
		return fmt.Errorf("onnx: model %s takes %d bytes; a protobuf message holds at most %d",
			m.Architecture, n, math.MaxInt32)
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		return fmt.Errorf("onnx: model %s: %w", m.Architecture, err)
	}
	_, err = w.Write(b)
	return err
}

// writer is a model on its way to ONNX.
type writer struct {
	m          *models.Model
	f          *graph.Function
	g          *onnxpb.GraphProto
	names      map[graph.Value]string
	takenNames foreign.Names // names that are taken
	opset      int
	err        error
}

func encode(m *models.Model, opset int) (*onnxpb.ModelProto, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	w := &writer{m: m, f: m.Graph.Main, g: &onnxpb.GraphProto{Name: m.Graph.Name},
		names: map[graph.Value]string{}, opset: opset}
	for _, s := range m.Graph.State {
		w.takenNames.Free(s.Name)
	}
	for _, o := range m.Outputs() {
		if w.takenNames.Free(o.Name) != o.Name {
			w.fail("output %s is called like a tensor or another output", o.Name)
		}
	}
	w.inputs()
	for i := range w.f.Nodes {
		w.node(&w.f.Nodes[i])
	}
	w.outputs()
	p := &onnxpb.ModelProto{IrVersion: writtenIR, ProducerName: producer, Graph: w.g,
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: int64(opset)}}}
	if w.biased() {
		p.MetadataProps = append(p.MetadataProps,
			&onnxpb.StringStringEntryProto{Key: varianceKey, Value: "biased"})
	}
	if m.Preprocess.Known && m.Input().DType == tensor.U8 {
		p.MetadataProps = append(p.MetadataProps,
			&onnxpb.StringStringEntryProto{Key: resizeKey, Value: strconv.Itoa(m.Preprocess.Resize)})
		if m.Preprocess.EXIF {
			p.MetadataProps = append(p.MetadataProps, &onnxpb.StringStringEntryProto{Key: exifKey, Value: exifApply})
		}
		if v := m.Preprocess.Interpolation; v != "" {
			p.MetadataProps = append(p.MetadataProps, &onnxpb.StringStringEntryProto{Key: filterKey, Value: v})
		}
	}
	if len(m.Labels) > 0 {
		p.MetadataProps = append(p.MetadataProps, &onnxpb.StringStringEntryProto{Key: foreign.LabelKey,
			Value: foreign.LabelText(m.Labels)})
	}
	return p, w.err
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// biased reports whether all batch norms keep the biased variance.
func (w *writer) biased() bool {
	found := false
	for i := range w.f.Nodes {
		if n := &w.f.Nodes[i]; n.Op == graph.BatchNorm {
			if n.Text("variance") != "biased" {
				return false
			}
			found = true
		}
	}
	return found
}

// name returns the name of a value in ONNX.
func (w *writer) name(v graph.Value) string {
	if v == graph.None {
		return ""
	}
	if n, ok := w.names[v]; ok {
		return n
	}
	n := w.f.Values[v].State
	if n == "" {
		n = w.takenNames.Free(w.f.Values[v].Name)
	} else {
		w.initializer(n, w.m.State[n])
	}
	w.names[v] = n
	return n
}

func (w *writer) inputs() {
	for _, v := range w.f.Inputs {
		w.g.Input = append(w.g.Input, w.info(w.name(v), w.f.Values[v].Type))
	}
}
