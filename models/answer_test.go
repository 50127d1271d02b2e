package models_test

import (
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

// answering returns a model of arrays f32[2] that ends in lines. The lines compute the
// outputs named in returns, and may use a dense layer of n numbers, d.
func answering(t *testing.T, n int, lines, returns string) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph(fmt.Appendf(nil, "bnctl graph 1\ngraph \"g\"\nstate w f32[%d,2] weight zeros\n"+
		"func main(x rows f32[2]) {\n  d = dense(x, @w)\n%s\n  return %s\n}\n", n, lines, returns))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		what           string
		n              int
		lines, returns string
		change         func(*models.Model)
		want           models.Answer
		at             int
	}{
		{"bare dense layer", 10, "", "y rows = d", nil, models.Values, 0},
		{"called logits", 10, "", "logits rows = d", nil, models.Logits, 0},
		{"called Logits inside", 10, "", "head_Logits rows = d", nil, models.Logits, 0},
		{"one number called logits", 1, "", "logits rows = d", nil, models.Values, 0},
		{"labels", 3, "", "y rows = d", func(m *models.Model) { m.Labels = []string{"a", "b", "c"} }, models.Logits, 0},
		{"other labels", 3, "", "y rows = d", func(m *models.Model) { m.Labels = []string{"a"} }, models.Values, 0},
		{"trained", 3, "", "y rows = d", func(m *models.Model) { m.Recipe = []byte("{}") }, models.Logits, 0},
		{"ImageNet", 1000, "", "y rows = d", nil, models.Logits, 0},
		{"ImageNet, pooled", 1001, "r = reshape(d, shape=[1001,1,1])\ng = global_avg_pool(r)\n" +
			"y = reshape(g, shape=[1001])", "y rows = y", nil, models.Logits, 0},
		{"ImageNet's width, bounded", 1000, "y = tanh(d)", "y rows = y", nil, models.Values, 0},
		{"softmax", 3, "y = softmax(d)", "y rows = y", nil, models.Probabilities, 0},
		{"softmax of one", 1, "y = softmax(d)", "y rows = y", nil, models.Values, 0},
		{"softmax [C,1,1]", 3, "r = reshape(d, shape=[3,1,1])\ny = softmax(r)", "y rows = y", nil,
			models.Probabilities, 0},
		{"softmax map", 8, "r = reshape(d, shape=[2,2,2])\ny = softmax(r)", "y rows = y", nil, models.Values, 0},
		{"flat softmax map", 8, "r = reshape(d, shape=[2,4])\ns = softmax(r)\ny = reshape(s, shape=[8])",
			"y rows = y", nil, models.Values, 0},
		{"logits and softmax", 3, "p = softmax(d)", "logits rows = d\n  return p rows = p", nil, models.Probabilities, 1},
		{"softmax of something else", 3, "r = relu(d)\np = softmax(r)", "logits rows = d\n  return p rows = p", nil,
			models.Values, 0},
		{"log-softmax", 3, "y = log_softmax(d)", "y rows = y", nil, models.Logits, 0},
		{"sigmoid", 1, "y = sigmoid(d)", "y rows = y", nil, models.Binary, 0},
		{"hard sigmoid", 1, "y = hard_sigmoid(d)", "y rows = y", nil, models.Binary, 0},
		{"sigmoids with labels", 3, "y = sigmoid(d)", "y rows = y",
			func(m *models.Model) { m.Labels = []string{"a", "b", "c"} }, models.LabelProbabilities, 0},
		{"labels that do not exclude each other", 3, "y = relu(d)", "label_logits rows = y", nil, models.LabelLogits, 0},
		{"numbers", 3, "y = relu(d)", "values rows = y",
			func(m *models.Model) { m.Labels = []string{"a", "b", "c"} }, models.Numbers, 0},
		{"values of nobody", 3, "y = relu(d)", "values rows = y", nil, models.Values, 0},
	} {
		m := answering(t, c.n, c.lines, c.returns)
		if c.change != nil {
			c.change(m)
		}
		var all []int
		for i := range m.Graph.Main.Outputs {
			all = append(all, i)
		}
		if got, at := m.Answer(all...); got != c.want || at != c.at {
			t.Errorf("%s: answer %v of output %d, want %v of %d", c.what, got, at, c.want, c.at)
		}
	}
}
