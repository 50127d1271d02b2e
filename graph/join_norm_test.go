package graph

import (
	"strings"
	"testing"
)

const normHead = `bnctl graph 1
graph "g"
state w f32[4] gamma
state b f32[4] beta
state c f32[3,1,1] constant
state v f32[3] constant
func main(x rows f32[3,2,4], z rows f32[3,2,4]) {
`

// spelled is a layer norm of x over axes as exporters write it.
const spelled = `m = reduce_mean(x, axes=[AXES], keep=true)
d = sub(x, m)
q = mul(d, d)
v = reduce_mean(q, axes=[AXES], keep=true)
e = affine(v, add=0.001)
s = sqrt(e)
n = div(d, s)
`

// TestJoinNorms compares chains of nodes with the result of JoinNorms. Some chains must stay unchanged.
func TestJoinNorms(t *testing.T) {
	of := func(axes string) string { return strings.ReplaceAll(spelled, "AXES", axes) }
	for _, c := range []struct{ name, lines, want string }{
		{"layer norm", of("2") + "p = mul(n, @w)\ny = add(p, @b)",
			"y = layer_norm(x, @w, @b, axes=[2], eps=0.001)"},
		{"scale in front", of("2") + "p = mul(@w, n)\ny = add(@b, p)",
			"y = layer_norm(x, @w, @b, axes=[2], eps=0.001)"},
		{"without scale", of("1,2") + "y = relu(n)", "n = layer_norm(x, axes=[1,2], eps=0.001)"},
		{"scale of channels", of("0") + "y = mul(n, @c)",
			"n = layer_norm(x, axes=[0], eps=0.001)\n  y = mul(n, @c)"},
		{"axes apart", of("0,2") + "y = relu(n)", "n = div(d, s)"},
		{"without keep", strings.ReplaceAll(of("0"), "q, axes=[0], keep=true", "q, axes=[0]") + "y = relu(n)",
			"n = div(d, s)"},
		{"another mean", strings.ReplaceAll(of("2"), "d = sub(x, m)", "d = sub(z, m)") + "y = relu(n)",
			"n = div(d, s)"},
		{"other axes of the variance", strings.Replace(of("2"), "axes=[2]", "axes=[1]", 1) + "y = relu(n)",
			"n = div(d, s)"},
		{"scale that is read before", of("2") + "p = mul(n, @w)\nr = relu(n)\ny = add(p, r)",
			"n = layer_norm(x, axes=[2], eps=0.001)\n  p = mul(n, @w)"},
		{"bias first", of("2") + "p = add(n, @b)\ny = mul(p, @w)",
			"p = layer_norm(x, _, @b, axes=[2], eps=0.001)\n  y = mul(p, @w)"},
		{"group norm", "g = reshape(x, shape=[3,8])\nn = group_norm(g, groups=3)\ny = reshape(n, shape=[3,2,4])",
			"y = group_norm(x, groups=3)"},
		{"group norm with scale and bias", "r = reshape(@v, shape=[3,1,1])\nn = group_norm(x, groups=3)\np = mul(n, r)\n" +
			"y = add(r, p)", "y = group_norm(x, @v, @v, groups=3)"},
		{"factors of a place", "r = reshape(@w, shape=[1,1,4])\nn = group_norm(x, groups=3)\ny = mul(n, r)",
			"y = mul(n, r)"},
		{"groups that cut channels", "g = reshape(x, shape=[6,4])\nn = group_norm(g, groups=6)\n" +
			"y = reshape(n, shape=[3,2,4])", "n = group_norm(g, groups=6)"},
		{"transposed", "t = transpose(x, perm=[1,2,0])\nn = layer_norm(t, axes=[2])\n" +
			"y = transpose(n, perm=[2,0,1])", "y = layer_norm(x, axes=[0])"},
		{"transposed to another order", "t = transpose(x, perm=[1,2,0])\nn = layer_norm(t, axes=[2])\n" +
			"y = transpose(n, perm=[0,2,1])", "n = layer_norm(t, axes=[2])"},
	} {
		g := parsed(t, normHead+c.lines+"\nreturn y rows = y\n}")
		f, err := JoinNorms(g.Main, g.State)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := string((&Graph{"g", g.State, f}).Text())
		for _, line := range strings.Split(c.want, "\n") {
			if !strings.Contains(got, strings.TrimSpace(line)) {
				t.Errorf("%s: got\n%s\nwant %s", c.name, got, line)
			}
		}
		if again, err := JoinNorms(f, g.State); err != nil || again != f {
			t.Errorf("%s: a second time there is another function (%v)", c.name, err)
		}
	}
}
