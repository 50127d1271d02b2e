package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// reader is a model on its way from ONNX to a graph.
type reader struct {
	src    *onnxpb.GraphProto
	shared *node.Shared
	file   *foreign.File
	biased bool              // batch norms keep the biased variance
	images models.Preprocess // how image files become the input, if the file says so

	g           *graph.Builder
	table       []graph.State
	state       map[string]tensor.Tensor
	values      map[string]node.Value     // by their names in ONNX
	labels      map[string]string         // names in the graph of tensors of state, by their names in ONNX
	origins     map[string]origin         // of constants that have but another shape than a tensor of the file
	forTraining bool                      // the graph is read for training, whose form it may have
	memory      *tensor.Region            // of large initializers; nil: the heap
	inTraining  []string                  // batch norms that are in the form of training
	takenLabels foreign.Names             // labels that are taken
	fills       int64                     // bytes of large constants that are filled with one number
	filled      map[string]bool           // those
	types       []models.FileType         // of outputs
	made        int                       // nodes of the graph so far
	loops       int                       // that were read
	unrolled    int                       // nodes in rounds of loops
	placed      map[string]graph.Value    // the places of axes, by shape and axis
	rowsInput   graph.Value               // the input as floats; graph.None before it is there
	pixels      bool                      // the input is u8, of which the graph itself makes floats
	otherFloats map[tensor.DType][]string // casts of values to other floats than f32, by their names
	inputShape  []int                     // the shape of a sample, from outside; nil if it is not given
	whole       bool                      // a sample is the whole input, which has no axis for the batch
	done        []bool                    // nodes that need no more than the constants
	unavailable map[string]bool           // what nodes that were refused would have made

	decoder  *decode.Decoder // where the elements of tensors are
	external *decode.External

	computed map[string]bool // tensors of the file that nodes make of others

	readers map[string][]*onnxpb.NodeProto // by a name, who takes it; nil before it is asked for
}

func newReader(m *onnxpb.ModelProto, opset, size int, file *foreign.File) *reader {
	r := &reader{src: m.Graph, file: file,
		shared:    &node.Shared{Opset: opset, FoldBudget: node.MaxFolded + node.FoldedTimes*size},
		rowsInput: graph.None,
		state:     map[string]tensor.Tensor{}, values: map[string]node.Value{}, labels: map[string]string{},
		computed: map[string]bool{}, filled: map[string]bool{}, placed: map[string]graph.Value{},
		origins: map[string]origin{}}
	// the graph of another program says it; of ours, resizeKey
	r.images.Known = m.ProducerName != onnxpb.Producer
	for _, p := range m.MetadataProps {
		r.biased = r.biased || p.Key == onnxpb.VarianceKey && p.Value == "biased"
		if n, err := strconv.Atoi(p.Value); err == nil && p.Key == onnxpb.ResizeKey && n >= 0 &&
			n <= onnxpb.MaxResize {
			r.images.Resize, r.images.Known = n, true
		}
		r.images.EXIF = r.images.EXIF || p.Key == onnxpb.ExifKey && p.Value == onnxpb.ExifApply
		if p.Key == onnxpb.FilterKey && p.Value == "bicubic" {
			r.images.Interpolation = p.Value
		}
	}
	r.g = graph.NewBuilder("main", &r.table)
	r.shared.Types = r.g
	return r
}

// initializers lists all initializers as the file's tensors. They are read when
// a node takes them.
func (r *reader) initializers(d *decode.Decoder, ext *decode.External) error {
	for _, p := range r.src.Initializer {
		if _, twice := r.values[p.Name]; twice {
			return fmt.Errorf("two initializers are called %.80q", p.Name)
		}
		t, err := d.Initializer(p, ext)
		if err != nil {
			return fmt.Errorf("tensor %.80q: %w", p.Name, err)
		}
		r.values[p.Name] = node.InFile(&t)
		r.file.Tensors = append(r.file.Tensors, t)
	}
	return nil
}

// operand returns what a name stands for. An initializer is read when it is
// asked for first; halves become f32 then.
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

// model builds the template.
func (r *reader) model() (*models.Model, error) {
	need := r.reached()
	r.unavailable = map[string]bool{}
	for _, v := range r.src.Input {
		_, given := r.values[v.Name]
		r.unavailable[v.Name] = !given
	}
	noInput := r.input(need)
	if noInput == nil {
		clear(r.unavailable)
	}
	err := r.nodes(need)
	switch {
	case noInput != nil && err != nil:
		return nil, fmt.Errorf("%w; %w", noInput, err) // both, so that nobody mends one for nothing
	case cmp.Or(noInput, err) != nil:
		return nil, cmp.Or(noInput, err)
	}
	if err := r.outputs(); err != nil {
		return nil, err
	}
	r.findOtherFloats()
	if r.whole {
		r.file.Find(r.src.Input[0].Name, "the file computes along the first axis; here a sample is the whole "+
			"input, and the batch an axis before it", "")
	} else if r.shared.BatchAsAxis {
		r.file.Find(r.src.Input[0].Name, "the file fixes the batch to 1 and computes along its axis; here every "+
			"row is a batch of its own", "")
	}
	main, err := r.g.Function()
	if err == nil {
		main, err = graph.JoinNorms(main, r.table)
	}
	if err != nil {
		return nil, err
	}
	r.normRoles(main)
	name := foreign.Clean(r.src.Name, "onnx")
	m := &models.Model{Architecture: name, Graph: &graph.Graph{Name: name, State: r.table, Main: main},
		State: r.state, FileTypes: r.types}
	if err := m.JoinActivations(); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if r.pixels {
		m = ofPixels(m)
	}
	if m.Input().DType == tensor.U8 {
		m.Preprocess = r.images
	}
	return m, nil
}

// nodes adds the nodes that are needed to the graph. What is not supported is
// refused at once: a node behind one that was refused, or behind an input that
// was, is judged by its operator and its attributes alone.
func (r *reader) nodes(need []bool) error {
	var all refusals
	for i, n := range r.src.Node {
		if !need[i] || r.done[i] {
			continue
		}
		var err error
		unavailable := slices.ContainsFunc(n.Input, func(name string) bool { return r.unavailable[name] })
		if unavailable {
			err = checkOperator(n)
		} else {
			err = r.node(n)
		}
		if err != nil {
			all.add(i, n, err)
		}
		for _, name := range n.Output {
			r.unavailable[name] = name != "" && (unavailable || err != nil)
		}
		if r.g.Err() != nil {
			break // nothing can be added any more
		}
	}
	return all.error()
}

// checkOperator refuses a node whose operands are not known.
func checkOperator(n *onnxpb.NodeProto) error {
	op := decode.Operator(n)
	o := table[op]
	if o.structure != nil {
		return nil // what they take would say which nodes run
	}
	if !o.isRead() {
		return unknown(op)
	}
	return o.attributes.Check(&node.Node{Proto: n})
}

// nodeOf returns a node without its operands.
func (r *reader) nodeOf(n *onnxpb.NodeProto) node.Node { return node.Node{Shared: r.shared, Proto: n} }
