package onnx

import (
	"fmt"
	"io"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Sniff reports whether a file that starts with head (512 bytes are enough) may be an ONNX
// model. The format has no magic number: it is a protobuf message that all writers begin
// with the version.
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

// Options determine how a file is read.
type Options struct {
	// TensorsOnly leaves out the model. Tensors then have the names and shapes of PyTorch's state dict,
	// and a tensor that modules share is listed under each name.
	TensorsOnly bool
	// Input is the shape of one sample, for files that leave lengths open. It
	// is in the file's order; three lengths may also be in the order C, H, W.
	Input []int
	// Inputs are the shapes of samples of several inputs, by their names in the file.
	Inputs map[string][]int
	// Training accepts batch norms and dropouts in training mode, for a graph that is to be trained.
	// Without it they are refused, because predictions would depend on the batch.
	Training bool
	// FloatQDQ keeps operators between a DequantizeLinear and a QuantizeLinear in floats, by
	// the standard's rule. Without it, groups that package qdq recognises are computed in
	// integers.
	FloatQDQ bool
	// Memory is the memory for large initializers; nil: the heap.
	Memory *tensor.Region
}

// Read opens an ONNX model. The result has a Model, or NoModel if the graph is not supported.
// Its Tensors are all weights, used or not. They are read from the file on demand: close the
// result afterwards.
func Read(path string, o Options) (*foreign.File, error) {
	return foreign.Open(path, func(src io.ReaderAt, size int64) (*foreign.File, error) {
		return read(src, size, filepath.Dir(path), o)
	})
}

// ReadFrom is like Read but reads size bytes of src. Tensors are read from src later, on demand. The
// model must have no external data.
func ReadFrom(src io.ReaderAt, size int64, o Options) (*foreign.File, error) {
	return read(src, size, "", o)
}

// read reads a model with the batch as its first axis. If that fails, it reads it with the whole input
// as a sample: see whole.go.
func read(src io.ReaderAt, size int64, dir string, o Options) (*foreign.File, error) {
	in := &fileReader{src: src, size: size, dir: dir, options: o}
	rows, err := in.read(false, nil)
	if err != nil || rows.file.NoModel == nil {
		return fileOf(rows), err
	}
	var whole *reader
	if rows.fixesInputs() && o.Input == nil && o.Inputs == nil {
		if whole, err = in.read(true, nil); err == nil && whole.file.NoModel == nil {
			return whole.file, nil
		}
	}
	if file := in.readDivided(rows, whole); file != nil {
		return file, nil
	}
	return rows.file, nil
}

// fileOf returns the file of a reader, which may be nil.
func fileOf(r *reader) *foreign.File {
	if r == nil {
		return nil
	}
	return r.file
}

// fileReader reads a file, several times if necessary.
type fileReader struct {
	src     io.ReaderAt
	size    int64
	dir     string
	options Options
}

// decoded is the decoded message of a file. Its local functions are expanded, and its nodes are sorted.
type decoded struct {
	*decode.Decoder
	opset    int
	external *decode.External
}

// decode decodes the file. Each reader needs a separate message, because reading removes
// elements from it.
func (in *fileReader) decode() (*decoded, error) {
	head := make([]byte, min(in.size, int64(len(lfsPointer))))
	if err := foreign.ReadAt(in.src, head, 0); err != nil {
		return nil, err
	}
	if string(head) == lfsPointer {
		return nil, problem.Advise("fetch it with git lfs pull",
			"a pointer of Git LFS, not the model itself")
	}
	d, err := decode.Decode(in.src, in.size)
	if err != nil {
		return nil, fmt.Errorf("not an ONNX model: %w", err)
	}
	opset, err := checkModel(d.Model)
	if err != nil {
		return nil, err
	}
	if err := decode.Inline(d.Model, opset); err != nil {
		return nil, err
	}
	d.Model.Graph.Node = decode.InOrder(d.Model.Graph.Node)
	return &decoded{d, opset, &decode.External{Dir: in.dir}}, nil
}

// read reads a model. Its samples are the rows of the input or, if whole is set, the whole
// input. With a division it reads only the head.
func (in *fileReader) read(whole bool, divide *division) (*reader, error) {
	d, err := in.decode()
	if err != nil {
		return nil, err
	}
	m, o, file := d.Model, in.options, &foreign.File{Format: "onnx"}
	describe(file, m, d.opset)
	if divide != nil {
		if err := divide.cut(m.Graph, in); err != nil {
			return nil, err
		}
		m.Graph = divide.head
	}
	r := newReader(m, d.opset, int(in.size), file)
	r.inputShape, r.inputShapes, r.whole = o.Input, o.Inputs, whole
	r.forTraining, r.memory = o.Training, o.Memory
	r.countQuantised()
	if err := r.initializers(d.Decoder, d.external); err != nil {
		return nil, err
	}
	r.shared.FoldBudget += node.FoldedTimes * int(d.external.Loaded)
	if err := r.constants(d.Decoder, d.external, o.FloatQDQ || o.TensorsOnly); err != nil {
		return nil, err
	}
	examination{r}.countSaturating()
	naming{r}.nameNumbered()
	if o.TensorsOnly {
		err = naming{r}.moduleTensors()
	} else {
		file.Model, file.NoModel = r.model()
		if !o.FloatQDQ {
			r.countLayers()
		}
	}
	return r, err
}

// describe adds the versions and the labels of a message to a file.
func describe(file *foreign.File, m *onnxpb.ModelProto, opset int) {
	file.Count("ir_version", fmt.Sprint(m.IrVersion))
	file.Count("opset", fmt.Sprint(opset))
	if m.ProducerName != "" {
		file.Count("producer", m.ProducerName+" "+m.ProducerVersion)
	}
	metadata := map[string]string{}
	for _, p := range m.MetadataProps {
		metadata[p.Key] = p.Value
	}
	file.Label(metadata)
}

const lfsPointer = "version https://git-lfs"

// checkModel returns the version of the standard operators.
func checkModel(m *onnxpb.ModelProto) (opset int, err error) {
	if m.Graph == nil {
		return 0, fmt.Errorf("not an ONNX model: it has no graph")
	}
	for _, o := range m.OpsetImport {
		if o.Domain == "" || o.Domain == "ai.onnx" {
			version := int(min(max(o.Version, 0), 1<<20))
			if opset != 0 && version != opset {
				return 0, problem.Advise("export it again, or convert it to one of them with onnx.version_converter",
					"it imports opsets %d and %d of the standard operators, which have different meanings", opset, version)
			}
			opset = version
		}
	}
	if opset < minOpset || opset > maxOpset {
		return 0, problem.Advise("convert it with onnx.version_converter",
			"operator set %d; %d to %d are supported",
			opset, minOpset, maxOpset)
	}
	if len(m.Graph.Node) > decode.MaxNodes {
		return 0, fmt.Errorf("%d nodes; at most %d are supported", len(m.Graph.Node), decode.MaxNodes)
	}
	return opset, nil
}
