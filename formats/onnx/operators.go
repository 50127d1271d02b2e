package onnx

import (
	"fmt"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// operator describes an operator of ONNX. Each file that implements operators registers them in
// the table. The rest of the package refers to an operator by name only if it treats that
// operator in a special way.
type operator struct {
	attributes node.Spec
	// refused lists in words the values of attributes, and the operands, that have no counterpart. Each is
	// refused by a sentence that names it. docs/formats.md shows the list.
	refused string

	make      maker          // adds nodes to the graph; nil if all operands must be constants
	fold      fold.Func      // computes the results from constants; nil if this is not supported
	batch     batchaxis.Rule // finds the batch axis of the results; nil if it must be the first axis
	structure func(*reader, *onnxpb.NodeProto) error
	quantised *quantisedOp

	integers integers         // how the operator treats integers that come from the input
	bytes    func(*call) bool // reports whether the operator accepts bytes of the graph; nil: never
	grows    *growth          // computes integers that grow from row to row; nil if the operator does not
	traits   traits
}

// traits are properties of operators.
type traits uint8

const (
	needsBatch    traits = 1 << iota // the batch axis of the operator's operands must be the first axis
	followsArgMax                    // the operator may be between an ArgMax and an output
	onlyReshapes                     // the operator only gives a constant another shape
	hasSettings                      // all operands of the operator except the first are settings
	onWeights                        // an operator that computes a weight may become a node: see lift.go
	alignsBatch                      // the operator combines a constant that has a batch axis with a value
	preparesInput                    // files use the operator to prepare their input: see parameters.go
)

func (t traits) has(u traits) bool { return t&u != 0 }

// operators maps names to operators. A name begins with its domain, except in the standard domain.
type operators map[string]operator

// table has all supported operators.
var table = operators{}

// register adds operators to the table. It panics if an operator is registered twice.
func register(added operators) {
	for name, o := range added {
		if _, twice := table[name]; twice {
			panic(fmt.Sprintf("onnx: operator %s is registered twice", name))
		}
		table[name] = o
	}
}

// isRead reports whether nodes of the operator are supported at all.
func (o operator) isRead() bool {
	return o.make != nil || o.fold != nil || o.quantised != nil || o.structure != nil
}

const (
	windowAttributes = "auto_pad dilations kernel_shape pads strides"
	legacyBroadcast  = "axis broadcast" // attributes of operator set 6
	reduceAttributes = "axes keepdims noop_with_empty_axes"
)

// accept describes the operands and attributes of an operator, in all supported operator sets. Honoured
// attributes are read. Irrelevant ones do not affect results.
func accept(operands int, honoured string, irrelevant ...string) node.Spec {
	s := node.Spec{Operands: operands, Honoured: honoured}
	for _, names := range irrelevant {
		s.Irrelevant += names
	}
	return s
}

// maker adds the nodes of an operator and returns its results.
type maker func(*call) []node.Value

// oneResult returns the maker of an operator with one result.
func oneResult(f func(*call) graph.Value) maker {
	return func(c *call) []node.Value { return []node.Value{node.Rows(f(c))} }
}

// growth computes integers that grow from row to row, by the same amount each time.
type growth struct {
	pair bool                // the operator needs two operands
	step func(c *call) int64 // difference between the results for one row and for the next
}

// integers defines how an operator treats integers that come from the input.
type integers uint8

func (i integers) has(j integers) bool { return i&j != 0 }

const (
	move         integers = 1 << iota // the operator only moves integers, without changing them
	moveNumbers                       // like move, but the graph has no such operation on bytes
	tellApart                         // the operator compares integers
	computeWhole                      // the operator computes with integers that have known bounds
	keepBounds                        // the results have the bounds of the operands
)
