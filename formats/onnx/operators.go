package onnx

import (
	"fmt"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// operator describes an operator of ONNX. Every file of operators registers its entries; the rest of the
// package refers to an operator by its name only where it reads that operator in a special way.
type operator struct {
	attributes node.Spec
	// refused lists in words the values of attributes, and the operands, that have no counterpart. Each is
	// refused by a sentence that names it. docs/formats.md shows the list.
	refused string

	make      maker          // adds nodes to the graph; nil if operands have to be constants
	fold      fold.Func      // computes the results from constants; nil if it cannot
	batch     batchaxis.Rule // where the batch is in the results; nil if only as the first axis
	structure func(*reader, *onnxpb.NodeProto) error
	quantised *quantisedOp

	integers integers         // how it treats integers that come from the input
	bytes    func(*call) bool // reports whether it accepts bytes as the graph has them; nil: never
	grows    *growth          // how it computes integers that grow with the row; nil if it does not
	traits   traits
}

// traits are properties of operators.
type traits uint8

const (
	needsBatch    traits = 1 << iota // the batch axis of its operands has to be the first axis
	followsArgMax                    // it may be between an ArgMax and an output
	onlyReshapes                     // it gives a constant another shape, and does nothing else
	hasSettings                      // its operands after the first are settings
	onWeights                        // if it computes a weight, it may become a node of the graph: see lift.go
	alignsBatch                      // a constant with a batch axis is combined with the rows of a value
	preparesInput                    // files use it to prepare their input: see parameters.go
)

func (t traits) has(u traits) bool { return t&u != 0 }

// operators are operators by their names. A name has its domain in front, unless that is
// the standard's.
type operators map[string]operator

// table is the list of all operators that are read.
var table = operators{}

// register adds operators to the table. An operator has one entry.
func register(more operators) {
	for name, o := range more {
		if _, twice := table[name]; twice {
			panic(fmt.Sprintf("onnx: operator %s is registered twice", name))
		}
		table[name] = o
	}
}

// isRead reports whether nodes of the operator are read at all.
func (o operator) isRead() bool {
	return o.make != nil || o.fold != nil || o.quantised != nil || o.structure != nil
}

const (
	windowAttributes = "auto_pad dilations kernel_shape pads strides"
	legacyBroadcast  = "axis broadcast" // of operator set 6
	reduceAttributes = "axes keepdims noop_with_empty_axes"
)

// accept describes the operands and attributes of an operator, in all operator sets that are read: honoured
// attributes are read; irrelevant ones change no answer.
func accept(operands int, honoured string, irrelevant ...string) node.Spec {
	s := node.Spec{Operands: operands, Honoured: honoured}
	for _, names := range irrelevant {
		s.Irrelevant += names
	}
	return s
}

// maker adds the nodes of an operator and returns its results.
type maker func(*call) []node.Value

// one makes a maker of a function with one result.
func one(f func(*call) graph.Value) maker {
	return func(c *call) []node.Value { return []node.Value{node.Rows(f(c))} }
}

// growth computes integers that grow with the row.
type growth struct {
	pair bool                // it needs two operands
	by   func(c *call) int64 // the difference of the results of one row and the next
}

// integers defines how an operator treats integers that come from the input.
type integers uint8

func (i integers) has(j integers) bool { return i&j != 0 }

const (
	move         integers = 1 << iota // it only moves: each element of a result is an element of the operand
	moveNumbers                       // it only moves, but the graph has no operation of bytes for it
	tellApart                         // it compares them
	computeWhole                      // it computes with integers of known bounds
	keepBounds                        // its results are among the integers of its operands
)
