package onnx

import (
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/encode"
	"github.com/bnctl/bnctl/models"
)

// The operator sets that can be written. In all of them the operations that
// bnctl writes mean the same: HardSwish exists since 14, and from 18 on the
// axes of ReduceMean are an input.
const (
	OldestOpset  = 14
	DefaultOpset = 17
)

// Write writes the prediction of a model as ONNX, operator set 17, for batches
// of any length. Tensors and outputs keep their names. An input of u8 images
// keeps its type, and the file contains the preprocessing. The error names
// operations that have no counterpart in ONNX.
func Write(w io.Writer, m *models.Model) error { return WriteOpset(w, m, DefaultOpset) }

// WriteOpset is Write with another operator set, OldestOpset to DefaultOpset.
func WriteOpset(w io.Writer, m *models.Model, opset int) error {
	if opset < OldestOpset || opset > DefaultOpset {
		return fmt.Errorf("onnx: operator set %d: %d to %d can be written", opset, OldestOpset, DefaultOpset)
	}
	if err := m.CheckWhole(); err != nil {
		return err
	}
	p, err := encode.Model(m, opset)
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
