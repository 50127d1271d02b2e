package graph

import (
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Type is the kind, the data type and the shape of a value.
type Type struct {
	Kind  Kind
	DType tensor.DType
	Shape []int // without the axis of rows or replicas
}

// String returns the text form: "rows f32[16,32,32]".
func (t Type) String() string { return t.Kind.String() + " " + tensor.Describe(t.DType, t.Shape) }

// Sized returns the shape of a tensor of type t: for values of rows or of replicas, their number in front of
// t.Shape.
func (t Type) Sized(rows, replicas int) []int {
	switch t.Kind {
	case Rows:
		return append([]int{rows}, t.Shape...)
	case Replica:
		return append([]int{replicas}, t.Shape...)
	}
	return t.Shape
}

// Value is a value of a function: its index in Function.Values.
type Value int

// None is an absent operand.
const None Value = -1

// Variable describes one value of a function.
type Variable struct {
	Name  string // unique in the function
	Type  Type
	State string // the state tensor that this value reads as a whole, or ""
}

// Node is an operation with its operands and results. It has the name of its first result.
type Node struct {
	Op    Op
	In    []Value // None where an optional operand is absent
	Out   []Value
	Attrs Attrs
}

// Auxiliary is the name of the output of an auxiliary head. Training adds the weighted loss
// of this output to the loss of the first output.
const Auxiliary = "aux"

// Output is a result of a function.
type Output struct {
	Name  string
	Value Value
	// Keep reports that the value stays on the device until the next Run. The function
	// commit reads it as its input of the same name. See Program.Retained for the values
	// that Forward, Backward and Reduce keep.
	Keep bool
}

// Update makes a value the new content of a state tensor when the function
// commits.
type Update struct {
	State string
	Value Value
}

// Function is a list of nodes, in an order in which they can run, with the values between
// them.
type Function struct {
	Name    string
	Values  []Variable
	Inputs  []Value
	Nodes   []Node
	Outputs []Output
	Updates []Update
}

// Role is the purpose of a state tensor. serialize.Strip removes tensors by role.
type Role string

// These are the roles. By default weight decay applies to Weight alone.
const (
	Weight    Role = "weight"    // trained: kernels and matrices
	Bias      Role = "bias"      // trained
	Gamma     Role = "gamma"     // trained: scale of a batch norm
	Beta      Role = "beta"      // trained: shift of a batch norm
	Mean      Role = "mean"      // running statistic
	Variance  Role = "variance"  // running statistic
	Constant  Role = "constant"  // never changes
	Optimizer Role = "optimizer" // velocity and moments, which only training needs
	Average   Role = "average"   // an exponential average of a trained tensor
)

// Trained reports whether an optimizer changes tensors of this role.
func (r Role) Trained() bool { return r == Weight || r == Bias || r == Gamma || r == Beta }

// Statistic reports whether the host updates tensors of this role from moments.
func (r Role) Statistic() bool { return r == Mean || r == Variance }

// State declares a state tensor.
type State struct {
	Name  string
	DType tensor.DType
	Shape []int
	Role  Role
	Init  Init
}

// Init is the rule by which models.Init fills a new state tensor.
type Init struct {
	// zeros, ones, constant, normal, uniform, he_normal, he_uniform, xavier_uniform, xavier_normal
	Rule string
	Args []float64 // constant: value; normal: deviation; uniform: bound; he_*: 0 for fan in, 1 for fan out
}

// Graph is a model's graph: one function over its state.
type Graph struct {
	Name  string
	State []State
	Main  *Function
}

// Program is the unit that a device loads: functions over one table of state. Package
// parallel runs the functions Train, Commit and Predict. If layers are divided over several
// devices, it runs Forward, Backward, Reduce, Squares and Factor (package stage).
type Program struct {
	Name      string
	State     []State
	Functions []*Function
}

// The functions of a training program.
const (
	// Train computes the losses, the moments and the whole gradients (after
	// all-reduces) of one step.
	Train = "train"
	// Commit computes the updates of the state from the outputs that Train kept
	// and the step's hyper-parameters.
	Commit = "commit"
	// Predict computes the model in eval mode, for evaluation during training too.
	Predict = "predict"
)

// The functions of a program that has some of the layers of a network, instead of Train.
const (
	// Forward is the forward pass of some replicas. Backward reads the values that it
	// keeps.
	Forward = "train.forward"
	// Backward is their backward pass. Reduce reads the replica values that it keeps.
	Backward = "train.backward"
	// Reduce sums the values that all runs of Backward kept, over all replicas. Commit
	// reads the values that it keeps.
	Reduce = "train.reduce"
	// Squares returns the sums of squares of the gradients for Commit, and Factor the
	// factor that scales them.
	Squares = "commit.squares"
	Factor  = "commit.factor"
)

// keepers lists, by function, the functions that keep outputs for it.
var keepers = map[string][]string{Backward: {Forward}, Reduce: {Backward},
	Commit: {Train, Reduce, Backward}, Squares: {Reduce, Backward}}

// Retained returns the types of the outputs that functions of p keep for the given
// function, by output. The inputs of these names are not sent to the device.
func (p *Program) Retained(function string) map[string]Type {
	retained := map[string]Type{}
	for _, name := range keepers[function] {
		if f := p.Function(name); f != nil {
			for _, o := range f.Outputs {
				if o.Keep {
					retained[o.Name] = f.Values[o.Value].Type
				}
			}
		}
	}
	return retained
}

// Function returns the function with that name, or nil.
func (p *Program) Function(name string) *Function {
	for _, f := range p.Functions {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// InOrder returns the functions, with the functions that keep outputs before the functions that read them.
func (p *Program) InOrder() []*Function {
	order := slices.Clone(p.Functions)
	slices.SortStableFunc(order, func(a, b *Function) int { return a.rank() - b.rank() })
	return order
}

// rank is the place of a function in InOrder.
func (f *Function) rank() int {
	return slices.Index([]string{Backward, Reduce, Squares, Commit}, f.Name)
}

// NodeName returns the name of node n in messages.
func (f *Function) NodeName(n *Node) string {
	for _, list := range [][]Value{n.Out, n.In} {
		if len(list) > 0 && list[0] >= 0 && int(list[0]) < len(f.Values) {
			return f.Values[list[0]].Name
		}
	}
	return n.Op.String()
}
