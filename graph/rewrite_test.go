package graph

import (
	"reflect"
	"testing"
)

const withDropout = `bnctl graph 1
graph "g"

state a f32[2] weight
state b f32[2] weight

func main(x rows f32[2], ident rows i64[2], unused rows f32[1]) {
  y = mul(x, @a)  # rows f32[2]
  d = dropout(y, ident)  # rows f32[2]
  dead = add(x, @b)  # rows f32[2]
  z = add(d, y)  # rows f32[2]
  return z rows = z
  return same rows = d
}
`

const withoutDropout = `bnctl graph 1
graph "g"

state a f32[2] weight
state b f32[2] weight

func main(x rows f32[2], ident rows i64[2], unused rows f32[1]) {
  y = mul(x, @a)  # rows f32[2]
  z = add(y, y)  # rows f32[2]
  return z rows = z
  return same rows = y
}
`

func TestEval(t *testing.T) {
	g := parsed(t, withDropout)
	f, err := Eval(g.Main, g.State)
	if err != nil {
		t.Fatal(err)
	}
	got := &Graph{g.Name, g.State, f}
	if err := got.Check(); err != nil {
		t.Error(err)
	}
	if string(got.Text()) != withoutDropout {
		t.Errorf("got\n%s\nwant\n%s", got.Text(), withoutDropout)
	}
	if string(g.Text()) != withDropout {
		t.Errorf("the graph itself became\n%s", g.Text())
	}
}

func parsed(t *testing.T, text string) *Graph {
	t.Helper()
	g, err := ParseGraph([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestPruneKeeps checks that Prune keeps a node without results.
func TestPruneKeeps(t *testing.T) {
	g := parsed(t, `bnctl graph 1
graph "g"

state mean f32[2] mean
state var f32[2] variance

func main(x rows f32[2]) {
  m = moments(x)  # replica f64[5]
  track(m, @mean, @var, decay=0.5)
  return x rows = x
}
`)
	f, err := Prune(g.Main, g.State)
	if err != nil || !reflect.DeepEqual(f, g.Main) {
		t.Errorf("%v: got %+v, want %+v", err, f, g.Main)
	}
}

// TestNamesInRewrites checks that names invented by a decomposition do not collide with
// later ones.
func TestNamesInRewrites(t *testing.T) {
	g := parsed(t, `bnctl graph 1
graph "g"

func predict(x rows f32[2]) {
  y = silu(x)  # rows f32[2]
  y.sigmoid = silu(y)  # rows f32[2]
  return y rows = y.sigmoid
}
`)
	p, err := Decompose(&Program{"p", g.State, []*Function{g.Main}}, []Op{Silu})
	if err != nil {
		t.Fatal(err)
	}
	const want = `bnctl program 1
program "p"

func predict(x rows f32[2]) {
  y.sigmoid_ = sigmoid(x)  # rows f32[2]
  y = mul(x, y.sigmoid_)  # rows f32[2]
  y.sigmoid.sigmoid = sigmoid(y)  # rows f32[2]
  y.sigmoid = mul(y, y.sigmoid.sigmoid)  # rows f32[2]
  return y rows = y.sigmoid
}
`
	if got := string(p.Text()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestUsers(t *testing.T) {
	f := parsed(t, withDropout).Main
	// These are the readers of x, ident, unused, @a, y, d, @b, dead and z.
	want := [][]int{{0, 2}, {1}, nil, {0}, {1, 3}, {3}, {2}, nil, nil}
	if got := f.Users(); !reflect.DeepEqual(got, want) {
		t.Errorf("users: got %v, want %v", got, want)
	}
}
