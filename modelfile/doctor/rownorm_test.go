package doctor

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// The scale of a norm of each row is examined like any other weight, because the norm has
// no statistics to compare it with.
func TestScaleOfLayerNorm(t *testing.T) {
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "g"
state w f32[4] gamma ones
func main(x rows f32[4]) {
  y = layer_norm(x, @w, axes=[0])
  return logits rows = y
}
`))
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "g", Graph: g}
	if err := models.Init(m, 0); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.bnm")
	for _, c := range []struct {
		value float64
		want  []string
	}{{1, nil}, {math.NaN(), []string{"w"}}} {
		m.State["w"].F32()[2] = float32(c.value)
		if got := Diagnose(m); !slices.Equal(got.NonFinite, c.want) || len(got.Norms) > 0 {
			t.Errorf("%v: %q and norms %v, want %q", c.value, got.NonFinite, got.Norms, c.want)
		}
		if _, err := serialize.WriteModel(path, m); err != nil {
			t.Fatal(err)
		}
		r, err := Examine(path, modelfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.NonFinite, c.want) {
			t.Errorf("%v: the file has %q, want %q", c.value, r.NonFinite, c.want)
		}
	}
}
