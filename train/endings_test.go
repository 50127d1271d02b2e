package train

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// endingLosses is the output of testdata/endings.py: see there.
//
//go:embed testdata/endings.txt
var endingLosses string

// endings are the last lines of a network, by the names of the script. The values z are f32[3,2]: three
// classes at two places.
var endings = map[string][]string{
	"open":       {"y = affine(z)"},
	"classes":    {"y = softmax(z)", "s = softmax(z)\ny = reshape(s, shape=[3,2])"},
	"logarithms": {"y = log_softmax(z)"},
	"places":     {"y = softmax(z, axis=1)"},
	"units":      {"y = sigmoid(z)"},
}

// Training and evaluation compute the same loss from a network's output.
func TestEndingsHaveOneLoss(t *testing.T) {
	x := tensor.New(tensor.F64, 2, 6)
	for i := range x.F64() {
		x.F64()[i] = float64(7*i%23)/8 - 1
	}
	labels := tensor.Of([]int32{2, 0, 1, 1}, 2, 2)
	if n := strings.Count(endingLosses, "\n"); n != len(endings) {
		t.Fatalf("%d losses of %d endings", n, len(endings))
	}
	for line := range strings.Lines(endingLosses) {
		var name string
		var want float64
		fmt.Sscan(line, &name, &want)
		for _, ending := range endings[name] {
			g, err := graph.ParseGraph(fmt.Appendf(nil, "bnctl graph 1\ngraph \"g\"\nstate b f32[6] bias zeros\n"+
				"func main(x rows f32[6]) {\n  c = add(x, @b)\n  z = reshape(c, shape=[3,2])\n%s\n"+
				"  return y rows = y\n}\n", ending))
			if err != nil {
				t.Fatal(err)
			}
			if got := trainedLoss(t, g, x, labels); math.Abs(got-want) > 1e-6 {
				t.Errorf("%q: training minimises %.9f, PyTorch has %.9f", ending, got, want)
			}
			if got := evaluatedLoss(t, g, x, labels); math.Abs(got-want) > 1e-6 {
				t.Errorf("%q: evaluation finds %.9f, PyTorch has %.9f", ending, got, want)
			}
		}
	}
}

// trainedLoss returns the sum of the loss in the training function.
func trainedLoss(t *testing.T, g *graph.Graph, x, labels tensor.Tensor) float64 {
	t.Helper()
	f, err := spmd.TrainFunction(g, spmd.Training{Trained: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := ref.Eval64(f, map[string]tensor.Tensor{"b": tensor.New(tensor.F64, 6)},
		[]tensor.Tensor{x, labels, tensor.Scalar(1.0)}, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range f.Outputs {
		if o.Name == spmd.OutputLoss {
			return out[i].F64()[0]
		}
	}
	t.Fatal("no loss")
	return 0
}

// evaluatedLoss returns the sum of the loss in an evaluation.
func evaluatedLoss(t *testing.T, g *graph.Graph, x, labels tensor.Tensor) float64 {
	t.Helper()
	out, err := ref.Eval64(g.Main, map[string]tensor.Tensor{"b": tensor.New(tensor.F64, 6)},
		[]tensor.Tensor{x}, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	scores := tensor.New(tensor.F32, out[0].Shape...)
	for i, v := range out[0].F64() {
		scores.F32()[i] = float32(v)
	}
	var e evaluation.Evaluation
	if err := e.Add(scores, labels, evaluation.Loss{}.Probabilities(g)); err != nil {
		t.Fatal(err)
	}
	return e.LossSum
}
