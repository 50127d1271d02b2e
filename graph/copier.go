package graph

import "fmt"

// Copier copies a function to a builder, node by node. Rewrites use it: if a
// rewrite leaves out or replaces a node, it sets in To, for each result of the
// node, the value that replaces it.
type Copier struct {
	From    *Function
	Builder *Builder
	To      map[Value]Value // the value of Builder that replaces each value of From
}

// NewCopier returns a copier from f to b that has copied nothing yet.
func NewCopier(f *Function, b *Builder) Copier {
	return Copier{From: f, Builder: b, To: map[Value]Value{None: None}}
}

// Value returns the value of Builder that replaces v, a value of From. A read
// of state is added where it is first used. If v was left out, the builder gets
// an error.
func (c Copier) Value(v Value) Value {
	to, ok := c.To[v]
	if ok {
		return to
	}
	to = None
	if from := c.From.Values[v]; from.State != "" {
		to = c.Builder.Read(from.State)
	} else {
		c.Builder.Fail(fmt.Errorf("function %s: %s is used, but was left out", c.From.Name, from.Name))
	}
	c.To[v] = to
	return to
}

// Inputs copies the inputs of From.
func (c Copier) Inputs() {
	for _, v := range c.From.Inputs {
		c.To[v] = c.Builder.Input(c.From.Values[v].Name, c.From.Values[v].Type)
	}
}

// Copy copies n, a node of From, as it is, with the names of its results.
func (c Copier) Copy(n *Node) {
	operands := make([]Value, len(n.In))
	for i, v := range n.In {
		operands[i] = c.Value(v)
	}
	names := make([]string, len(n.Out))
	for i, v := range n.Out {
		names[i] = c.From.Values[v].Name
	}
	for i, v := range c.Builder.named(n.Op, names, n.Attrs, operands...) {
		c.To[n.Out[i]] = v
	}
}

// Outputs copies the outputs of From.
func (c Copier) Outputs() {
	for _, o := range c.From.Outputs {
		c.Builder.Output(o.Name, c.Value(o.Value), o.Keep)
	}
}
