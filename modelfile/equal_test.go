package modelfile

import (
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

// TestEqualParameters compares two weights of shapes 2x3 and 3x2, with several numbers in
// the second one.
func TestEqualParameters(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second []float32
		want          string
	}{
		{"different", []float32{1, 2, 3, 4, 5, 6}, []float32{1, 2, 3, 4, 5, 6}, ""},
		{"transposed", []float32{1, 2, 3, 4, 5, 6}, []float32{1, 4, 2, 5, 3, 6},
			"a and b hold the same numbers and are trained as two tensors"},
		{"initial", []float32{1, 1, 1, 1, 1, 1}, []float32{1, 1, 1, 1, 1, 1}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := twoWeights(t)
			copy(m.State["a"].F32(), c.first)
			copy(m.State["b"].F32(), c.second)
			if got := equalParameters(m); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func twoWeights(t *testing.T) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "two"
state a f32[2,3] weight zeros
state b f32[3,2] weight zeros

func main(x rows f32[3]) {
  y = dense(x, @a)
  z = dense(y, @b)
  return z rows = z
}
`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}
