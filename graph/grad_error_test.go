package graph

import (
	"strings"
	"testing"
)

func TestGradientErrors(t *testing.T) {
	const head = "bnctl graph 1\ngraph \"g\"\nstate w f32[2] weight\nstate m f64[5] constant\n" +
		"func main(x rows f32[2], labels rows i32[], h rows f32[], s whole f32[], other rows f32[2], p " +
		"replica f32[2], u rows u8[2,2,3], seed rows f32[2]) {\n"
	for _, c := range []struct{ name, lines, wrt, want string }{
		{"summed moments", "m = moments(x)\nn = all_reduce(m)\ny = normalise(x, n, @w, @w)", "x",
			"gradient of node y (normalise): the moments come from node n (all_reduce)"},
		{"other moments", "m = moments(other)\nn = all_reduce(m, of=\"moments\")\ny = normalise(x, n, @w, @w)", "x",
			"gradient of node y (normalise): the moments are those of other, want those of the operand x"},
		{"moments from outside", "y = normalise(x, @m, @w, @w)", "x",
			"gradient of node y (normalise): the moments @m are neither computed from the operand nor running"},
		{"moments computed", "m = affine(@m)\ny = normalise(x, m, @w, @w)", "x",
			"the moments come from node m (affine)"},
		{"dropout", "y = dropout(x)", "x", "gradient of node y (dropout): it has no sample numbers"},
		{"replica", "q = mul(p, @w)\ny = mul(x, q)", "w", "gradients do not pass through values of replicas"},
		{"integers", "y = relu(x)", "u", "gradient with respect to u, which is rows u8[2,2,3]: want f32 or f64"},
		{"activation grad", "y = activation_grad(x, other, of=\"tanh\")", "x",
			"gradient of node y (activation_grad): it has no derivative"},
		{"sample weights", "y = softmax_xent(x, labels, h)", "h",
			"no derivative with respect to the weights of the samples"},
		{"seed", "y = concat(x, x)", "x", "the seed of y is rows f32[2], want rows f32[4]"},
	} {
		g := parsed(t, head+c.lines+"\n}")
		b := Extend(g.Main, &g.State)
		wrt := b.names[c.wrt]
		if c.wrt == "w" {
			wrt = b.Read("w")
		}
		seed := b.names["seed"]
		if b.Type(b.names["y"]).Kind == Replica {
			seed = b.names["s"]
		}
		_, err := Gradient(b, map[Value]Value{b.names["y"]: seed}, []Value{wrt})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

// TestGradientAbsent checks that values without influence on the seeded value have no
// gradient.
func TestGradientAbsent(t *testing.T) {
	g := parsed(t, "bnctl graph 1\ngraph \"g\"\nfunc main(x rows f32[2], z rows f32[2], seed rows f32[2]) {\n"+
		"y = relu(x)\nother = relu(z)\n}")
	b := Extend(g.Main, &g.State)
	nodes := len(b.fn.Nodes)
	d, err := Gradient(b, map[Value]Value{b.names["y"]: b.names["seed"]}, []Value{b.names["x"], b.names["z"]})
	if err != nil || len(d) != 1 || len(b.fn.Nodes) != nodes+1 {
		t.Errorf("got %v, %v with %d nodes more, want one gradient from one node", d, err, len(b.fn.Nodes)-nodes)
	}
}

// TestGradientOrder: many seeds and uses give the same nodes every time.
func TestGradientOrder(t *testing.T) {
	text := func() string {
		g := parsed(t, "bnctl graph 1\ngraph \"g\"\nstate w f32[2] weight\n"+
			"func main(x rows f32[2], s rows f32[2]) {\na = mul(x, @w)\nb = mul(a, @w)\nc = mul(b, @w)\nd = "+
			"add(c, a)\n}")
		b := Extend(g.Main, &g.State)
		seeds := map[Value]Value{}
		for _, name := range []string{"a", "b", "c", "d"} {
			seeds[b.names[name]] = b.names["s"]
		}
		if _, err := Gradient(b, seeds, []Value{b.Read("w"), b.names["x"]}); err != nil {
			t.Fatal(err)
		}
		return string((&Graph{"g", g.State, b.fn}).Text())
	}
	want := text()
	for range 20 {
		if got := text(); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}
}
