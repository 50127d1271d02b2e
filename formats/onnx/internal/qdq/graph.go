package qdq

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// Domain is the domain of the operators that Rewrite creates and that ONNX lacks.
const Domain = "bnctl"

// Graph has the nodes of an ONNX graph. Each node comes after the nodes that compute its operands.
type Graph struct {
	Nodes   []*onnxpb.NodeProto
	Outputs []string // names of the graph's results
	// Value returns a constant of the file: an initializer, or the value of a Constant.
	Value func(name string) (tensor.Tensor, bool)
	// Moves reports whether a node only moves elements of its first operand, and accepts
	// bytes.
	Moves func(*onnxpb.NodeProto) bool
	// Integers reports whether a node is an operator of integers.
	Integers func(*onnxpb.NodeProto) bool
}

// Result is a rewritten graph.
type Result struct {
	Nodes []*onnxpb.NodeProto
	// Constants are biases as i32, and zero points, that the new nodes read and that the file lacks.
	Constants map[string]tensor.Tensor
	// Replaced has the nodes of the file that were replaced, by the first results of the nodes that replace
	// them. Reasons has the reasons why nodes stay in floats, by the first results of these nodes.
	Replaced map[string]*onnxpb.NodeProto
	Reasons  map[string]string
}

// Rewrite returns g with groups in QDQ form replaced by operators of integers. It does not
// change the nodes of g.
func Rewrite(g Graph) Result {
	w := &rewriter{file: g, Result: Result{Constants: map[string]tensor.Tensor{},
		Replaced: map[string]*onnxpb.NodeProto{}, Reasons: map[string]string{}},
		made: map[string]*onnxpb.NodeProto{}, uses: map[string]int{}, scaled: map[string]scaled{},
		used: map[string]bool{}, kinds: map[string]tensor.DType{}, moved: map[*onnxpb.NodeProto]bool{}}
	w.count()
	for _, n := range g.Nodes {
		w.node(n)
	}
	w.dropUnused()
	w.products()
	w.dropUnused()
	w.explain()
	return w.Result
}

// rewriter is a graph that is being rewritten.
type rewriter struct {
	Result
	file   Graph
	made   map[string]*onnxpb.NodeProto // nodes of the result, by the names of their results
	uses   map[string]int               // number of nodes and outputs that read a name in the file
	scaled map[string]scaled            // floats that are dequantised bytes, by name
	used   map[string]bool              // used names
	kinds  map[string]tensor.DType      // types of quantised values, u8 and i8
	moved  map[*onnxpb.NodeProto]bool   // nodes that move bytes instead of floats
	noZero string                       // name of the zero point for u8 maps without one; "" until it is needed
}

// scaled is a tensor of integers with its scales.
type scaled struct {
	bytes, scale, zero string // names; zero may be ""
	axis               *onnxpb.AttributeProto
	constant           bool // the integers are constant
	channels           int  // number of scales
}

func (w *rewriter) count() {
	for _, n := range w.file.Nodes {
		decode.EachInput(n, func(name string) { w.uses[name]++; w.used[name] = true })
		for _, name := range n.Output {
			w.used[name] = true
		}
	}
	for _, name := range w.file.Outputs {
		w.uses[name]++
	}
}

// fresh returns a name that the graph lacks.
func (w *rewriter) fresh(name, suffix string) string {
	fresh := name + "/" + suffix
	for i := 2; w.used[fresh]; i++ {
		fresh = fmt.Sprintf("%s/%s%d", name, suffix, i)
	}
	w.used[fresh] = true
	return fresh
}

// emit adds a node to the result.
func (w *rewriter) emit(n *onnxpb.NodeProto) {
	w.Nodes = append(w.Nodes, n)
	for _, name := range n.Output {
		if name != "" {
			w.made[name] = n
		}
	}
}

// node adds a node, or the operator that replaces it.
func (w *rewriter) node(n *onnxpb.NodeProto) {
	switch op := decode.Operator(n); {
	case op == "DequantizeLinear" || op == microsoft+"DequantizeLinear":
		w.emit(n)
		if s, ok := w.readScaled(n); ok {
			w.scaled[n.Output[0]] = s
		}
	case op == "QuantizeLinear" || op == microsoft+"QuantizeLinear":
		if !w.quantise(n) {
			w.emit(n)
		}
	case w.movesScaled(n):
		w.move(n)
	default:
		w.emit(n)
		w.keepKind(n)
	}
}

const microsoft = "com.microsoft."

// dropUnused removes nodes of groups with results that nothing reads any more.
func (w *rewriter) dropUnused() {
	read := map[string]bool{}
	for _, name := range w.file.Outputs {
		read[name] = true
	}
	inFile := map[*onnxpb.NodeProto]bool{} // nodes with unread results in the file stay
	for _, n := range w.file.Nodes {
		inFile[n] = !slices.ContainsFunc(n.Output, func(name string) bool { return w.uses[name] > 0 })
	}
	var needed []*onnxpb.NodeProto
	for _, n := range slices.Backward(w.Nodes) {
		if !inFile[n] && !slices.ContainsFunc(n.Output, func(name string) bool { return read[name] }) {
			continue
		}
		decode.EachInput(n, func(name string) { read[name] = true })
		needed = append(needed, n)
	}
	slices.Reverse(needed)
	w.Nodes = needed
}
