package graph

import (
	"strings"
	"testing"
)

// TestBuilderErrors: the first error sticks, whatever is done after it.
func TestBuilderErrors(t *testing.T) {
	rows4 := Type{Rows, f32, []int{4}}
	for _, c := range []struct {
		name, want string
		build      func(b *Builder, x Value)
	}{
		{"twice", `function f: two values are called "x"`, func(b *Builder, _ Value) { b.Input("x", rows4) }},
		{"input", "input y: shape [-1] has a length of -1",
			func(b *Builder, _ Value) { b.Input("y", Type{Rows, f32, []int{-1}}) }},
		{"input name", `name "a b"`, func(b *Builder, _ Value) { b.Input("a b", rows4) }},
		{"absent name", "stands for an absent operand", func(b *Builder, _ Value) { b.Input("_", rows4) }},
		{"operation", "node y: operation 5000 is unknown to this version",
			func(b *Builder, x Value) { b.Op(5000, "y", []Value{x}) }},
		{"node", "node y (reshape): attribute shape is missing",
			func(b *Builder, x Value) { b.Op(Reshape, "y", []Value{x}) }},
		{"declared", "state w is declared as f32[2] and as f32[3]", func(b *Builder, _ Value) {
			b.Declare(State{Name: "w", DType: f32, Shape: []int{2}, Role: Weight})
			b.Declare(State{Name: "w", DType: f32, Shape: []int{3}, Role: Weight})
		}},
		{"state", `state w: unknown role ""`,
			func(b *Builder, _ Value) { b.Declare(State{Name: "w", DType: f32}) }},
		{"read", "state w is not declared", func(b *Builder, _ Value) { b.Read("w") }},
		{"output", "output y has no value", func(b *Builder, _ Value) { b.Output("y", None, false) }},
		{"update", "update of w has no value", func(b *Builder, _ Value) { b.Update("w", None) }},
	} {
		var table []State
		b := NewBuilder("f", &table)
		x := b.Input("x", rows4)
		c.build(b, x)
		b.Output("x", b.Op(Relu, "late", []Value{b.Read("nothing")}), false)
		if f, err := b.Function(); f != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

// TestExtend extends a copy of a function and checks that the function does not change.
func TestExtend(t *testing.T) {
	g := parsed(t, withDropout)
	b := Extend(g.Main, &g.State)
	if a := b.Read("a"); g.Main.Values[a].State != "a" {
		t.Errorf("state a is read by %v", g.Main.Values[a])
	}
	b.Output("more", b.Op(Relu, b.UniqueName("z"), []Value{b.Read("a")}), false)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	if name := f.NodeName(&f.Nodes[len(f.Nodes)-1]); name != "z.2" {
		t.Errorf("the new node is called %s, want z.2", name)
	}
	if err := f.Check(g.State); err != nil {
		t.Error(err)
	}
	if got := string(g.Text()); got != withDropout {
		t.Errorf("the function became\n%s", got)
	}
}

func TestAttrs(t *testing.T) {
	a := Attrs{}.With("b", 1).With("a", []int{2}).With("c", float32(0.5)).With("b", true)
	n := Node{Op: Conv, Attrs: Attrs{}.With("pad", []int{1, 2, 3, 4})}
	if len(a) != 3 || a[0].Key != "a" || a[1].Val != true || a[2].Val != 0.5 {
		t.Errorf("got %v", a)
	}
	if got := n.Ints("stride"); len(got) != 2 || got[0] != 1 || n.Ints("pad")[3] != 4 || n.Int("groups") != 1 {
		t.Errorf("got stride %v, pad %v, groups %d", got, n.Ints("pad"), n.Int("groups"))
	}
}
