package spmd

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// graphOf parses a graph with a given head.
func graphOf(t *testing.T, text string) *graph.Graph {
	t.Helper()
	g, err := graph.ParseGraph([]byte("bnctl graph 1\ngraph \"tiny\"\n\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// wrapped returns graphOf(text), wrapped for two replicas.
func wrapped(t *testing.T, mode bn.Mode, text string) *graph.Graph {
	t.Helper()
	w, err := Wrap(graphOf(t, text), Options{Replicas: 2, BN: mode})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// opsOf lists the operations of a function, with repetitions.
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

// The options determine the moments that a batch norm uses and how its running statistics
// are kept.
func TestWrapOptions(t *testing.T) {
	for _, c := range []struct {
		o     Options
		ops   string // the operations between dense and gather
		stats string
	}{
		{Options{BN: bn.Sync}, "[moments all_reduce normalise track]", "pooled"},
		{Options{BN: bn.Sync, MinRunning: true}, "[moments all_reduce normalise track]", "pooled"},
		{Options{BN: bn.Replica, Stats: bn.Mean}, "[moments normalise track]", "mean"},
		{Options{BN: bn.Replica, MinRunning: true, Stats: bn.First},
			"[moments running_moments select_moments normalise track]", "first"},
	} {
		c.o.Replicas = 2
		w, err := Wrap(graphOf(t, frozenNorm), c.o)
		if err != nil {
			t.Fatal(err)
		}
		ops := opsOf(w.Main)
		if got := fmt.Sprint(ops[2 : len(ops)-1]); got != c.ops {
			t.Errorf("%+v: %s, want %s", c.o, got, c.ops)
		}
		for i := range w.Main.Nodes {
			switch n := &w.Main.Nodes[i]; n.Op {
			case graph.Track:
				if n.Text("stats") != c.stats {
					t.Errorf("%+v: statistics %s, want %s", c.o, n.Text("stats"), c.stats)
				}
			case graph.Normalise:
				from := slices.IndexFunc(w.Main.Nodes, func(m graph.Node) bool { return m.Out[0] == n.In[1] })
				if from != i-1 {
					t.Errorf("%+v: it is normalised with node %d, want %d", c.o, from, i-1)
				}
			}
		}
	}
	if _, err := Wrap(graphOf(t, frozenNorm), Options{}); err == nil {
		t.Error("no replicas")
	}
}

const twoDropouts = `state fc.weight f32[3,4] weight he_normal(0)

func main(x rows f32[4]) {
  one = dropout(x, p=0.5)
  fc = dense(one, @fc.weight)
  two = dropout(fc, p=0.25)
  return logits rows = two
}
`

// TestDropoutOfSamples: a whole sample is dropped by a separate factor, which devices draw
// as they draw elements, and the gradient ignores it. Prediction omits the dropout.
func TestDropoutOfSamples(t *testing.T) {
	text := strings.Replace(twoDropouts, "p=0.25", `p=0.25, each="sample"`, 1)
	train, err := TrainFunction(wrapped(t, bn.Sync, text), Training{Trained: []string{"fc.weight"}, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	factors, products := 0, 0
	for i := range train.Nodes {
		switch n := &train.Nodes[i]; n.Op {
		case graph.Dropout:
			if n.Text("each") != "element" {
				t.Errorf("%s is given to devices with each=%q", train.NodeName(n), n.Text("each"))
			}
			if shape := train.Values[n.In[0]].Type.Shape; len(shape) == 1 && shape[0] == 1 {
				factors++
			}
		case graph.Mul:
			products++
		case graph.ReduceSum:
			t.Errorf("%s computes the gradient of a factor", train.NodeName(n))
		}
	}
	if factors != 1 || products != 2 { // one product forward and one backward
		t.Errorf("%d factors and %d products, want 1 and 2", factors, products)
	}
	predict, err := PredictFunction(graphOf(t, text))
	if err != nil {
		t.Fatal(err)
	}
	if ops := opsOf(predict); len(ops) != 1 || ops[0] != graph.Dense {
		t.Errorf("prediction has %v, want the dense layer alone", ops)
	}
}

// TestDropoutOfPictures: a factor is made from the image, since pixels are not floats.
func TestDropoutOfPictures(t *testing.T) {
	const text = `state fc.weight f32[3,12] weight he_normal(0)

func main(x rows u8[2,2,3]) {
  image = image(x)
  flat = reshape(image, shape=[12])
  dropped = dropout(flat, p=0.25, each="sample")
  logits = dense(dropped, @fc.weight)
  return logits rows = logits
}
`
	if _, err := TrainFunction(wrapped(t, bn.Sync, text), Training{Trained: []string{"fc.weight"}}); err != nil {
		t.Error(err)
	}
}

// TestDropoutsDrawApart: every dropout has separate draws, by epoch and sample, in
// training, and is absent in prediction.
func TestDropoutsDrawApart(t *testing.T) {
	g := wrapped(t, bn.Sync, twoDropouts)
	train, err := TrainFunction(g, Training{Trained: []string{"fc.weight"}, Seed: 9})
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

// TestFrozenTrainsWithRunningStatistics: the forward pass of a frozen batch norm is the
// same as in prediction.
func TestFrozenTrainsWithRunningStatistics(t *testing.T) {
	train, err := TrainFunction(wrapped(t, bn.Frozen, frozenNorm), Training{Trained: []string{"fc.weight"}})
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

// TestEstimateIsTraining: statistics are estimated from the same moments as in training,
// and the function computes nothing else.
func TestEstimateIsTraining(t *testing.T) {
	g := wrapped(t, bn.Sync, frozenNorm)
	train, err := TrainFunction(g, Training{Trained: []string{"fc.weight"}})
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

// TestSoftmaxInAnotherShape: the loss reads the input of the softmax, in the shape of the
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
	f, err := TrainFunction(g, Training{Trained: []string{"fc.weight"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range f.Inputs {
		if f.Values[v].Name == losses.InputLabels && len(f.Values[v].Type.Shape) != 0 {
			t.Errorf("a label has shape %v, want one number", f.Values[v].Type.Shape)
		}
	}
	if !slices.Contains(opsOf(f), graph.SoftmaxXent) {
		t.Errorf("it computes %v", opsOf(f))
	}
	got, want := lossOf(t, f), lossOf(t, trainsOf(t, twoOutputs, Training{Trained: []string{"fc.weight"}}))
	if got[0].F64()[0] != want[0].F64()[0] || !tensor.Equal(got[2], want[2]) {
		t.Errorf("loss %v, of logits %v", got[0].F64(), want[0].F64())
	}
}

const twoOutputs = `state fc.weight f32[3,4] weight he_normal(0)

func main(x rows f32[4]) {
  fc = dense(x, @fc.weight)
  return logits rows = fc
  return aux rows = fc
}
`

// trainsOf returns the training function of a graph over two replicas.
func trainsOf(t *testing.T, text string, o Training) *graph.Function {
	t.Helper()
	f, err := TrainFunction(wrapped(t, bn.Sync, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lossOf runs a training function that reads the state fc.weight, and returns its outputs, including kept
// ones.
func lossOf(t *testing.T, f *graph.Function) []tensor.Tensor {
	t.Helper()
	state := map[string]tensor.Tensor{
		"fc.weight": tensor.Of([]float64{1, 0, 0, 2, 0, 3, 0, 0, 1, 1, 1, 1}, 3, 4)}
	x := tensor.Of([]float64{1, 2, 3, 4, 4, 3, 2, 1}, 2, 4)
	labels := tensor.Of([]int32{1, 2}, 2)
	out, err := ref.Eval64(f, state, []tensor.Tensor{x, labels, tensor.Scalar(0.5)}, []int{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The loss of an auxiliary output affects the gradient only, by its weight.
func TestAuxiliaryLoss(t *testing.T) {
	alone := lossOf(t, trainsOf(t, twoOutputs, Training{Trained: []string{"fc.weight"}}))
	apart := strings.Replace(twoOutputs, "return aux rows = fc", "o = dense(x, @fc.weight)\n  return aux rows = o", 1)
	for _, text := range []string{apart, twoOutputs} { // including an auxiliary loss of the logits themselves
		both := lossOf(t, trainsOf(t, text, Training{Trained: []string{"fc.weight"}, Auxiliary: 0.5}))
		if !tensor.Equal(alone[0], both[0]) {
			t.Errorf("loss %v, without it %v", both[0].F64(), alone[0].F64())
		}
		for i, g := range alone[2].F64() {
			if got := both[2].F64()[i]; math.Abs(got-1.5*g) > 1e-14 {
				t.Errorf("gradient %d is %v, without it %v", i, got, g)
			}
		}
	}
}

// With PerReplica, gradients are separate for each replica and are outputs; otherwise they
// are summed and kept.
func TestGradientsApart(t *testing.T) {
	whole := trainsOf(t, twoOutputs, Training{Trained: []string{"fc.weight"}})
	apart := trainsOf(t, twoOutputs, Training{Trained: []string{"fc.weight"}, PerReplica: true})
	if o := whole.Outputs[2]; !o.Keep || whole.Values[o.Value].Type.Kind != graph.Whole {
		t.Errorf("%+v of %v", o, whole.Values[o.Value].Type)
	}
	if o := apart.Outputs[2]; o.Keep || apart.Values[o.Value].Type.Kind != graph.Replica ||
		o.Name != Gradient("fc.weight") {
		t.Errorf("%+v of %v", o, apart.Values[o.Value].Type)
	}
	sum, chunks := lossOf(t, whole)[2].F64(), lossOf(t, apart)[2].F64()
	for i := range sum {
		if chunks[i]+chunks[len(sum)+i] != sum[i] {
			t.Errorf("gradient %d: %v and %v, the sum is %v", i, chunks[i], chunks[len(sum)+i], sum[i])
		}
	}
	got := step.ResultOf(apart, []device.Outcome{{Outputs: lossOf(t, apart)}}, step.Timing{})
	want := []int{2, 3, 4}
	if len(got.Gradients) != 1 || len(got.Moments) != 0 || !slices.Equal(got.Gradients[0].Shape, want) {
		t.Errorf("result %+v", got)
	}
}

// A program for prediction has only the template's function.
func TestPredictProgram(t *testing.T) {
	p, err := PredictProgram(graphOf(t, twoOutputs))
	if err != nil || len(p.Functions) != 1 || p.Functions[0].Name != graph.Predict || len(p.State) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	broken := graphOf(t, twoOutputs)
	broken.State = nil
	if p, err := PredictProgram(broken); err == nil {
		t.Errorf("a template whose weights are not declared: %+v", p)
	}
}

// The statistics of a batch norm must be state.
func TestStatisticsThatAreNoState(t *testing.T) {
	text := strings.Replace(frozenNorm, "@n.bias, @n.running_mean,", "@n.bias, m,", 1)
	g := wrapped(t, bn.Frozen, strings.Replace(text, "  n = ", "  m = relu(@n.running_mean)\n  n = ", 1))
	_, err := TrainFunction(g, Training{Trained: []string{"fc.weight"}})
	_, also := EstimateFunction(g)
	for _, err := range []error{err, also} {
		if err == nil || !strings.Contains(err.Error(), "are not state tensors") {
			t.Errorf("%v", err)
		}
	}
}

// TestTrainRefuses: a graph without a possible loss is rejected.
func TestTrainRefuses(t *testing.T) {
	mute := wrapped(t, bn.Sync, twoOutputs)
	mute.Main.Outputs = nil
	_, err := TrainFunction(mute, Training{})
	if err == nil || !strings.Contains(err.Error(), "no output to train") {
		t.Errorf("a graph without outputs: %v", err)
	}
	other := strings.Replace(twoOutputs, "return aux rows = fc",
		"more = reshape(fc, shape=[3,1])\n  return aux rows = more", 1)
	for _, c := range []struct {
		text string
		o    Training
		want string
	}{
		{frozenNorm, Training{Trained: []string{"fc.weight"}, Auxiliary: 1}, "has no output aux"},
		{other, Training{Trained: []string{"fc.weight"}, Auxiliary: 1}, "output aux of graph main has shape [3 1]"},
		{frozenNorm, Training{Trained: []string{"n.weight"}, PerReplica: true}, "n.weight exists over all replicas only"},
		{frozenNorm, Training{Trained: []string{"absent"}}, "state absent is not declared"},
	} {
		_, err := TrainFunction(wrapped(t, bn.Sync, c.text), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.o, err, c.want)
		}
	}
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
		_, err := TrainFunction(wrapped(t, bn.Sync, c.text), Training{Trained: []string{"other"}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
