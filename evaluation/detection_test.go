package evaluation

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// detectionGolden is an element of testdata/torch_detection.json, which torch_detection.py writes with
// torchvision in float64.
type detectionGolden struct {
	Form                   graph.BoxForm
	Height, Width, Classes int
	Anchors                []float64
	Outputs                [][]float64   // [pictures][rows * slots]
	All                    [][][]float64 `json:"objects"` // [pictures][objects]: corners in pixels, class
	Assigned               [][]int       // [pictures][slots]: the index of an object, or a negative number
	Positives, Loss        float64
	Gradients              [][]float64
	Found                  [][][]float64 // [pictures][boxes]: corners, score, class
}

// eachDetectionGolden calls check for the golden results of each form of detector.
func eachDetectionGolden(t *testing.T, check func(t *testing.T, g *detectionGolden, slots cells.Slots)) {
	b, err := os.ReadFile("testdata/torch_detection.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []detectionGolden
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, g := range all {
		t.Run(string(g.Form), func(t *testing.T) {
			slots, err := anchors.New(g.Form, g.Height, g.Width)
			if err != nil {
				t.Fatal(err)
			}
			if len(g.Assigned[0]) != slots.Len() {
				t.Fatalf("%d slots, want %d", slots.Len(), len(g.Assigned[0]))
			}
			check(t, &g, slots)
		})
	}
}

// rows returns the number of rows of an output.
func (g *detectionGolden) rows() int { return len(g.Outputs[0]) / len(g.Assigned[0]) }

// scores returns the model's output for a picture.
func (g *detectionGolden) scores(picture int) tensor.Tensor {
	all := tensor.New(tensor.F32, 1, g.rows(), len(g.Assigned[0]))
	for i, v := range g.Outputs[picture] {
		all.F32()[i] = float32(v)
	}
	return all
}

// labels returns the objects of all pictures as labels.
func (g *detectionGolden) labels() tensor.Tensor {
	most := 0
	for _, objects := range g.All {
		most = max(most, len(objects))
	}
	all := tensor.New(tensor.I32, len(g.All), most, data.BoxFields)
	for n, objects := range g.All {
		for k := range most {
			box := data.Box{Class: data.NoBox}
			if k < len(objects) {
				box.Class = int32(objects[k][4])
				for i := range 4 {
					box.Corners[i] = float32(objects[k][i])
				}
			}
			box.Put(all.Rows(n, n+1).I32()[k*data.BoxFields:])
		}
	}
	return all
}

// TestAnchorsAsTorchvision: the anchors, the assignment of objects to anchors, and the predicted boxes equal
// torchvision's.
func TestAnchorsAsTorchvision(t *testing.T) {
	eachDetectionGolden(t, func(t *testing.T, g *detectionGolden, slots cells.Slots) {
		grid, labels := slots.(*anchors.Grid), g.labels()
		for i, want := range g.Anchors {
			if got := float64(grid.Anchor(i / 4)[i%4]); math.Abs(got-want) > 1e-4 {
				t.Fatalf("anchor %d has corner %d at %v, want %v", i/4, i%4, got, want)
			}
		}
		for n, want := range g.Assigned {
			if got := grid.Assign(objectsOf(labels.Rows(n, n+1).I32())); !slices.Equal(got, want) {
				t.Errorf("picture %d: objects %v, want %v", n, got, want)
			}
			found := slots.Detections(g.scores(n).F32(), authors[g.Form])
			if len(found) != len(g.Found[n]) {
				t.Fatalf("picture %d: %d boxes, want %d", n, len(found), len(g.Found[n]))
			}
			left := slices.Clone(g.Found[n])
			for k, f := range found { // torchvision does not define the order of equal scores
				at := slices.IndexFunc(left, func(want []float64) bool {
					return f.Class == int(want[5]) && near(append(slices.Clone(f.Corners[:]), f.Score), want)
				})
				if at < 0 || left[at][4] < left[0][4]-1e-6 {
					t.Fatalf("picture %d: box %d is %v, want %v", n, k, f, left[0])
				}
				left = slices.Delete(left, at, at+1)
			}
		}
	})
}

// near reports whether the first numbers of want equal got, except for rounding.
func near(got []float32, want []float64) bool {
	for i, v := range got {
		if math.Abs(float64(v)-want[i]) > 1e-4 {
			return false
		}
	}
	return true
}

// authors are the default options of torchvision's detectors.
var authors = map[graph.BoxForm]cells.Options{graph.FCOSForm: {Score: 0.2, Overlap: 0.6, Most: 100},
	graph.RetinaNetForm:   {Score: 0.05, Overlap: 0.5, Most: 300},
	graph.RetinaNetV2Form: {Score: 0.05, Overlap: 0.5, Most: 300},
	graph.SSDForm:         {Score: 0.001, Overlap: 0.55, Most: 300}}

// TestDetectionLossAsTorchvision: the training function, on two replicas, computes the loss and the gradients
// of torchvision. Validation computes the same loss.
func TestDetectionLossAsTorchvision(t *testing.T) {
	eachDetectionGolden(t, func(t *testing.T, g *detectionGolden, slots cells.Slots) {
		l := Loss{Of: losses.Boxes}
		sum, positives := 0.0, 0.0
		for n := range g.Outputs {
			loss, found := l.BoxLosses(slots, g.scores(n), g.labels().Rows(n, n+1))
			sum, positives = sum+loss, positives+found
		}
		if positives != g.Positives || math.Abs(sum/positives-g.Loss) > 1e-6*g.Loss {
			t.Errorf("validation has the loss %v for %v slots, want %v for %v", sum/positives, positives, g.Loss,
				g.Positives)
		}
		n, size := len(g.Outputs), len(g.Outputs[0])
		f := g.function(t)
		inputs := map[string]tensor.Tensor{"x": tensor.New(tensor.F64, n, n),
			losses.InputInverse: tensor.Scalar(1 / g.Positives)}
		for name, v := range l.BoxInputs(slots, g.labels(), g.Classes) {
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
		out, err := ref.Eval64(f, map[string]tensor.Tensor{"w": w}, in, []int{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		of := func(name string) []float64 {
			return out[slices.IndexFunc(f.Outputs, func(o graph.Output) bool { return o.Name == name })].F64()
		}
		moments, loss := of(spmd.OutputLoss), 0.0 // a count, and then one mean for each row of elements
		for _, mean := range moments[1:][:len(moments)/2] {
			loss += moments[0] * mean / g.Positives
		}
		if math.Abs(loss-g.Loss) > 1e-6*g.Loss {
			t.Errorf("loss %v, want %v", loss, g.Loss)
		}
		largest := 0.0
		for k, got := range of(spmd.Gradient("w")) {
			want := g.Gradients[k%n][k/n]
			largest = max(largest, math.Abs(got-want)/max(1e-4, math.Abs(want)))
		}
		if !(largest < 1e-5) {
			t.Errorf("gradients differ by %g", largest)
		}
	})
}

// function returns the training function of a dense layer. The outputs are the columns of its weight, so that
// the gradients of the outputs are the columns of the weight's gradient.
func (g *detectionGolden) function(t *testing.T) *graph.Function {
	t.Helper()
	n, rows, a := len(g.Outputs), g.rows(), len(g.Assigned[0])
	net, err := graph.ParseGraph(fmt.Appendf(nil, `bnctl graph 1
graph "boxes"

state w f32[%d,%d] weight he_normal(0)

func main(x rows f32[%d]) {
  y = dense(x, @w)
  z = reshape(y, shape=[%d,%d])
  return %s rows = z
}
`, rows*a, n, n, rows, a, g.Form))
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := spmd.Wrap(net, spmd.Options{Replicas: len(g.Outputs), BN: bn.Sync})
	if err != nil {
		t.Fatal(err)
	}
	boxes := losses.Loss{Of: losses.Boxes}
	f, err := spmd.TrainFunction(wrapped, spmd.Training{Loss: boxes, Trained: []string{"w"}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
