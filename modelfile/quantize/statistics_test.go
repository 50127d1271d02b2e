package quantize

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

// The minima of activations with a minimum below 0 equal PyTorch's, to four digits.
func TestLeastOfActivations(t *testing.T) {
	for op, want := range map[graph.Op]float64{graph.Silu: -0.2785, graph.HardSwish: -0.375, graph.Gelu: -0.17,
		graph.GeluTanh: -0.1701, graph.Mish: -0.3089, graph.Relu: 0, graph.Tanh: -1, graph.Sigmoid: 0} {
		act := activationOf(&graph.Node{Op: op})
		if got := act.image(unbounded).Low; got != want {
			t.Errorf("%v goes down to %g, want %g", op, got, want)
		}
		if got := act.image(Range{0, 2}).Low; got != 0 {
			t.Errorf("%v of 0 to 2 goes down to %g, want 0", op, got)
		}
	}
}

// A U-Net, which enlarges feature maps, can be quantised by its batch norms: a larger map
// keeps its range.
func TestEnlarged(t *testing.T) {
	m, _ := made(t, "unet-bn")
	p, err := prepare(m, nil)
	if err == nil {
		_, err = p.byNorms()
	}
	if err != nil {
		t.Error(err)
	}
}

// If a batch norm does not become part of its convolution, the convolution's result does
// not get the moments of the norm's result.
func TestBesideItsNorm(t *testing.T) {
	p, err := prepare(numbers(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for v, from := range p.stats.source {
		if name := p.Graph.Main.Values[v].Name; name == "c" {
			t.Errorf("moments of c come from %s, want none", from)
		}
	}
}

// A weight shared by two layers is stored twice if one of them stays float32.
func TestSharedWeight(t *testing.T) {
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "shared"

state c.weight f32[4,4,3,3] weight he_normal(0)

func main(x rows f32[4,4,4]) {
  c1 = conv(x, @c.weight, pad=[1,1,1,1])
  c2 = conv(c1, @c.weight, pad=[1,1,1,1])
  return y rows = c2
}
`))
	m := &models.Model{Architecture: "shared", Graph: g}
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	ranges := map[graph.Value]Range{}
	for v := range g.Main.Values {
		ranges[graph.Value(v)] = Range{-1, 1}
	}
	for _, keep := range []string{"c1", "c2"} {
		b, err := build(m, knowledge{ranges: ranges}, stays{keep: "it is named"})
		if err != nil {
			t.Errorf("%s stays: %v", keep, err)
		} else if len(b.State) != 4 { // the original weight; weight, bias and factors on bytes
			t.Errorf("%s stays: %d state tensors, want 4", keep, len(b.State))
		}
	}
}

// Without data, the sum of a feature map and of constants for each position has an unknown
// range. The sum stays float32, and the layer before it is computed in bytes.
func TestSumOfNoRange(t *testing.T) {
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "sum"

state c.weight f32[4,3,3,3] weight he_normal(0)
state b.weight f32[4] gamma ones
state b.bias f32[4] beta zeros
state b.running_mean f32[4] mean zeros
state b.running_var f32[4] variance ones
state prior f32[4,5,5] constant ones

func main(pixels rows u8[5,5,3]) {
  x = image(pixels)
  c = conv(x, @c.weight, pad=[1,1,1,1])
  b = batch_norm(c, @b.weight, @b.bias, @b.running_mean, @b.running_var)
  s = add(b, @prior)
  return y rows = s
}
`))
	m := &models.Model{Architecture: "sum", Graph: g}
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := prepare(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := p.byNorms(); err != nil || b.layers[0].Float {
		t.Errorf("%v, want the layer as bytes", err)
	}
}

// The gate of a feature map may be either operand of a product. PyTorch's exporter writes
// it as the first one.
func TestGateFirst(t *testing.T) {
	for _, operands := range []string{"gate, b", "b, gate"} {
		g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "gated"

state c.weight f32[4,3,3,3] weight he_normal(0)
state b.weight f32[4] gamma ones
state b.bias f32[4] beta zeros
state b.running_mean f32[4] mean zeros
state b.running_var f32[4] variance ones
state fc.weight f32[4,4,1,1] weight he_normal(0)

func main(pixels rows u8[5,5,3]) {
  x = image(pixels)
  c = conv(x, @c.weight, pad=[1,1,1,1])
  b = batch_norm(c, @b.weight, @b.bias, @b.running_mean, @b.running_var)
  mean = global_avg_pool(b)
  fc = conv(mean, @fc.weight)
  gate = sigmoid(fc)
  y = mul(` + operands + `)
  last = conv(y, @fc.weight)
  return logits rows = last
}
`))
		m := &models.Model{Architecture: "gated", Graph: g}
		if err == nil {
			err = models.Init(m, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := prepare(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.byNorms()
		if err != nil {
			t.Fatal(err)
		}
		if found := slices.ContainsFunc(b.Graph.Main.Nodes, func(n graph.Node) bool {
			return n.Op == graph.MulInt8
		}); !found {
			t.Errorf("%s: no product of bytes", operands)
		}
	}
}
