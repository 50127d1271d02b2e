//go:build unix

package onnx

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/internal/regular"
)

// TestExternalPipe: a pipe without a writer is not external data, and the reader does not
// wait for it.
func TestExternalPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "data"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &onnxpb.TensorProto{DataType: int32(onnxpb.TensorProto_FLOAT), Dims: []int64{1},
		DataLocation: onnxpb.TensorProto_EXTERNAL,
		ExternalData: []*onnxpb.StringStringEntryProto{{Key: "location", Value: "data"}}}
	e, began := &decode.External{Dir: dir}, time.Now()
	if _, err := e.Find(p, 4); !errors.Is(err, regular.ErrNotRegular) {
		t.Errorf("a pipe was opened: %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it was waited for, %v", took)
	}
}
