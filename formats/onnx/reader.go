package onnx

import (
	"fmt"
	"strconv"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// reader converts a model of ONNX to a graph.
type reader struct {
	src    *onnxpb.GraphProto
	shared *node.Shared
	file   *foreign.File
	biased bool              // running variances of batch norms are biased
	images models.Preprocess // conversion of image files to the input, if the file defines it

	g           *graph.Builder
	table       []graph.State
	state       map[string]tensor.Tensor
	values      map[string]node.Value        // keys are names in the file
	labels      map[string]string            // names of state tensors in the graph, by their names in the file
	origins     map[string]origin            // origins of constants that nodes moved: see origins.go
	forms       map[string]fileForm          // forms of state tensors in the file
	lifts       map[string]*onnxpb.NodeProto // nodes that compute constants from parameters: see lift.go
	lifted      map[string]graph.Value
	fromTorch   bool                      // PyTorch wrote the file
	doubtful    []doubt                   // constants that may be parameters
	sources     map[string]source         // sources of computed constants
	homes       map[string]string         // numbered initializers, by the names that they got
	aliases     map[string][]string       // other names in the file for a tensor that layers share
	initial     map[string]bool           // names of initializers
	forTraining bool                      // the graph is to be trained: nodes in training mode are accepted
	memory      *tensor.Region            // memory of large initializers; nil: the heap
	inTraining  []string                  // batch norms in training mode
	takenLabels foreign.Names             // used labels
	fills       int64                     // total bytes of large constants that are filled
	filled      map[string]bool           // large constants that are filled with one number
	types       []models.FileType         // types of outputs
	nodeCount   int                       // nodes of the graph so far
	loops       int                       // loops that were read
	unrolled    int                       // nodes from rounds of loops
	placed      map[string]graph.Value    // positions along an axis, by shape and axis
	rowsInput   graph.Value               // the input as floats; graph.None before it is added
	pixels      bool                      // the input is u8, and the graph converts it to floats
	otherFloats map[tensor.DType][]string // names of casts to floats other than f32
	inputShape  []int                     // the caller's shape of a sample, or nil
	inputShapes map[string][]int          // the caller's shapes for several inputs, by name
	fields      []models.Field            // the inputs, if there are several
	whole       bool                      // a sample is the whole input, which has no axis for the batch
	done        []bool                    // nodes that were computed from constants
	unavailable map[string]bool           // results of refused nodes, and of nodes that read these
	refused     []*onnxpb.NodeProto       // nodes that are not supported
	manyPicks   []string                  // results of TopKs that pick more elements than a graph supports
	output      string                    // the output that was declared last

	decoder  *decode.Decoder // storage of the elements of tensors
	external *decode.External

	computed map[string]bool // tensors of the file that nodes compute from others

	readers map[string][]*onnxpb.NodeProto // readers by name; nil until first needed

	inFile    []*onnxpb.NodeProto          // nodes of the file before useBytes replaced some of them
	replaced  map[string]*onnxpb.NodeProto // see qdq.Result
	whyFloats map[string]string            // reasons why nodes of a quantised file are computed in floats
}

func newReader(m *onnxpb.ModelProto, opset, size int, file *foreign.File) *reader {
	r := &reader{src: m.Graph, file: file,
		shared:    &node.Shared{Opset: opset, FoldBudget: node.MaxFolded + node.FoldedTimes*size},
		rowsInput: graph.None,
		state:     map[string]tensor.Tensor{}, values: map[string]node.Value{}, labels: map[string]string{},
		computed: map[string]bool{}, filled: map[string]bool{}, placed: map[string]graph.Value{},
		origins: map[string]origin{}, forms: map[string]fileForm{}, initial: map[string]bool{},
		aliases: map[string][]string{}, homes: map[string]string{}, sources: map[string]source{},
		lifts: map[string]*onnxpb.NodeProto{}, lifted: map[string]graph.Value{}}
	r.fromTorch = m.ProducerName == "pytorch"
	// The graph of another program's file defines the conversion of image files. In files
	// of bnctl, ResizeKey shows that it is known.
	r.images.Known = m.ProducerName != onnxpb.Producer
	for _, p := range m.MetadataProps {
		r.biased = r.biased || p.Key == onnxpb.VarianceKey && p.Value == "biased"
		if n, err := strconv.Atoi(p.Value); err == nil && p.Key == onnxpb.ResizeKey && n >= 0 &&
			n <= onnxpb.MaxResize {
			r.images.Resize, r.images.Known = n, true
		}
		r.images.EXIF = r.images.EXIF || p.Key == onnxpb.ExifKey && p.Value == onnxpb.ExifApply
		r.images.Letterbox = r.images.Letterbox || p.Key == onnxpb.LetterboxKey && p.Value == "true"
		if p.Key == onnxpb.FilterKey && p.Value == "bicubic" {
			r.images.Interpolation = p.Value
		}
	}
	r.g = graph.NewBuilder("main", &r.table)
	r.shared.Types = r.g
	return r
}

// initializers lists all initializers as the file's tensors. Their elements are read when a
// node needs them.
func (r *reader) initializers(d *decode.Decoder, ext *decode.External) error {
	for _, p := range r.src.Initializer {
		if _, twice := r.values[p.Name]; twice {
			return fmt.Errorf("two initializers are called %.80q", p.Name)
		}
		t, err := d.Initializer(p, ext)
		if err != nil {
			return fmt.Errorf("tensor %.80q: %w", p.Name, err)
		}
		r.values[p.Name], r.initial[p.Name] = node.InFile(&t), true
		r.file.Tensors = append(r.file.Tensors, t)
	}
	return nil
}

// operand returns the value of a name. An initializer is read at its first use; f16 and
// bf16 then become f32.
func (r *reader) operand(name string) (node.Value, bool, error) {
	x, ok := r.values[name]
	if !ok || x.File == nil {
		return x, ok, nil
	}
	t, err := x.File.LoadIn(r.memory)
	if err == nil && (t.DType == tensor.F16 || t.DType == tensor.BF16) {
		if r.shared.FoldBudget -= len(t.Bytes); r.shared.FoldBudget < 0 {
			return x, true, r.shared.OverBudget()
		}
		t, err = t.ToF32()
	}
	x = node.Constant(t)
	r.values[name] = x
	return x, true, err
}

// nodeOf returns a node without its operands.
func (r *reader) nodeOf(n *onnxpb.NodeProto) node.Node { return node.Node{Shared: r.shared, Proto: n} }
