package graph

import (
	"fmt"
	"slices"
)

// Attr is an attribute of a node. Val is an int64, float64, bool, string, []int64 or
// []float64, as the table of operations requires.
type Attr struct {
	Key string
	Val any
}

// Attrs holds the attributes of a node, sorted by key, without those that
// have their default value. Make them with With.
type Attrs []Attr

// With returns a copy of a with an additional attribute, which replaces an attribute with the same key. int,
// []int and float32 values are converted.
func (a Attrs) With(key string, val any) Attrs {
	a = slices.Clone(a)
	i, found := slices.BinarySearchFunc(a, key, func(x Attr, k string) int {
		switch {
		case x.Key < k:
			return -1
		case x.Key > k:
			return 1
		}
		return 0
	})
	if found {
		a[i].Val = canonical(val)
		return a
	}
	return slices.Insert(a, i, Attr{key, canonical(val)})
}

func canonical(val any) any {
	switch v := val.(type) {
	case int:
		return int64(v)
	case float32:
		return float64(v)
	case []int:
		l := make([]int64, len(v))
		for i, x := range v {
			l[i] = int64(x)
		}
		return l
	case []int64:
		return append([]int64{}, v...)
	case []float64:
		return append([]float64{}, v...)
	case int64, float64, bool, string:
		return v
	}
	panic(fmt.Sprintf("graph: attribute value of type %T", val))
}

func (a Attrs) get(key string) any {
	for _, x := range a {
		if x.Key == key {
			return x.Val
		}
	}
	return nil
}

// without returns a without the attributes that have their default value.
func (a Attrs) without(r *opRow) Attrs {
	var out Attrs
	for _, x := range a {
		i := slices.IndexFunc(r.attrs, func(s attrSpec) bool { return s.key == x.Key })
		if i < 0 || r.attrs[i].required || !equalAttr(x.Val, r.attrs[i].def) {
			out = append(out, x)
		}
	}
	return out
}

func equalAttr(a, b any) bool {
	switch x := a.(type) {
	case []int64:
		y, ok := b.([]int64)
		return ok && slices.Equal(x, y)
	case []float64:
		y, ok := b.([]float64)
		return ok && slices.Equal(x, y)
	}
	switch b.(type) {
	case []int64, []float64:
		return false
	}
	return a == b
}

// attr returns the attribute of n, or its default from the table. It panics if the
// operation has no attribute of that name.
func (n *Node) attr(key string) any {
	if v := n.Attrs.get(key); v != nil {
		return v
	}
	for _, s := range n.Op.row().attrs {
		if s.key == key {
			return s.def
		}
	}
	panic(fmt.Sprintf("graph: %v has no attribute %s", n.Op, key))
}

// Int returns an integer attribute of n or its default.
func (n *Node) Int(key string) int { return int(n.attr(key).(int64)) }

// Float returns a float attribute of n or its default.
func (n *Node) Float(key string) float64 { return n.attr(key).(float64) }

// Bool returns a boolean attribute of n or its default.
func (n *Node) Bool(key string) bool { return n.attr(key).(bool) }

// Text returns a string attribute of n or its default.
func (n *Node) Text(key string) string { return n.attr(key).(string) }

// Ints returns an integer list of n or its default.
func (n *Node) Ints(key string) []int {
	l := n.attr(key).([]int64)
	out := make([]int, len(l))
	for i, v := range l {
		out[i] = int(v)
	}
	return out
}

// Floats returns a float list of n or its default. The list is not to be changed.
func (n *Node) Floats(key string) []float64 { return n.attr(key).([]float64) }
