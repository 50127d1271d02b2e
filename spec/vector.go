package spec

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Schema is the version of the JSON files.
const Schema = 1

// Vector is one call of a function with the bits of its results.
type Vector struct {
	Schema int    `json:"schema"`
	Name   string `json:"name"`  // "fma/1/conv/groups"
	Class  string `json:"class"` // "fma/1"
	About  string `json:"about"` // description in one phrase
	// Replicas is the number of rows of each replica.
	Replicas []int     `json:"replicas"`
	Operands []Operand `json:"operands"`
	Nodes    []Node    `json:"nodes"`
	Results  []Result  `json:"results"`
}

// Operand is an operand of the function.
type Operand struct {
	Array
	// State reports that the value is a state tensor. Every other operand is an input.
	State bool `json:"state"`
}

// Result is a result of the function.
type Result struct{ Array }

// Array describes a value and names the file of its elements.
type Array struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`  // whole, replica or rows
	Type  string `json:"type"`  // "f32"
	Shape []int  `json:"shape"` // shape in the file: replicas or rows come first
	File  string `json:"file"`  // file in the folder of the JSON file

	tensor tensor.Tensor
}

// Tensor returns the elements. They must not be changed.
func (a *Array) Tensor() tensor.Tensor { return a.tensor }

// Node is an operation of the function.
type Node struct {
	Operation  string         `json:"operation"`
	Number     int            `json:"number"`              // number of the operation in device.proto
	Algorithm  string         `json:"algorithm,omitempty"` // algorithm that the class prescribes for this shape
	Attributes map[string]any `json:"attributes"`          // all attributes, including defaults
	In         []string       `json:"in"`                  // "" where an operand is absent
	Out        []string       `json:"out"`
}

// NewArray returns the description of a tensor of a kind, with the name of its file.
func NewArray(name string, kind graph.Kind, t tensor.Tensor, file string) Array {
	shape := t.Shape
	if shape == nil {
		shape = []int{}
	}
	return Array{Name: name, Kind: kind.String(), Type: t.DType.String(), Shape: shape, File: file, tensor: t}
}

// Operations returns the operations of the vector, in the order of its nodes.
func (v *Vector) Operations() []graph.Op {
	var all []graph.Op
	for _, n := range v.Nodes {
		all = append(all, graph.Op(n.Number))
	}
	return all
}
