package graph_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
)

// These are gates as exporters write them.
const (
	erfGate  = "d = div(x, @k); e = erf(d); s = affine(e, add=1); "
	tanhGate = "x2 = mul(x, x); x3 = mul(x2, x); m = affine(x3, by=0.044715); a = add(x, m); " +
		"i = affine(a, by=0.7978845608028654); t = tanh(i); s = affine(t, add=1); "
)

// parts lists graphs of x and a number k, with the operations that they are joined to.
var parts = []struct {
	name, nodes string
	k           float32
	want        string
}{
	{"gelu", "h = affine(x, by=0.5); " + erfGate + "y = mul(h, s)", math.Sqrt2, "gelu(x)"},
	{"gelu, exchanged", erfGate + "h = affine(x, by=0.5); y = mul(s, h)", math.Sqrt2, "gelu(x)"},
	{"the half last", erfGate + "p = mul(x, s); y = affine(p, by=0.5)", math.Sqrt2, "gelu(x, halve_last=true)"},
	{"half of the gate", erfGate + "h = affine(s, by=0.5); y = mul(x, h)", math.Sqrt2, "gelu(x)"},
	{"another divisor", erfGate + "p = mul(x, s); y = affine(p, by=0.5)", 1.4140625, ""},
	{"another half", erfGate + "p = mul(x, s); y = affine(p, by=0.25)", math.Sqrt2, ""},
	{"more than a half", erfGate + "p = mul(x, s); y = affine(p, by=0.5, add=1)", math.Sqrt2, ""},
	{"two more", "d = div(x, @k); e = erf(d); s = affine(e, add=2); p = mul(x, s); y = affine(p, by=0.5)",
		math.Sqrt2, ""},
	{"half of another value", "z = relu(x); h = affine(z, by=0.5); " + erfGate + "y = mul(h, s)", math.Sqrt2, ""},
	{"erf is read again", erfGate + "p = mul(x, s); z = affine(p, by=0.5); y = add(e, z)", math.Sqrt2, ""},

	{"gelu_tanh", "h = affine(x, by=0.5); " + tanhGate + "y = mul(h, s)", 0, "gelu_tanh(x)"},
	{"gelu_tanh, the half last", strings.NewReplacer("mul(x2, x)", "mul(x, x2)", "add(x, m)", "add(m, x)").
		Replace(tanhGate) + "p = mul(s, x); y = affine(p, by=0.5)", 0, "gelu_tanh(x, halve_last=true)"},
	{"a cube of another value", "z = relu(x); " + strings.Replace(tanhGate, "mul(x2, x)", "mul(x2, z)", 1) +
		"p = mul(x, s); y = affine(p, by=0.5)", 0, ""},
	{"another scale", strings.Replace(tanhGate, "by=0.79", "by=0.78", 1) + "p = mul(x, s); y = affine(p, by=0.5)",
		0, ""},

	{"mish", "p = softplus(x); t = tanh(p); y = mul(x, t)", 0, "mish(x)"},
	{"mish, exchanged", "p = softplus(x); t = tanh(p); y = mul(t, x)", 0, "mish(x)"},
	{"tanh of another softplus", "z = relu(x); p = softplus(z); t = tanh(p); y = mul(x, t)", 0, ""},
}

// TestJoinActivations checks which parts are joined, and that unread state is removed.
func TestJoinActivations(t *testing.T) {
	for _, c := range parts {
		state := ""
		if strings.Contains(c.nodes, "@k") {
			state = "state k f32[] weight zeros\n\n"
		}
		text := func(state, nodes string) string {
			lines := strings.ReplaceAll(nodes, "; ", "\n  ")
			return fmt.Sprintf(`bnctl graph 1
graph "g"

%sfunc main(x rows f32[2,3]) {
  %s
  return y rows = y
}
`, state, lines)
		}
		g, err := graph.ParseGraph([]byte(text(state, c.nodes)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		joined, err := g.JoinActivations(func(name string) (float32, bool) { return c.k, name == "k" })
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		want := g
		if c.want != "" {
			if want, err = graph.ParseGraph([]byte(text("", "y = "+c.want))); err != nil {
				t.Fatal(err)
			}
		}
		if got := string(joined.Text()); got != string(want.Text()) {
			t.Errorf("%s: it is\n%s\nwant\n%s", c.name, got, want.Text())
		}
	}
}
