package quantize

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

// unlikeConcat returns a network that concatenates two branches. The numbers of the first are a thousand
// times smaller, but have the same influence on the result. reader is the line of the graph's text that
// reads the concatenation.
func unlikeConcat(t *testing.T, reader string) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "unlike"

state a.weight f32[4,3,3,3] weight he_normal(0)
state an.weight f32[4] gamma ones
state an.bias f32[4] beta zeros
state an.running_mean f32[4] mean zeros
state an.running_var f32[4] variance ones
state b.weight f32[4,3,3,3] weight he_normal(0)
state bn.weight f32[4] gamma ones
state bn.bias f32[4] beta zeros
state bn.running_mean f32[4] mean zeros
state bn.running_var f32[4] variance ones
state c.weight f32[6,8,1,1] weight he_normal(0)

func main(pixels rows u8[8,8,3]) {
  x = image(pixels)
  a = conv(x, @a.weight, pad=[1,1,1,1])
  an = batch_norm(a, @an.weight, @an.bias, @an.running_mean, @an.running_var)
  ar = relu(an)
  b = conv(x, @b.weight, pad=[1,1,1,1])
  bn = batch_norm(b, @bn.weight, @bn.bias, @bn.running_mean, @bn.running_var)
  br = relu(bn)
  cat = concat(ar, br)
  ` + reader + `
  y = conv(r, @c.weight)
  return logits rows = y
}
`))
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "unlike", Graph: g}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	for c := range 4 {
		m.State["an.weight"].F32()[c] = 0.001
		for o := range 6 {
			m.State["c.weight"].F32()[8*o+c] *= 1000
		}
	}
	return m
}

// readers are nodes between a concatenation and a layer. The value is true if the layer can absorb factors.
var readers = map[string]bool{
	"r = relu(cat)":                                 true,
	"r = max_pool(cat, kernel=[2,2])":               true,
	"m = max_pool(cat, kernel=[2,2])\n r = relu(m)": true,
	"r = upsample(cat, size=[16,16])":               false,
	"r = avg_pool(cat, kernel=[2,2])":               false,
}

func TestUnlikeOperandsOfConcat(t *testing.T) {
	for reader, fits := range readers {
		m := unlikeConcat(t, reader)
		p, err := prepare(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.byNorms()
		if err != nil {
			t.Fatal(err)
		}
		noise, warned := noiseOf(t, m, b), len(b.warnings) == 1 && b.warnings[0].Layer == "cat" &&
			strings.Contains(b.warnings[0].Text, "operand ar keeps")
		if fits && (noise > 0.01 || len(b.warnings) > 0) || !fits && !warned {
			t.Errorf("%s: noise %g, warnings %v", reader, noise, b.warnings)
		}
	}
}

// If a concatenation is kept in float32, the layer that reads it is kept too, so that it
// does not round the result. If a batch norm is kept, the layer before it is kept too.
func TestKeepCoversItsResult(t *testing.T) {
	for reader := range readers {
		m := unlikeConcat(t, reader)
		for _, keep := range []struct{ pattern, layer string }{{"cat", "y"}, {"an", "a"}, {"y", "y"}} {
			p, err := prepare(m, []string{keep.pattern})
			if err != nil {
				t.Fatal(err)
			}
			b, err := p.byNorms()
			if err != nil {
				t.Fatal(err)
			}
			float := false
			for _, l := range b.layers {
				float = float || l.Name == keep.layer && l.Float
			}
			covered := float || keep.pattern == "cat" && hasArithmetic(reader)
			if noise := noiseOf(t, m, b); !covered || keep.layer == "y" && float && noise > 0.01 {
				t.Errorf("%s, keep %s: float %t, noise %g", reader, keep.pattern, float, noise)
			}
		}
	}
}

// hasArithmetic reports whether the node between the concatenation and the layer computes
// new numbers. Keeping the concatenation then does not keep the layer.
func hasArithmetic(reader string) bool {
	return strings.Contains(reader, "upsample") || strings.Contains(reader, "avg_pool")
}

func TestNoisyLayersAreReported(t *testing.T) {
	list := noisyLayers([]Layer{{Name: "a", Noise: 2.8}, {Name: "b", Noise: 30}, {Name: "c", Expected: 9},
		{Name: "d", Noise: 1, Float: true}, {Name: "e"}})
	if len(list) != 2 || list[0].Layer != "a" || list[1].Layer != "c" {
		t.Errorf("warnings are %v, want those of a and c", list)
	}
}
