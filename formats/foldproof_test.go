package formats

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// foldedModel returns a dense layer with a batch norm that can be folded into it, and one that cannot.
func foldedModel(t *testing.T) *models.Model {
	t.Helper()
	b, table := builder()
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3}})
	d := b.Op(graph.Dense, "d", []graph.Value{x, param(b, "d.w", graph.Weight, 2, 3)})
	return finish(t, b, table, norm(b, "n2", b.Op(graph.Relu, "r", []graph.Value{norm(b, "n1", d, 2)}), 2))
}

// TestFoldProven runs the model with its batch norms and the folded one on the same rows,
// and reports their difference.
func TestFoldProven(t *testing.T) {
	m := foldedModel(t)
	var saw []tensor.Tensor
	var norms []int
	run := func(m *models.Model, x tensor.Tensor) ([]tensor.Tensor, error) {
		saw = append(saw, x)
		n := 0
		for i := range m.Graph.Main.Nodes {
			if node := &m.Graph.Main.Nodes[i]; node.Op == graph.BatchNorm {
				n++
				if gamma := m.Graph.Main.Values[node.In[1]].State; len(norms) == 0 && gamma != "" {
					t.Errorf("gamma of %s is state, so that a device may fold it", m.Graph.Main.NodeName(node))
				}
			}
		}
		norms = append(norms, n)
		y := tensor.New(tensor.F32, 2, 2)
		for i, v := range outputs(t, m) {
			y.F32()[i] = float32(v)
		}
		return []tensor.Tensor{y}, nil
	}
	f, p, err := FoldProven(m, run)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(p.Folded, " ") != "n1" || strings.Join(p.Unfolded, " ") != "n2" || p.MaxDifference > 1e-6 {
		t.Errorf("proof %+v", p)
	}
	if len(saw) != 2 || !tensor.Equal(saw[0], saw[1]) || saw[0].Shape[0] != foldInputs {
		t.Errorf("ran on %v", saw)
	}
	if len(norms) != 2 || norms[0] != 2 || norms[1] != 1 {
		t.Errorf("%v batch norms, want 2 in the model and 1 in the folded one", norms)
	}
	compareOutputs(t, m, f)
	u, err := unfolded(m)
	if err != nil {
		t.Fatal(err)
	}
	compareOutputs(t, m, u)
}

// TestFoldProvenRefuses accepts differences that are small relative to the largest output
// as rounding, and rejects all others.
func TestFoldProvenRefuses(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		want, got []float32
		most      float64
		refused   string
	}{
		{[]float32{-100, 1}, []float32{-100, 1.0625}, 0.0625, ""}, // 0.1 is the limit for outputs of up to 100
		{[]float32{-100, 1}, []float32{-100, 1.25}, 0.25, "outputs of up to 100 by up to 0.25"},
		{[]float32{1, 100}, []float32{0.75, 100}, 0.25, "outputs of up to 100 by up to 0.25"},
		{[]float32{0.01, 0.0}, []float32{0.0105, 0}, 0.0005, ""}, // less than 0.001, the limit for outputs below 1
		{[]float32{0.01, 0.0}, []float32{0.0125, 0}, 0.0025, "outputs of up to 0.01 by up to 0.0025"},
		{[]float32{-3, 2}, []float32{3, 2}, 6, "by up to 6"}, // the sign differs
		{[]float32{1, 1}, []float32{nan, 1}, math.NaN(), "by up to NaN"},
		{[]float32{1, 1}, []float32{2, 1.5}, 1, "by up to 1:"}, // the largest difference, not the last
	} {
		first := true
		f, p, err := FoldProven(foldedModel(t), func(*models.Model, tensor.Tensor) ([]tensor.Tensor, error) {
			x := c.got
			if first {
				x, first = c.want, false
			}
			return []tensor.Tensor{tensor.Of(x, 2)}, nil
		})
		if math.Abs(p.MaxDifference-c.most) > 1e-6 || c.most != c.most != (p.MaxDifference != p.MaxDifference) {
			t.Errorf("%v and %v differ by %g, want %g", c.want, c.got, p.MaxDifference, c.most)
		}
		if c.refused == "" && (err != nil || f == nil) || c.refused != "" &&
			(err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%v and %v: error %v, want %q", c.want, c.got, err, c.refused)
		}
	}
}

// TestFoldProvenFails: the error gives the reason why a model did not run or cannot be folded.
func TestFoldProvenFails(t *testing.T) {
	broken := errors.New("the device is on fire")
	for at := range 2 {
		calls := 0
		_, _, err := FoldProven(foldedModel(t), func(*models.Model, tensor.Tensor) ([]tensor.Tensor, error) {
			if calls++; calls > at {
				return nil, broken
			}
			return []tensor.Tensor{tensor.Of([]float32{1}, 1)}, nil
		})
		if !errors.Is(err, broken) || calls != at+1 {
			t.Errorf("run %d fails: %d calls, error %v", at, calls, err)
		}
	}
	sick := foldedModel(t)
	sick.State["n1.running_var"].F32()[0] = -1
	if f, _, err := FoldProven(sick, nil); err == nil || f != nil {
		t.Errorf("a variance below 0: %v, %v", f, err)
	}
	// A variance of 0 leaves only eps.
	sick.State["n1.running_var"].F32()[0] = 0
	if _, _, err := Fold(sick); err != nil {
		t.Error(err)
	}
}
