package graph

import (
	"slices"
	"testing"
)

const withGates = `bnctl graph 1
graph "g"

func main(x rows f32[2]) {
  s = sigmoid(x)  # rows f32[2]
  a = mul(s, x)  # rows f32[2]
  h = hard_sigmoid(a, alpha=0.1666666716337204)  # rows f32[2]
  b = mul(a, h)  # rows f32[2]
  other = hard_sigmoid(b, alpha=0.2)  # rows f32[2]
  c = mul(b, other)  # rows f32[2]
  again = sigmoid(c)  # rows f32[2]
  d = mul(c, again)  # rows f32[2]
  e = add(d, again)  # rows f32[2]
  out = sigmoid(e)  # rows f32[2]
  f = mul(e, out)  # rows f32[2]
  other2 = sigmoid(x)  # rows f32[2]
  foreign = mul(other2, f)  # rows f32[2]
  return f rows = foreign
  return gate rows = out
}
`

// TestJoinGates: a gate is not joined if another node reads it, if it is the gate of another value, or if it
// has other numbers.
func TestJoinGates(t *testing.T) {
	g := parsed(t, withGates)
	none := func(string) (float32, bool) { return 0, false }
	joined, err := g.JoinActivations(none)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range joined.Main.Nodes {
		got = append(got, n.Op.String())
	}
	want := []string{"silu", "hard_swish", "hard_sigmoid", "mul", "sigmoid", "mul", "add", "sigmoid", "mul",
		"sigmoid", "mul"}
	if !slices.Equal(got, want) {
		t.Errorf("the nodes are %v, want %v", got, want)
	}
	if again, err := joined.JoinActivations(none); err != nil || again != joined {
		t.Errorf("a second time there is another graph (%v)", err)
	}
}
