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
	// Input is the shape of one sample if the file leaves lengths open, in the
	// file's order or, if it has three lengths, with the channels first.
	Input []int
	// Inputs are the shapes of samples of several inputs, by their names in the file.
	Inputs map[string][]int
	// Training reads batch norms and dropouts in the form of training, which a graph that is to be trained
	// may have. Without it they are refused: predictions would depend on the batch.
	Training bool
	// FloatQDQ computes operators between a DequantizeLinear and a QuantizeLinear in floats, by
	// the standard's rule. Without it groups that package qdq knows are computed in integers.
	FloatQDQ bool
	// Memory is where large initializers are put; nil: the heap.
	Memory *tensor.Region
}

// Read opens an ONNX model. The result has a Model, or NoModel if the graph is
// not supported. Its Tensors are all weights, including those that nothing
// uses. They are read from the file when asked for: close the result
// afterwards.
func Read(path string, o Options) (*foreign.File, error) {
	return foreign.Open(path, func(src io.ReaderAt, size int64) (*foreign.File, error) {
		return read(src, size, filepath.Dir(path), o)
	})
}

// ReadFrom is Read for size bytes of src. Tensors are read from src later, on demand. The
// model must have no external data.
func ReadFrom(src io.ReaderAt, size int64, o Options) (*foreign.File, error) {
	return read(src, size, "", o)
}

// read reads a model of rows or, if that fails, a model with the whole input as its sample;
// see whole.go.
func read(src io.ReaderAt, size int64, dir string, o Options) (*foreign.File, error) {
	file, fixed, err := readAs(src, size, &decode.External{Dir: dir}, o, false)
	if err != nil || file.NoModel == nil || !fixed || o.Input != nil || o.Inputs != nil {
		return file, err
	}
	if whole, _, err := readAs(src, size, &decode.External{Dir: dir}, o, true); err == nil &&
		whole.NoModel == nil {
		return whole, nil
	}
	return file, nil
}

// readAs reads a model of rows or of whole inputs. fixed reports whether the file fixes all
// lengths of its inputs.
func readAs(src io.ReaderAt, size int64, ext *decode.External, o Options, whole bool) (file *foreign.File,
	fixed bool, err error) {
	head := make([]byte, min(size, int64(len(lfsPointer))))
	if err := foreign.ReadAt(src, head, 0); err != nil {
		return nil, false, err
	}
	if string(head) == lfsPointer {
		return nil, false, problem.Advise("fetch it with git lfs pull",
			"a pointer of Git LFS, not the model itself")
	}
	d, err := decode.Decode(src, size)
	if err != nil {
		return nil, false, fmt.Errorf("not an ONNX model: %w", err)
	}
	file = &foreign.File{Format: "onnx"}
	m := d.Model
	opset, err := checkModel(m)
	if err != nil {
		return nil, false, err
	}
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
	if err := decode.Inline(m, opset); err != nil {
		return nil, false, err
	}
	m.Graph.Node = decode.InOrder(m.Graph.Node)
	r := newReader(m, opset, int(size), file)
	r.inputShape, r.inputShapes, r.whole = o.Input, o.Inputs, whole
	r.forTraining, r.memory = o.Training, o.Memory
	r.countQuantised()
	if err := r.initializers(d, ext); err != nil {
		return nil, false, err
	}
	r.shared.FoldBudget += node.FoldedTimes * int(ext.Loaded)
	if err := r.constants(d, ext, o.FloatQDQ || o.TensorsOnly); err != nil {
		return nil, false, err
	}
	r.countSaturating()
	r.nameNumbered()
	if o.TensorsOnly {
		err = r.moduleTensors()
	} else {
		file.Model, file.NoModel = r.model()
		if !o.FloatQDQ {
			r.countLayers()
		}
	}
	return file, r.fixesInputs(), err
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
