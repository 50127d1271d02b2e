package parallel

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// graphOf parses a graph whose head is given.
func graphOf(t *testing.T, text string) *graph.Graph {
	t.Helper()
	g, err := graph.ParseGraph([]byte("bnctl graph 1\ngraph \"tiny\"\n\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// wrapped is graphOf over two replicas.
func wrapped(t *testing.T, mode bn.Mode, text string) *graph.Graph {
	t.Helper()
	w, err := Wrap(graphOf(t, text), Options{Replicas: 2, BN: mode})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// opsOf lists the operations of a function, as often as they are there.
func opsOf(f *graph.Function) (ops []graph.Op) {
	for i := range f.Nodes {
		ops = append(ops, f.Nodes[i].Op)
	}
	return ops
}

func inputsOf(f *graph.Function) (names []string) {
	for _, v := range f.Inputs {
		names = append(names, f.Values[v].Name)
	}
	return names
}

const twoDropouts = `state fc.weight f32[3,4] weight he_normal(0)

func main(x rows f32[4]) {
  one = dropout(x, p=0.5)
  fc = dense(one, @fc.weight)
  two = dropout(fc, p=0.25)
  return logits rows = two
}
`

// TestDropoutsDrawApart: every dropout has draws of its own, by epoch and sample, in
// training, and is not there in prediction.
func TestDropoutsDrawApart(t *testing.T) {
	train, err := TrainFunction(wrapped(t, bn.Sync, twoDropouts), Loss{Trained: []string{"fc.weight"}, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(strings.Join(inputsOf(train), " "), InputIdent); n != 1 {
		t.Errorf("inputs %v: %d of them are %s, want 1", inputsOf(train), n, InputIdent)
	}
	var streams []int
	for i := range train.Nodes {
		if n := &train.Nodes[i]; n.Op == graph.Dropout {
			streams = append(streams, n.Int("stream"))
			if n.Int("seed") != 9 {
				t.Errorf("dropout %s has seed %d, want 9", train.NodeName(n), n.Int("seed"))
			}
		}
	}
	slices.Sort(streams)
	if len(slices.Compact(streams)) != 2 {
		t.Errorf("streams %v, want two that differ", streams)
	}
	predict, err := PredictFunction(graphOf(t, twoDropouts))
	if err != nil {
		t.Fatal(err)
	}
	if ops := opsOf(predict); len(ops) != 1 || ops[0] != graph.Dense || len(predict.Outputs) != 1 {
		t.Errorf("prediction computes %v", ops)
	}
}

const frozenNorm = `state fc.weight f32[3,4] weight he_normal(0)
state n.weight f32[3] gamma ones
state n.bias f32[3] beta zeros
state n.running_mean f32[3] mean zeros
state n.running_var f32[3] variance ones

func main(x rows f32[4]) {
  fc = dense(x, @fc.weight)
  n = batch_norm(fc, @n.weight, @n.bias, @n.running_mean, @n.running_var, eps=0.5)
  return logits rows = n
}
`

// TestFrozenTrainsWithRunningStatistics: the forward pass of a batch norm that is frozen
// is that of prediction.
func TestFrozenTrainsWithRunningStatistics(t *testing.T) {
	train, err := TrainFunction(wrapped(t, bn.Frozen, frozenNorm), Loss{Trained: []string{"fc.weight"}})
	if err != nil {
		t.Fatal(err)
	}
	predict, err := PredictFunction(graphOf(t, frozenNorm))
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]tensor.Tensor{
		"fc.weight":      tensor.Of([]float64{1, 0, 0, 2, 0, 3, 0, 0, 1, 1, 1, 1}, 3, 4),
		"n.weight":       tensor.Of([]float64{1, 2, 3}, 3),
		"n.bias":         tensor.Of([]float64{0, 1, 0}, 3),
		"n.running_mean": tensor.Of([]float64{1, 0, 4}, 3),
		"n.running_var":  tensor.Of([]float64{3.5, 0.5, 8.5}, 3),
	}
	x, sizes := tensor.Of([]float64{1, 2, 3, 4, 4, 3, 2, 1}, 2, 4), []int{1, 1}
	logits, err := ref.Eval64(predict, state, []tensor.Tensor{x}, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	best := func(row []float64) int32 { return int32(slices.Index(row, slices.Max(row))) }
	z := logits[0].F64()
	labels := tensor.Of([]int32{best(z[:3]), best(z[3:])}, 2)
	out, err := ref.Eval64(train, state, []tensor.Tensor{x, labels, tensor.Scalar(0.5)}, sizes)
	if err != nil {
		t.Fatal(err)
	}
	if hits := out[1].F64(); hits[0] != 2 || hits[1] != 2 {
		t.Errorf("%v of the classes that prediction finds are right in training", hits)
	}
}

// TestEstimateIsTraining: the moments that statistics are estimated from are those of
// training, and nothing else is computed.
func TestEstimateIsTraining(t *testing.T) {
	g := wrapped(t, bn.Sync, frozenNorm)
	train, err := TrainFunction(g, Loss{Trained: []string{"fc.weight"}})
	if err != nil {
		t.Fatal(err)
	}
	estimate, err := EstimateFunction(g)
	if err != nil {
		t.Fatal(err)
	}
	if len(estimate.Outputs) != 1 || estimate.Outputs[0].Name != momentsOf("n") || estimate.Name != Estimate {
		t.Errorf("function %s with outputs %+v", estimate.Name, estimate.Outputs)
	}
	if ops := opsOf(estimate); slices.Contains(ops, graph.SoftmaxXent) || len(ops) >= len(opsOf(train)) {
		t.Errorf("it computes %v", ops)
	}
	state := map[string]tensor.Tensor{
		"fc.weight": tensor.Of([]float64{1, 0, 0, 2, 0, 3, 0, 0, 1, 1, 1, 1}, 3, 4),
		"n.weight":  tensor.Of([]float64{1, 2, 3}, 3), "n.bias": tensor.Of([]float64{0, 1, 0}, 3),
	}
	x, sizes := tensor.Of([]float64{1, 2, 3, 4, 4, 3, 2, 1, 0, 0, 1, 0}, 3, 4), []int{2, 1}
	got, err := ref.Eval64(estimate, state, []tensor.Tensor{x}, sizes)
	if err != nil {
		t.Fatal(err)
	}
	labels := tensor.New(tensor.I32, 3)
	all, err := ref.Eval64(train, state, []tensor.Tensor{x, labels, tensor.Scalar(1.0)}, sizes)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(train.Outputs, func(o graph.Output) bool { return o.Name == momentsOf("n") })
	if at < 0 || !tensor.Equal(got[0], all[at]) {
		t.Errorf("moments %v, in training another", got[0].F64())
	}
}

// TestSoftmaxInAnotherShape: the loss takes what the softmax takes, in the shape of the
// output.
func TestSoftmaxInAnotherShape(t *testing.T) {
	g := wrapped(t, bn.Sync, `state fc.weight f32[3,4] weight he_normal(0)

func main(x rows f32[4]) {
  fc = dense(x, @fc.weight)
  column = reshape(fc, shape=[3,1,1])
  p = softmax(column)
  flat = reshape(p, shape=[3])
  return probabilities rows = flat
}
`)
	f, err := TrainFunction(g, Loss{Trained: []string{"fc.weight"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range f.Inputs {
		if f.Values[v].Name == InputLabels && len(f.Values[v].Type.Shape) != 0 {
			t.Errorf("a label has shape %v, want one number", f.Values[v].Type.Shape)
		}
	}
	if !slices.Contains(opsOf(f), graph.SoftmaxXent) {
		t.Errorf("it computes %v", opsOf(f))
	}
}

// TestTrainRefuses graphs that there is no loss of.
func TestTrainRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"func main(x rows f32[4]) {\n  s = reduce_mean(x, axes=[0])\n  return one rows = s\n}\n", "one number per row"},
		{`state fc.weight f32[3,4] weight he_normal(0)
state other f32[3] weight zeros

func main(x rows f32[4]) {
  fc = dense(x, @fc.weight)
  o = dense(x, @fc.weight, @other)
  return logits rows = fc
  return more rows = o
}
`, "other does not influence the loss"},
	} {
		_, err := TrainFunction(wrapped(t, bn.Sync, c.text), Loss{Trained: []string{"other"}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
