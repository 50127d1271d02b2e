package onnx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// reader is a model on its way from ONNX to a graph.
type reader struct {
	src    *onnxpb.GraphProto
	opset  int
	file   *foreign.File
	biased bool              // batch norms keep the biased variance
	images models.Preprocess // how image files become the input, if the file says so

	g      *graph.Builder
	table  []graph.State
	state  map[string]tensor.Tensor
	values map[string]value  // by their names in ONNX
	labels map[string]string // names in the graph of tensors of state, by their names in ONNX
	used   foreign.Names     // labels that are taken
	batch  int64             // the length of the batch if the file fixes it, else 0
	room   int               // bytes that constants may still take that are computed
	given  []int             // the shape of a sample, from outside; nil if it is not given
	done   []bool            // nodes that need no more than the constants

	computed map[string]bool // tensors of the file that nodes make of others
}

// value is what a name of ONNX stands for: rows of the graph, or a constant.
type value struct {
	v      graph.Value     // graph.None for a constant
	c      tensor.Tensor   // the constant
	file   *foreign.Tensor // the constant, still in the file
	logits graph.Value     // what a softmax made v of; graph.None otherwise
	op     string          // the operator that made v
	bare   bool            // the file's batch of 1 was dropped: axis 0 is the first of the rows
	picked bool            // v are the scores that an ArgMax picks from
}

func rows(v graph.Value) value          { return value{v: v, logits: graph.None} }
func constant(t tensor.Tensor) value    { return value{v: graph.None, c: t, logits: graph.None} }
func (x value) isConstant() bool        { return x.v == graph.None }
func (r *reader) shapeOf(x value) []int { return r.g.Type(x.v).Shape }

func newReader(m *onnxpb.ModelProto, opset, size int, file *foreign.File) *reader {
	r := &reader{src: m.Graph, opset: opset, file: file, room: maxFolded + foldedTimes*size,
		state: map[string]tensor.Tensor{}, values: map[string]value{}, labels: map[string]string{},
		computed: map[string]bool{}}
	for _, p := range m.MetadataProps {
		r.biased = r.biased || p.Key == varianceKey && p.Value == "biased"
		if n, err := strconv.Atoi(p.Value); err == nil && p.Key == resizeKey && n >= 0 && n <= maxResize {
			r.images.Resize, r.images.Known = n, true
		}
		r.images.EXIF = r.images.EXIF || p.Key == exifKey && p.Value == exifApply
		if p.Key == filterKey && p.Value == "bicubic" {
			r.images.Interpolation = p.Value
		}
	}
	r.g = graph.NewBuilder("main", &r.table)
	return r
}

// initializers lists all initializers as the file's tensors. They are read when
// a node takes them.
func (r *reader) initializers(d *decoder, ext *external) error {
	for _, p := range r.src.Initializer {
		if _, twice := r.values[p.Name]; twice {
			return fmt.Errorf("two initializers are called %.80q", p.Name)
		}
		t, err := d.initializer(p, ext)
		if err != nil {
			return fmt.Errorf("tensor %.80q: %w", p.Name, err)
		}
		r.values[p.Name] = value{v: graph.None, file: &t, logits: graph.None}
		r.file.Tensors = append(r.file.Tensors, t)
	}
	return nil
}

// operand returns what a name stands for. An initializer is read when it is
// asked for first; halves become f32 then.
func (r *reader) operand(name string) (value, bool, error) {
	x, ok := r.values[name]
	if !ok || x.file == nil {
		return x, ok, nil
	}
	t, err := x.file.Load()
	if err == nil && (t.DType == tensor.F16 || t.DType == tensor.BF16) {
		if r.room -= len(t.Bytes); r.room < 0 {
			return x, true, r.noRoom()
		}
		t, err = t.ToF32()
	}
	x = constant(t)
	r.values[name] = x
	return x, true, err
}

// model builds the template.
func (r *reader) model() (*models.Model, error) {
	need, err := r.needed()
	if err != nil {
		return nil, err
	}
	if err := r.input(need); err != nil {
		return nil, err
	}
	for i, n := range r.src.Node {
		if !need[i] || r.done[i] {
			continue
		}
		if err := r.node(n); err != nil {
			return nil, fmt.Errorf("node %d (%.80s %.80s): %w", i, n.OpType, strings.Join(n.Output, ","), err)
		}
	}
	if err := r.outputs(); err != nil {
		return nil, err
	}
	main, err := r.g.Function()
	if err != nil {
		return nil, err
	}
	name := foreign.Clean(r.src.Name, "onnx")
	m := &models.Model{Architecture: name, Graph: &graph.Graph{Name: name, State: r.table, Main: main},
		State: r.state}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if m.Input().DType == tensor.U8 {
		m.Preprocess = r.images
	}
	return m, nil
}

// needed marks the nodes that lead to an output, and refuses the operators
// among them that have no counterpart, all at once. Nodes come in an order in
// which they can run: whatever takes a later result belongs to a cycle.
func (r *reader) needed() ([]bool, error) {
	need := r.reached()
	var unknown []string
	seen := map[string]bool{}
	for i, n := range r.src.Node {
		if op := operator(n); need[i] && makers[op] == nil && folds[op] == nil && !seen[op] {
			seen[op] = true
			unknown = append(unknown, op)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return nil, fmt.Errorf("operators that are not supported: %.400s", strings.Join(unknown, ", "))
	}
	return need, nil
}

// operator names a node's operator, with its domain if that is not the standard's.
func operator(n *onnxpb.NodeProto) string {
	if n.Domain != "" && n.Domain != "ai.onnx" {
		return n.Domain + "." + n.OpType
	}
	return n.OpType
}
