package encode

import (
	"fmt"
	"strconv"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/tensor"
)

// Versions and limits of the written file.
const (
	writtenIR = 8
	batchName = "N"
)

// writer converts a model to ONNX.
type writer struct {
	m          *models.Model
	f          *graph.Function
	g          *onnxpb.GraphProto
	names      map[graph.Value]string
	rows       map[graph.Value]string // names of weights with an additional first axis: see weights.go
	takenNames foreign.Names          // used names
	written    map[*graph.Node]bool   // nodes that are replaced by inputs
	opset      int
	suppress   *cells.Options // limits of a detector's non-maximum suppression; nil for other files
	err        error
}

// Model returns a model in ONNX, for an operator set. If suppress is not nil, the file is for one
// picture and ends in the non-maximum suppression of a detector. The error names operations that have
// no counterpart in ONNX.
func Model(m *models.Model, opset int, suppress *cells.Options) (*onnxpb.ModelProto, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	w := &writer{m: m, f: m.Graph.Main, g: &onnxpb.GraphProto{Name: m.Graph.Name},
		names: map[graph.Value]string{}, rows: map[graph.Value]string{}, opset: opset,
		suppress: suppress}
	for _, s := range m.Graph.State {
		w.takenNames.Free(s.Name)
	}
	for _, name := range w.outputNames() {
		if w.takenNames.Free(name) != name {
			w.fail("output %s is called like a tensor or another output", name)
		}
	}
	w.inputs()
	for i := range w.f.Nodes {
		if n := &w.f.Nodes[i]; !w.written[n] {
			w.node(n)
		}
	}
	if suppress != nil {
		w.suppressed(*suppress)
	} else {
		w.outputs()
	}
	p := &onnxpb.ModelProto{IrVersion: writtenIR, ProducerName: onnxpb.Producer, Graph: w.g,
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: int64(opset)}}}
	if w.biased() {
		p.MetadataProps = append(p.MetadataProps,
			&onnxpb.StringStringEntryProto{Key: onnxpb.VarianceKey, Value: "biased"})
	}
	if m.Preprocess.Known && m.Input().DType == tensor.U8 {
		p.MetadataProps = append(p.MetadataProps,
			&onnxpb.StringStringEntryProto{Key: onnxpb.ResizeKey, Value: strconv.Itoa(m.Preprocess.Resize)})
		if m.Preprocess.Letterbox {
			p.MetadataProps = append(p.MetadataProps,
				&onnxpb.StringStringEntryProto{Key: onnxpb.LetterboxKey, Value: "true"})
		}
		if m.Preprocess.EXIF {
			p.MetadataProps = append(p.MetadataProps, &onnxpb.StringStringEntryProto{Key: onnxpb.ExifKey,
				Value: onnxpb.ExifApply})
		}
		if v := m.Preprocess.Interpolation; v != "" {
			p.MetadataProps = append(p.MetadataProps, &onnxpb.StringStringEntryProto{Key: onnxpb.FilterKey, Value: v})
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
	if w.isComputedWeight(v) {
		n = w.withoutAxis(v)
	} else if n == "" {
		n = w.takenNames.Free(w.f.Values[v].Name)
	} else {
		w.initializer(n, w.m.State[n])
	}
	w.names[v] = n
	return n
}
