package onnx

import (
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/encode"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/problem"
)

// Operator sets that can be written. In all of them, the operations that bnctl writes have the same
// meaning. HardSwish exists from 14 on, and from 18 on the axes of ReduceMean are an input.
const (
	OldestOpset  = 14
	DefaultOpset = 17
)

// Write writes the prediction of a model as ONNX, operator set 17, for batches
// of any length. Tensors and outputs keep their names. An input of u8 images
// keeps its type, and the file contains the preprocessing. The error names
// operations that have no counterpart in ONNX.
func Write(w io.Writer, m *models.Model) error { return WriteOpset(w, m, DefaultOpset) }

// WriteOpset is like Write but with another operator set, OldestOpset to DefaultOpset.
func WriteOpset(w io.Writer, m *models.Model, opset int) error { return write(w, m, opset, nil) }

// WriteSuppressed is like WriteOpset for a detector of the zoo, and adds non-maximum suppression.
// The file is for one picture. Its outputs are the K boxes that cells.Grid.Detections finds, from
// the highest score to the lowest: boxes, f32 [K,4] with the corners x1, y1, x2, y2 in pixels of
// the input, scores, f32 [K], and labels, i64 [K], the classes. The error is a *problem.Error for
// other models.
func WriteSuppressed(w io.Writer, m *models.Model, opset int, o cells.Options) error {
	if _, ok := m.DetectedClasses(); !ok {
		return problem.New("nms", "", "model "+m.Architecture+" is no detector of the zoo, so that its boxes "+
			"cannot be suppressed in the file", "leave it off")
	}
	return write(w, m, opset, &o)
}

func write(w io.Writer, m *models.Model, opset int, suppress *cells.Options) error {
	if opset < OldestOpset || opset > DefaultOpset {
		return fmt.Errorf("onnx: operator set %d: %d to %d can be written", opset, OldestOpset, DefaultOpset)
	}
	if err := m.CheckWhole(); err != nil {
		return err
	}
	p, err := encode.Model(m, opset, suppress)
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
