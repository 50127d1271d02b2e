package graph

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Builder makes a function node by node. Every node is checked when it is
// added. The first error sticks: later calls do nothing and Function returns it.
type Builder struct {
	fn    *Function
	names map[string]Value // names of all values; those of values that read state begin with @
	free  map[string]int   // the lowest number that may still be free as a suffix, by name
	table *[]State
	index map[string]int // index in table of each state tensor, by name; the method declared updates it
	err   error
}

// NewBuilder returns a builder of a function with that name. It declares state tensors in
// table; functions of one program share a table.
func NewBuilder(name string, table *[]State) *Builder {
	return &Builder{fn: &Function{Name: name}, names: map[string]Value{}, free: map[string]int{},
		table: table, index: map[string]int{}}
}

// Extend returns a builder that adds nodes at the end of a copy of f.
func Extend(f *Function, table *[]State) *Builder {
	b := NewBuilder(f.Name, table)
	b.fn = f.Clone()
	for i, v := range b.fn.Values {
		b.names[v.Name] = Value(i)
	}
	return b
}

// IsResult reports whether v is an output or an update.
func (f *Function) IsResult(v Value) bool {
	return slices.ContainsFunc(f.Outputs, func(o Output) bool { return o.Value == v }) ||
		slices.ContainsFunc(f.Updates, func(u Update) bool { return u.Value == v })
}

// Clone returns a copy of f that can be changed. Attributes are shared: they never change.
func (f *Function) Clone() *Function {
	c := *f
	c.Values = slices.Clone(f.Values)
	c.Inputs = slices.Clone(f.Inputs)
	c.Nodes = slices.Clone(f.Nodes)
	for i := range c.Nodes {
		c.Nodes[i].In = slices.Clone(f.Nodes[i].In)
		c.Nodes[i].Out = slices.Clone(f.Nodes[i].Out)
	}
	c.Outputs = slices.Clone(f.Outputs)
	c.Updates = slices.Clone(f.Updates)
	return &c
}

// Fail makes err the builder's error, unless there is one already.
func (b *Builder) Fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Err returns the first error.
func (b *Builder) Err() error { return b.err }

func (b *Builder) fail(format string, args ...any) Value {
	b.Fail(fmt.Errorf("function %s: %s", b.fn.Name, fmt.Sprintf(format, args...)))
	return None
}

// value adds a variable.
func (b *Builder) value(v Variable) Value {
	if _, taken := b.names[v.Name]; taken {
		return b.fail("two values are called %q", v.Name)
	}
	if err := checkName(v.Name); err != nil {
		return b.fail("%v", err)
	}
	return b.append(v)
}

func (b *Builder) append(v Variable) Value {
	b.fn.Values = append(b.fn.Values, v)
	b.names[v.Name] = Value(len(b.fn.Values) - 1)
	return b.names[v.Name]
}

// UniqueName returns name if no value has this name. Otherwise it appends the first free number to name.
func (b *Builder) UniqueName(name string) string {
	if _, taken := b.names[name]; !taken {
		return name
	}
	for i := max(b.free[name], 2); ; i++ {
		s := fmt.Sprintf("%s.%d", name, i)
		if _, taken := b.names[s]; !taken {
			b.free[name] = i
			return s
		}
	}
}

// Input declares an input of the function.
func (b *Builder) Input(name string, t Type) Value {
	if b.err != nil {
		return None
	}
	if err := checkType(t); err != nil {
		return b.fail("input %s: %v", name, err)
	}
	t.Shape = append([]int(nil), t.Shape...)
	v := b.value(Variable{Name: name, Type: t})
	if v != None {
		b.fn.Inputs = append(b.fn.Inputs, v)
	}
	return v
}

// Declare adds a state tensor to the table and returns the value that reads it. If a tensor of that name,
// type and shape is declared already, Declare does the same as Read.
func (b *Builder) Declare(s State) Value {
	if b.err != nil {
		return None
	}
	if have, ok := b.declared(s.Name); ok {
		if have.DType != s.DType || !slices.Equal(have.Shape, s.Shape) {
			return b.fail("state %s is declared as %s and as %s", s.Name,
				tensor.Describe(have.DType, have.Shape), tensor.Describe(s.DType, s.Shape))
		}
		return b.Read(s.Name)
	}
	if err := checkState(&s); err != nil {
		return b.fail("state %s: %v", s.Name, err)
	}
	s.Shape, s.Init.Args = append([]int(nil), s.Shape...), append([]float64(nil), s.Init.Args...)
	*b.table = append(*b.table, s)
	return b.Read(s.Name)
}

// declared returns the state tensor with that name.
func (b *Builder) declared(name string) (State, bool) {
	for i := len(b.index); i < len(*b.table); i++ {
		b.index[(*b.table)[i].Name] = i
	}
	i, ok := b.index[name]
	if !ok {
		return State{}, false
	}
	return (*b.table)[i], true
}

// Read returns the value that reads a declared state tensor.
func (b *Builder) Read(name string) Value {
	if b.err != nil {
		return None
	}
	if v, ok := b.names["@"+name]; ok {
		return v
	}
	s, ok := b.declared(name)
	if !ok {
		return b.fail("state %s is not declared", name)
	}
	// The @ keeps state apart from values: "@conv1.weight".
	return b.append(Variable{Name: "@" + name, Type: Type{Whole, s.DType, s.Shape}, State: name})
}

// Node adds a node and returns its results, named name, name.1, name.2 and so on. Absent
// operands at the end may be left out.
func (b *Builder) Node(op Op, name string, attrs Attrs, operands ...Value) []Value {
	if b.err != nil {
		return nil
	}
	for len(operands) > 0 && operands[len(operands)-1] == None {
		operands = operands[:len(operands)-1]
	}
	if !op.Valid() {
		b.fail("node %s: operation %d is unknown to this version", name, uint16(op))
		return nil
	}
	names := make([]string, op.row().out)
	for i := range names {
		names[i] = name
		if i > 0 {
			names[i] = fmt.Sprintf("%s.%d", name, i)
		}
	}
	return b.named(op, names, attrs, operands...)
}

// named does the same as Node, with a given name for every result.
func (b *Builder) named(op Op, names []string, attrs Attrs, operands ...Value) []Value {
	if b.err != nil {
		return nil
	}
	n := Node{Op: op, In: slices.Clone(operands), Attrs: attrs.without(op.row())}
	types, err := check(b.fn, &n)
	if err == nil && len(types) != len(names) {
		err = fmt.Errorf("has %d results, %d are named", len(types), len(names))
	}
	if err != nil {
		b.fail("%s: %v", title(op, names), err)
		return nil
	}
	for i, t := range types {
		n.Out = append(n.Out, b.value(Variable{Name: names[i], Type: t}))
	}
	b.fn.Nodes = append(b.fn.Nodes, n)
	return slices.Clone(n.Out)
}

// title returns the text that names a node in messages.
func title(op Op, results []string) string {
	if len(results) == 0 {
		return "node " + op.String()
	}
	return fmt.Sprintf("node %s (%v)", results[0], op)
}

// Op adds a node with one result and returns the result. pairs are attribute keys
// and values in turn.
func (b *Builder) Op(op Op, name string, operands []Value, pairs ...any) Value {
	var attrs Attrs
	for i := 0; i+1 < len(pairs); i += 2 {
		attrs = attrs.With(pairs[i].(string), pairs[i+1])
	}
	out := b.Node(op, name, attrs, operands...)
	if len(out) == 0 {
		return None
	}
	return out[0]
}

// Type returns the type of a value.
func (b *Builder) Type(v Value) Type {
	if v == None || b.err != nil {
		return Type{}
	}
	return b.fn.Values[v].Type
}

// Output makes v an output of the function. keep is Output.Keep.
func (b *Builder) Output(name string, v Value, keep bool) {
	switch {
	case b.err != nil:
	case v == None:
		b.fail("output %s has no value", name)
	default:
		b.fn.Outputs = append(b.fn.Outputs, Output{name, v, keep})
	}
}

// Update makes v the new content of a state tensor when the function commits.
func (b *Builder) Update(state string, v Value) {
	switch {
	case b.err != nil:
	case v == None:
		b.fail("update of %s has no value", state)
	default:
		b.fn.Updates = append(b.fn.Updates, Update{state, v})
	}
}

// Function returns the function, or the first error.
func (b *Builder) Function() (*Function, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.fn, nil
}
