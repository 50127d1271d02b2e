package graph

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// inference checks one node: it has the types of the operands, and gets
// the types of the results.
type inference struct {
	fn   *Function
	node *Node
	out  []Type
}

// in returns the type of operand i, or the zero Type if it is absent.
func (c *inference) in(i int) Type {
	if i >= len(c.node.In) || c.node.In[i] == None {
		return Type{}
	}
	return c.fn.Values[c.node.In[i]].Type
}

func (c *inference) has(i int) bool { return i < len(c.node.In) && c.node.In[i] != None }

func (c *inference) yield(k Kind, d tensor.DType, shape ...int) error {
	t := Type{k, d, append([]int(nil), shape...)}
	if err := checkType(t); err != nil {
		return fmt.Errorf("the result would be %v: %w", t, err)
	}
	c.out = append(c.out, t)
	return nil
}

// checkType checks a type that a caller gives: every length is from 1 to
// maxLength.
func checkType(t Type) error {
	if t.Kind < Whole || t.Kind > Rows {
		return fmt.Errorf("unknown kind %d", uint8(t.Kind))
	}
	for _, n := range t.Shape {
		if n < 1 || n > maxLength {
			return fmt.Errorf("shape %v has a length of %d, want 1 to %d", t.Shape, n, maxLength)
		}
	}
	return tensor.CheckShape(t.DType, t.Shape)
}

// want checks operand i.
func (c *inference) want(i int, k Kind, d tensor.DType, shape []int) error {
	t := c.in(i)
	if t.Kind != k || t.DType != d || !slices.Equal(t.Shape, shape) {
		return fmt.Errorf("operand %d is %v, want %v", i, t, Type{k, d, shape})
	}
	return nil
}

// rows checks that operand i is rows f32 of a rank (any if negative) and returns its shape.
func (c *inference) rows(i, rank int) ([]int, error) {
	t := c.in(i)
	if t.Kind != Rows || t.DType != tensor.F32 {
		return nil, fmt.Errorf("operand %d is %v, want rows f32", i, t)
	}
	if rank >= 0 && len(t.Shape) != rank {
		return nil, fmt.Errorf("operand %d has shape %v, want rank %d", i, t.Shape, rank)
	}
	return t.Shape, nil
}

// channels checks that operand i is rows f32 with a channel axis and returns shape and channels.
func (c *inference) channels(i int) ([]int, int, error) {
	s, err := c.rows(i, -1)
	if err == nil && len(s) == 0 {
		err = fmt.Errorf("operand %d has no channel axis", i)
	}
	if err != nil {
		return nil, 0, err
	}
	return s, s[0], nil
}

// check fills in and checks the types of n's results: arity, attributes,
// kinds, types and shapes. The error does not name the node.
func check(f *Function, n *Node) ([]Type, error) {
	if !n.Op.Valid() {
		return nil, fmt.Errorf("operation %d is unknown to this version", uint16(n.Op))
	}
	if err := checkArity(n); err != nil {
		return nil, err
	}
	if err := checkAttrs(n); err != nil {
		return nil, err
	}
	c := &inference{fn: f, node: n}
	if err := n.Op.row().infer(c); err != nil {
		return nil, err
	}
	return c.out, nil
}

func checkArity(n *Node) error {
	r := n.Op.row()
	if len(n.In) > maxOperands {
		return fmt.Errorf("has %d operands, want at most %d", len(n.In), maxOperands)
	}
	if len(n.In) < r.operands-r.optional || len(n.In) > r.operands && !r.variadic {
		return fmt.Errorf("has %d operands, want %s", len(n.In), arity(r))
	}
	for i, v := range n.In {
		if v == None && i < r.operands-r.optional {
			return fmt.Errorf("operand %d is absent but not optional", i)
		}
	}
	return nil
}

func arity(r *opRow) string {
	switch {
	case r.variadic:
		return fmt.Sprintf("at least %d", r.operands)
	case r.optional > 0:
		return fmt.Sprintf("%d to %d", r.operands-r.optional, r.operands)
	}
	return fmt.Sprint(r.operands)
}

func checkAttrs(n *Node) error {
	r := n.Op.row()
	for j, a := range n.Attrs {
		if j > 0 && n.Attrs[j-1].Key >= a.Key {
			return fmt.Errorf("attribute %s is given twice or out of order", a.Key)
		}
		i := slices.IndexFunc(r.attrs, func(s attrSpec) bool { return s.key == a.Key })
		if i < 0 {
			return fmt.Errorf("has no attribute %q", a.Key)
		}
		if attrType(a.Val) != attrType(r.attrs[i].def) || hasNaN(a.Val) {
			return fmt.Errorf("attribute %s is %v, want %s", a.Key, a.Val, attrType(r.attrs[i].def))
		}
	}
	for _, s := range r.attrs {
		if s.required && n.Attrs.get(s.key) == nil {
			return fmt.Errorf("attribute %s is missing", s.key)
		}
	}
	return nil
}

func attrType(val any) string {
	switch val.(type) {
	case int64:
		return "an integer"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	case string:
		return "a string"
	case []int64:
		return "a list of integers"
	case []float64:
		return "a list of numbers"
	}
	return "of no type that attributes have"
}

func hasNaN(val any) bool {
	switch v := val.(type) {
	case float64:
		return v != v
	case []float64:
		return slices.ContainsFunc(v, func(x float64) bool { return x != x })
	}
	return false
}

// wantInts returns an integer list of n of a given length with every element at least low.
func (c *inference) wantInts(key string, length, low int) ([]int, error) {
	l := c.node.Ints(key)
	if len(l) != length {
		return nil, fmt.Errorf("attribute %s has %d elements, want %d", key, len(l), length)
	}
	for _, v := range l {
		if v < low || v > maxLength {
			return nil, fmt.Errorf("attribute %s is %v, want elements of %d to %d", key, l, low, maxLength)
		}
	}
	return l, nil
}

// maxLength bounds every length that an attribute can bring in, so that sums
// and products of two of them cannot overflow.
const maxLength = 1 << 30

func (c *inference) oneOf(key string, options ...string) error {
	if v := c.node.Text(key); !slices.Contains(options, v) {
		return fmt.Errorf("attribute %s is %q, want one of %q", key, v, options)
	}
	return nil
}
