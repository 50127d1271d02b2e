package evaluation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// minedCase is a picture with objects, and some logits of the background. All other logits are 0.
type minedCase struct {
	name       string
	objects    [][]float64
	background func(slot int) float64
}

// The loss of SSD includes only the background slots with the largest losses, three times as many as there
// are slots with an object. Of slots with equal losses it includes the first ones. The cases include pictures
// without objects, and pictures with few background slots.
func TestMiningHasDefinedTies(t *testing.T) {
	const classes = 3
	draw := rand.New(rand.NewPCG(3, 4))
	some := [][]float64{{2, 3, 30, 28, 0}, {8, 4, 20, 25, 2}}
	var everywhere [][]float64
	for i := range 40 {
		x, y := float64(i%8*4), float64(i/8*6)
		everywhere = append(everywhere, []float64{x, y, min(32, x+8), min(32, y+9), float64(i % classes)})
	}
	all := []minedCase{
		{"all equal", some, func(int) float64 { return 0 }},
		{"three values", some, func(int) float64 { return float64(draw.IntN(3)) }},
		{"tiny losses", some, func(slot int) float64 { return 30 + float64(slot%5) }},
		{"large losses", some, func(slot int) float64 { return -3e4 * float64(1+slot%3) }},
		{"random", some, func(int) float64 { return 4 * draw.NormFloat64() }},
		{"no objects", nil, func(int) float64 { return 1 }},
		{"few slots of background", everywhere, func(slot int) float64 { return float64(slot % 2) }},
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) { c.check(t, classes) })
	}
}

func (c *minedCase) check(t *testing.T, classes int) {
	slots, err := anchors.New(graph.SSDForm, 32, 32)
	if err != nil {
		t.Fatal(err)
	}
	n := slots.Len()
	g := &detectionGolden{Form: graph.SSDForm, Height: 32, Width: 32, Classes: classes,
		All: [][][]float64{c.objects}, Assigned: [][]int{make([]int, n)},
		Outputs: [][]float64{make([]float64, (5+classes)*n)}}
	logits := make([]float64, n)
	for i := range n {
		logits[i] = c.background(i)
		g.Outputs[0][4*n+i] = logits[i]
	}
	labels := g.labels()
	if c.objects == nil {
		labels = tensor.New(tensor.I32, 1, 1, data.BoxFields)
		data.Box{Class: data.NoBox}.Put(labels.I32())
	}
	owner := slots.(*anchors.Grid).Assign(objectsOf(labels.I32()))
	positives, order := 0, []int(nil)
	for i, k := range owner {
		if k >= 0 {
			positives++
		} else {
			order = append(order, i)
		}
	}
	loss := func(i int) float32 { // loss of a background slot, rounded as devices round it
		return max(float32(math.Log(math.Exp(-logits[i])*float64(classes)+1)), 0x1p-32)
	}
	if c.name == "large losses" {
		loss = func(i int) float32 { return float32(-logits[i]) }
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := loss(a), loss(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	hard := order[:min(len(order), 3*positives)]
	l := Loss{Of: losses.Boxes}
	gradient, sum := g.gradient(t, l, slots, labels)
	for i := range n {
		moved := gradient[4*n+i] != 0 || gradient[5*n+i] != 0
		if want := owner[i] >= 0 || slices.Contains(hard, i); moved != want && !(want && logits[i] > 29) {
			t.Errorf("slot %d (object %d, logit %v): has a loss %v, want %v", i, owner[i], logits[i], moved, want)
		}
	}
	host, _ := l.BoxLosses(slots, g.scores(0), labels)
	if math.Abs(sum-host) > 1e-6*max(1, host) {
		t.Errorf("loss %v, of validation %v", sum, host)
	}
}

// gradient returns the gradient of the output for one picture, and the sum of the losses.
func (g *detectionGolden) gradient(t *testing.T, l Loss, slots cells.Slots, labels tensor.Tensor) (
	all []float64, sum float64) {
	t.Helper()
	f := g.function(t)
	inputs := map[string]tensor.Tensor{"x": tensor.New(tensor.F64, 1, 1),
		losses.InputInverse: tensor.Scalar(1.)}
	inputs["x"].F64()[0] = 1
	for name, v := range l.BoxInputs(slots, labels, g.Classes) {
		inputs[name] = tensor.New(tensor.F64, v.Shape...)
		for i, x := range v.F32() {
			inputs[name].F64()[i] = float64(x)
		}
	}
	var in []tensor.Tensor
	for _, v := range f.Inputs {
		in = append(in, inputs[f.Values[v].Name])
	}
	out, err := ref.Eval64(f, map[string]tensor.Tensor{"w": tensor.Of(g.Outputs[0], len(g.Outputs[0]), 1)}, in,
		[]int{1})
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) []float64 {
		return out[slices.IndexFunc(f.Outputs, func(o graph.Output) bool { return o.Name == name })].F64()
	}
	moments := of(spmd.OutputLoss)
	for _, mean := range moments[1:][:len(moments)/2] {
		sum += moments[0] * mean
	}
	return of(spmd.Gradient("w")), sum
}
