package evaluation

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// boxLossGolden is testdata/torch_boxloss.json, which torch_boxloss.py writes with PyTorch in float64.
type boxLossGolden struct {
	Height, Width, Classes int
	Outputs                [][]float64   `json:"outputs"`  // [pictures][(5+classes) * cells]
	All                    [][][]float64 `json:"objects"`  // [pictures][objects]: corners in pixels, class
	Assigned               [][]int       `json:"assigned"` // [pictures][cells]
	Positives, Loss        float64
	Gradients              [][]float64 `json:"gradients"`
}

func readBoxLoss(t *testing.T) (g boxLossGolden) {
	t.Helper()
	b, err := os.ReadFile("testdata/torch_boxloss.json")
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// targets returns the inputs of the loss for the assignment of objects to cells in g, [pictures, rows, cells]
// in float64.
func (g *boxLossGolden) targets() map[string]tensor.Tensor {
	n, a := len(g.Outputs), len(g.Assigned[0])
	all := map[string]tensor.Tensor{}
	for name, rows := range map[string]int{losses.InputBoxes: 4, losses.InputMask: 1,
		losses.InputPositive: 1 + g.Classes, losses.InputNegative: 1 + g.Classes} {
		all[name] = tensor.New(tensor.F64, n, rows, a)
	}
	for i := range n {
		at := 0
		for _, stride := range []int{8, 16, 32} {
			for y := range g.Height / stride {
				for x := range g.Width / stride {
					g.cell(all, i, at, [2]float64{float64(x), float64(y)}, float64(stride))
					at++
				}
			}
		}
	}
	return all
}

// cell sets the targets of one cell of a picture.
func (g *boxLossGolden) cell(all map[string]tensor.Tensor, picture, at int, origin [2]float64,
	stride float64) {
	a := len(g.Assigned[0])
	set := func(name string, row int, v float64) {
		t := all[name]
		t.F64()[(picture*t.Shape[1]+row)*a+at] = v
	}
	corners := []float64{-0.5, -0.5, 0.5, 0.5}
	switch k := g.Assigned[picture][at]; k {
	case -2:
	case -1:
		set(losses.InputNegative, 0, 1)
	default:
		set(losses.InputMask, 0, 1)
		set(losses.InputPositive, 0, 1)
		o := g.All[picture][k]
		for c := range g.Classes {
			set(map[bool]string{true: losses.InputPositive, false: losses.InputNegative}[c == int(o[4])], 1+c, 1)
		}
		for j := range corners {
			corners[j] = o[j]/stride - origin[j%2]
		}
	}
	for j, v := range corners {
		set(losses.InputBoxes, j, v)
	}
}

// TestBoxLossAsPyTorch: if the assignment of objects to cells is fixed, the loss of a detector and its
// gradients equal PyTorch's in float64. The outputs for the two pictures are the columns of a trained matrix,
// so that the gradients of the outputs are the columns of the matrix's gradient.
func TestBoxLossAsPyTorch(t *testing.T) {
	g := readBoxLoss(t)
	a := len(g.Assigned[0])
	if a != 42 || len(g.Outputs) != 2 {
		t.Fatal(a, len(g.Outputs))
	}
	net, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "boxes"

state w f32[336,2] weight he_normal(0)

func main(x rows f32[2]) {
  y = dense(x, @w)
  z = reshape(y, shape=[8,42])
  return yolox rows = z
}
`))
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := spmd.Wrap(net, spmd.Options{Replicas: 2, BN: bn.Sync})
	if err != nil {
		t.Fatal(err)
	}
	boxes := losses.Loss{Of: losses.Boxes}
	f, err := spmd.TrainFunction(wrapped, spmd.Training{Loss: boxes, Trained: []string{"w"}})
	if err != nil {
		t.Fatal(err)
	}
	inputs := g.targets()
	inputs["x"] = tensor.Of([]float64{1, 0, 0, 1}, 2, 2)
	inputs[losses.InputInverse] = tensor.Scalar(1 / g.Positives)
	w := tensor.New(tensor.F64, 336, 2)
	for k := range 336 {
		w.F64()[2*k], w.F64()[2*k+1] = g.Outputs[0][k], g.Outputs[1][k]
	}
	var in []tensor.Tensor
	for _, v := range f.Inputs {
		in = append(in, inputs[f.Values[v].Name])
	}
	out, err := ref.Eval64(f, map[string]tensor.Tensor{"w": w}, in, []int{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(f.Outputs, func(o graph.Output) bool { return o.Name == spmd.Gradient("w") })
	largest := 0.0
	for k, got := range out[at].F64() {
		want := g.Gradients[k%2][k/2]
		largest = max(largest, math.Abs(got-want)/max(1e-3, math.Abs(want)))
	}
	if !(largest < 1e-6) {
		t.Errorf("gradients differ by %g", largest)
	}
}

// TestLossOfCellsAsPyTorch: the loss that validation reports equals PyTorch's. Its targets are float32.
func TestLossOfCellsAsPyTorch(t *testing.T) {
	g := readBoxLoss(t)
	grid, err := cells.New(g.Height, g.Width)
	if err != nil {
		t.Fatal(err)
	}
	all, sum := g.targets(), 0.0
	single := func(v tensor.Tensor, i int) (row []float32) {
		each := v.Count() / v.Shape[0]
		for _, x := range v.F64()[i*each : (i+1)*each] {
			row = append(row, float32(x))
		}
		return row
	}
	for i, rows := range g.Outputs {
		sum += grid.Loss(single(tensor.Of(rows, 1, len(rows)), 0), cells.Targets{
			Boxes: single(all[losses.InputBoxes], i), Mask: single(all[losses.InputMask], i),
			Positive: single(all[losses.InputPositive], i), Negative: single(all[losses.InputNegative], i)})
	}
	if math.Abs(sum-g.Loss) > 1e-6*g.Loss {
		t.Errorf("loss %v, want %v", sum, g.Loss)
	}
}
