package onnx

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// Sniff reports whether a file that starts with head (512 bytes will do) may
// be an ONNX model. The format has no magic number: it is a protobuf message
// whose first field is the version, as all writers have it.
func Sniff(head []byte) bool {
	number, wire, n := protowire.ConsumeTag(head)
	if n < 0 || number != 1 || wire != protowire.VarintType {
		return false
	}
	version, m := protowire.ConsumeVarint(head[n:])
	if m < 0 || version < 1 || version > 64 {
		return false
	}
	number, wire, n = protowire.ConsumeTag(head[n+m:])
	return n > 0 && wire == protowire.BytesType && (number == 2 || number == 3 || number == 4 ||
		number == 7 || number == 8) ||
		n > 0 && wire == protowire.VarintType && number == 5
}

// Read opens an ONNX model. The result has a Model, or NoModel if the graph is
// not supported, and as Tensors all initializers, those too that nothing uses.
func Read(path string) (*foreign.File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := read(b, &external{dir: filepath.Dir(path)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// ReadFrom reads a model whose tensors are all inside, from the size bytes of src.
func ReadFrom(src io.ReaderAt, size int64) (*foreign.File, error) {
	b := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(src, 0, size), b); err != nil {
		return nil, err
	}
	return read(b, &external{})
}

func read(b []byte, ext *external) (*foreign.File, error) {
	m, err := parse(b)
	if err != nil {
		return nil, err
	}
	file := &foreign.File{Format: "onnx"}
	opset, err := checkModel(m)
	if err != nil {
		return nil, err
	}
	file.Count("ir_version", fmt.Sprint(m.IrVersion))
	file.Count("opset", fmt.Sprint(opset))
	if m.ProducerName != "" {
		file.Count("producer", m.ProducerName+" "+m.ProducerVersion)
	}
	r := newReader(m, opset, len(b), file)
	if err := r.initializers(ext); err != nil {
		return nil, err
	}
	file.Model, file.NoModel = r.model()
	return file, nil
}

// parse decodes a model after it has been weighed.
func parse(b []byte) (*onnxpb.ModelProto, error) {
	if bytes.HasPrefix(b, []byte("version https://git-lfs")) {
		return nil, fmt.Errorf("a pointer of Git LFS, not the model itself: fetch it with git lfs pull")
	}
	cost, err := survey(b, modelMessage, 0)
	if err != nil {
		return nil, fmt.Errorf("not an ONNX model: %w", err)
	}
	if limit := len(b) + spareMemory; cost > limit {
		return nil, fmt.Errorf("decoded the model would take %d bytes; at most %d are allowed to a file of %d",
			cost, limit, len(b))
	}
	m := &onnxpb.ModelProto{}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("not an ONNX model: %w", err)
	}
	return m, nil
}

// checkModel returns the version of the standard operators.
func checkModel(m *onnxpb.ModelProto) (opset int, err error) {
	if m.Graph == nil {
		return 0, fmt.Errorf("not an ONNX model: it has no graph")
	}
	for _, o := range m.OpsetImport {
		if o.Domain == "" || o.Domain == "ai.onnx" {
			opset = int(min(max(o.Version, 0), 1<<20))
		}
	}
	if opset < minOpset || opset > maxOpset {
		return 0, fmt.Errorf("operator set %d; %d to %d are supported: convert it with onnx.version_converter",
			opset, minOpset, maxOpset)
	}
	if len(m.Graph.Node) > maxNodes {
		return 0, fmt.Errorf("%d nodes; at most %d are supported", len(m.Graph.Node), maxNodes)
	}
	return opset, nil
}
