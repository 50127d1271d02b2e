package evaluation

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// simOTAGolden is testdata/torch_simota.json, which torch_simota.py writes with PyTorch in float64.
type simOTAGolden struct {
	boxLossGolden
	Most      int
	Conflicts int     // number of cells that SimOTA first gives to several objects
	Numbers   [][]int // [pictures][objects]: number of cells that an object has before conflicts are resolved
}

func readSimOTA(t *testing.T) (g simOTAGolden) {
	t.Helper()
	b, err := os.ReadFile("testdata/torch_simota.json")
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// labels returns the objects as labels.
func (g *simOTAGolden) labels() tensor.Tensor {
	all := tensor.New(tensor.I32, len(g.All), g.Most, data.BoxFields)
	for n, objects := range g.All {
		row := all.Rows(n, n+1).I32()
		for k := range g.Most {
			box := data.Box{Class: data.NoBox}
			if k < len(objects) {
				box.Class = int32(objects[k][4])
				for i := range 4 {
					box.Corners[i] = float32(objects[k][i])
				}
			}
			box.Put(row[k*data.BoxFields:])
		}
	}
	return all
}

// function returns the training function for a golden with the given number of replicas. The outputs are the
// columns of a weight, so that the gradients of the outputs are the columns of the weight's gradient.
func (g *simOTAGolden) function(t *testing.T, grid *cells.Grid, replicas int) *graph.Function {
	t.Helper()
	n, a := len(g.Outputs), grid.Len()
	net, err := graph.ParseGraph(fmt.Appendf(nil, `bnctl graph 1
graph "boxes"

state w f32[%d,%d] weight he_normal(0)

func main(x rows f32[%d]) {
  y = dense(x, @w)
  z = reshape(y, shape=[%d,%d])
  return yolox rows = z
}
`, (5+g.Classes)*a, n, n, 5+g.Classes, a))
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := spmd.Wrap(net, spmd.Options{Replicas: replicas, BN: bn.Sync})
	if err != nil {
		t.Fatal(err)
	}
	f, err := spmd.TrainFunction(wrapped, spmd.Training{Trained: []string{"w"},
		Loss: losses.Loss{Of: losses.YOLOX, Objects: g.Most, Maps: grid.Sides()}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestYOLOXLossAsPyTorch: the training function assigns objects to cells as PyTorch does, and computes the
// same gradients, in float64.
func TestYOLOXLossAsPyTorch(t *testing.T) {
	g := readSimOTA(t)
	if g.Conflicts < 5 || slices.Max(slices.Concat(g.Numbers...)) < 4 {
		t.Fatal("the golden has too few conflicts, or no object with several cells")
	}
	grid, err := cells.New(g.Height, g.Width)
	if err != nil {
		t.Fatal(err)
	}
	f := g.function(t, grid, 2)
	n, size := len(g.Outputs), len(g.Outputs[0])
	inputs := map[string]tensor.Tensor{"x": tensor.New(tensor.F64, n, n)}
	for name, v := range (Loss{Of: losses.YOLOX}).BoxInputs(grid, g.labels(), g.Classes) {
		inputs[name] = tensor.New(tensor.F64, v.Shape...)
		for i, x := range v.F32() {
			inputs[name].F64()[i] = float64(x)
		}
	}
	w := tensor.New(tensor.F64, size, n)
	for i := range n {
		inputs["x"].F64()[i*n+i] = 1
		for k, v := range g.Outputs[i] {
			w.F64()[k*n+i] = v
		}
	}
	var in []tensor.Tensor
	for _, v := range f.Inputs {
		in = append(in, inputs[f.Values[v].Name])
	}
	out, err := ref.Eval64(f, map[string]tensor.Tensor{"w": w}, in, []int{n - 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) []float64 {
		return out[slices.IndexFunc(f.Outputs, func(o graph.Output) bool { return o.Name == name })].F64()
	}
	if p := of(losses.OutputPositives); math.Abs(p[0]*p[1]-g.Positives) > 1e-6 {
		t.Errorf("%v cells have an object, want %v", p[0]*p[1], g.Positives)
	}
	largest := 0.0
	for k, got := range of(spmd.Gradient("w")) {
		want := g.Gradients[k%n][k/n]
		largest = max(largest, math.Abs(got-want)/max(1e-4, math.Abs(want)))
	}
	if !(largest < 1e-6) {
		t.Errorf("gradients differ by %g", largest)
	}
}

// TestMatchAsPyTorch: the host assigns an object to each cell as PyTorch does, and the loss of validation
// equals PyTorch's.
func TestMatchAsPyTorch(t *testing.T) {
	g := readSimOTA(t)
	grid, err := cells.New(g.Height, g.Width)
	if err != nil {
		t.Fatal(err)
	}
	scores, labels := tensor.New(tensor.F32, len(g.Outputs), 5+g.Classes, grid.Len()), g.labels()
	for n, rows := range g.Outputs {
		row := scores.Rows(n, n+1).F32()
		for i, v := range rows {
			row[i] = float32(v)
		}
		owner, _ := grid.Match(row, objectsOf(labels.Rows(n, n+1).I32()), g.Most)
		if !slices.Equal(owner, g.Assigned[n]) {
			t.Errorf("picture %d: objects %v, want %v", n, owner, g.Assigned[n])
		}
	}
	sum, positives := Loss{Of: losses.YOLOX}.BoxLosses(grid, scores, labels)
	if math.Abs(sum-g.Loss) > 1e-5*g.Loss || positives != g.Positives {
		t.Errorf("loss %v of %v cells, want %v of %v", sum, positives, g.Loss, g.Positives)
	}
}

// matched runs the training function for one picture. It returns the class of each cell with an object, and
// -1 for other cells.
func matched(t *testing.T, g *simOTAGolden) (classes []int) {
	t.Helper()
	grid, err := cells.New(g.Height, g.Width)
	if err != nil {
		t.Fatal(err)
	}
	f, a := g.function(t, grid, 1), grid.Len()
	inputs := map[string]tensor.Tensor{"x": tensor.Of([]float32{1}, 1, 1)}
	for name, v := range (Loss{Of: losses.YOLOX}).BoxInputs(grid, g.labels(), g.Classes) {
		inputs[name] = v
	}
	var in []tensor.Tensor
	for _, v := range f.Inputs {
		x := inputs[f.Values[v].Name]
		wide := tensor.New(tensor.F64, x.Shape...)
		for i, v := range x.F32() {
			wide.F64()[i] = float64(v)
		}
		in = append(in, wide)
	}
	w := tensor.Of(g.Outputs[0], len(g.Outputs[0]), 1)
	out, err := ref.Eval64(f, map[string]tensor.Tensor{"w": w}, in, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(f.Outputs, func(o graph.Output) bool { return o.Name == spmd.Gradient("w") })
	grad := out[at].F64() // gradient of a logit: the probability minus the target
	if slices.ContainsFunc(grad, math.IsNaN) {
		t.Error("a gradient is NaN")
	}
	for i := range a {
		class := -1
		for c := range g.Classes {
			if grad[4*a+i] < 0 && grad[(5+c)*a+i] != 0 && (class < 0 || grad[(5+c)*a+i] < grad[(5+class)*a+i]) {
				class = c
			}
		}
		classes = append(classes, class)
	}
	return classes
}

// TestMatchInBlocks: a device assigns objects to cells as the host does. Here there are so many cells that
// the device skips some blocks of them. Predictions repeat, so that most costs occur several times.
func TestMatchInBlocks(t *testing.T) {
	for seed := range uint64(12) {
		draw := rand.New(rand.NewPCG(seed, 60))
		g := &simOTAGolden{Most: 6}
		g.Height, g.Width, g.Classes = 128, 160, 2 // 16x20, 8x10 and 4x5 cells
		grid, err := cells.New(g.Height, g.Width)
		if err != nil {
			t.Fatal(err)
		}
		var objects [][]float64
		for range draw.IntN(g.Most + 1) {
			x, y, w, h := draw.Float64()*120, draw.Float64()*90, 8+draw.Float64()*60, 8+draw.Float64()*60
			objects = append(objects, []float64{math.Floor(x), math.Floor(y), math.Floor(x + w), math.Floor(y + h),
				float64(draw.IntN(2))})
		}
		g.All, g.Outputs = [][][]float64{objects}, [][]float64{make([]float64, 7*grid.Len())}
		single := make([]float32, 7*grid.Len())
		for i := range single {
			single[i] = float32(draw.IntN(3)) * 0.5
			g.Outputs[0][i] = float64(single[i])
		}
		owner, _ := grid.Match(single, objectsOf(g.labels().I32()), g.Most)
		for i, class := range matched(t, g) {
			want := -1
			if owner[i] >= 0 {
				want = int(objects[owner[i]][4])
			}
			if class != want {
				t.Errorf("seed %d: cell %d has class %d, want %d", seed, i, class, want)
			}
		}
	}
}

// TestMatchOfVanishingBoxes: if the sides of a predicted box are so small that they are rounded to 0, the box
// overlaps no object. The pictures have different numbers of objects.
func TestMatchOfVanishingBoxes(t *testing.T) {
	g := &simOTAGolden{Most: 4}
	g.Height, g.Width, g.Classes = 64, 64, 2
	grid, err := cells.New(g.Height, g.Width)
	if err != nil {
		t.Fatal(err)
	}
	for _, objects := range [][][]float64{{{10, 10, 30, 40, 1}}, {{10, 10, 30, 40, 1}, {35, 4, 60, 20, 0}}, {}} {
		a := grid.Len()
		g.All, g.Outputs = [][][]float64{objects}, [][]float64{make([]float64, 7*a)}
		single := make([]float32, 7*a)
		for i := range a {
			for _, side := range []int{2, 3} {
				single[side*a+i], g.Outputs[0][side*a+i] = -60, -60
			}
		}
		owner, _ := grid.Match(single, objectsOf(g.labels().I32()), g.Most)
		for i, class := range matched(t, g) {
			if has, want := class >= 0, owner[i] >= 0; has != want { // without an overlap, no class is a target
				t.Errorf("%d objects: cell %d has an object: %t, want %t", len(objects), i, has, want)
			}
		}
	}
}

// TestMatchTies: if several cells have equal costs for an object, the first cell is chosen. If several
// objects have equal costs in a cell, the first object is chosen.
func TestMatchTies(t *testing.T) {
	grid, err := cells.New(32, 64)
	if err != nil {
		t.Fatal(err)
	}
	a := grid.Len() // 4x8, 2x4 and 1x2 cells
	for name, c := range map[string]struct {
		objects [][]float64
		far     bool  // cells 9 and 18 predict one box, with an overlap of 0.7; others a distant box
		want    []int // cells of the first object
	}{
		"cells":   {[][]float64{{10, 10, 20, 17, 1}}, true, []int{9}},
		"objects": {[][]float64{{8, 8, 24, 24, 1}, {8, 8, 24, 24, 0}}, false, nil},
	} {
		g := &simOTAGolden{Most: 2}
		g.Height, g.Width, g.Classes, g.All = 32, 64, 2, [][][]float64{c.objects}
		rows := make([]float64, 7*a)
		if c.far {
			for i := range a {
				rows[i] = 1000
			}
			for _, cell := range [][3]int{{9, 1, 1}, {18, 2, 2}} { // the box 10,10 - 20,20
				i := cell[0]
				rows[i], rows[a+i] = 15./8-float64(cell[1]), 15./8-float64(cell[2])
				rows[2*a+i], rows[3*a+i] = math.Log(10./8), math.Log(10./8)
			}
		}
		g.Outputs = [][]float64{rows}
		device := matched(t, g)
		single := make([]float32, len(rows))
		for i, v := range rows {
			single[i] = float32(v)
		}
		owner, _ := grid.Match(single, objectsOf(g.labels().I32()), 2)
		for i := range a {
			want := -1
			if owner[i] >= 0 {
				want = int(c.objects[owner[i]][4])
			}
			if device[i] != want || c.want != nil && (owner[i] == 0) != slices.Contains(c.want, i) || owner[i] > 0 {
				t.Errorf("%s: cell %d has object %d, and on a device class %d", name, i, owner[i], device[i])
			}
		}
		if !slices.Contains(owner, 0) {
			t.Errorf("%s: no cell has the object", name)
		}
	}
}
