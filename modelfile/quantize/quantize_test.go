package quantize

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// The devices of these tests are processes of this program.
func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) {
		return
	}
	os.Exit(m.Run())
}

// made returns a model of the zoo with random weights, and its file.
func made(t *testing.T, name string) (*models.Model, string) {
	t.Helper()
	m, err := models.Build(name, models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	path := filepath.Join(t.TempDir(), "model.bnm")
	if err == nil {
		_, err = serialize.WriteModel(path, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m, path
}

// The weights of a layer are computed by hand: the steps of channel 0 are 0.02, the steps
// of channel 1 are 0.01. Rounding subtracts 0.006 from weight 0.306 of channel 0, so the
// bias adds 0.006*3, where 3 is the mean of that input.
func TestWeights(t *testing.T) {
	w := tensor.New(tensor.F32, 2, 2)
	copy(w.F32(), []float32{-2.54, 0.306, 1.27, 0.005})
	x := layerInput{scale: scale{0.5, 3}, channels: []moments{{}, {mean: 3}}}
	q, err := quantizeWeights(w, []float32{1, -2}, 1, x, byteMap{scale: scale{factor: 0.25}})
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.View[int8](q.weight); got[0] != -127 || got[1] != 15 || got[2] != 127 || got[3] != 0 {
		t.Errorf("weights %v, want -127, 15, 127 and 0", got) // 15.3, and 0.5 to the even number
	}
	if got := q.bias.I32(); got[0] != 102 || got[1] != -397 { // 1.018/0.01 = 101.8, -1.985/0.005 = -397
		t.Errorf("bias %v, want 102 and -397", got)
	}
	if got := q.factor.F32(); math.Abs(float64(got[0])-0.04) > 1e-8 || math.Abs(float64(got[1])-0.02) > 1e-8 {
		t.Errorf("by %v, want 0.04 and 0.02", got)
	}
}

// A dead channel, and a channel with tiny weights and a large bias, have a scale that can
// hold the bias.
func TestWeightsThatAreNothing(t *testing.T) {
	w := tensor.New(tensor.F32, 2, 1)
	w.F32()[1] = 1e-30
	x, y := layerInput{scale: scale{factor: 0.1}}, byteMap{scale: scale{factor: 0.05}}
	q, err := quantizeWeights(w, []float32{7, -5}, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	for o, want := range []float64{7, -5} {
		if got := float64(q.bias.I32()[o]) * float64(q.factor.F32()[o]) * 0.05; math.Abs(got-want) > 1e-6 {
			t.Errorf("channel %d begins with %g, want %g", o, got, want)
		}
	}
	w.F32()[0] = float32(math.NaN())
	if _, err := quantizeWeights(w, nil, 1, x, y); err == nil ||
		!strings.Contains(err.Error(), "channel 0: a weight is NaN") {
		t.Errorf("a weight that is NaN: %v", err)
	}
}

func TestScales(t *testing.T) {
	for _, c := range []struct {
		r    Range
		want scale
	}{
		{Range{0, 2.55}, scale{float32(2.55 / 255), 0}}, {Range{1, 2.55}, scale{float32(2.55 / 255), 0}},
		{Range{-1, 1}, scale{float32(2.0 / 255), 127}}, {Range{-5.1, -1}, scale{float32(5.1 / 255), 255}},
		{Range{0, 0}, scale{1, 0}},
	} {
		if got, err := c.r.scaleOf(); err != nil || got != c.want {
			t.Errorf("%v: %v, %v, want %v", c.r, got, err, c.want)
		}
	}
	for _, r := range []Range{{0, math.Inf(1)}, {math.NaN(), 1}, {0, 1e-40}, {0, 1e30}} {
		if _, err := r.scaleOf(); err == nil {
			t.Errorf("%v has a scale", r)
		}
	}
}

// The relu of a standard normal distribution has the mean 1/sqrt(2 pi) and the second
// moment 1/2.
func TestMoments(t *testing.T) {
	relu := func(x float64) float64 { return max(x, 0) }
	m := moments{0, 1, unbounded}.transformed(relu, Range{0, math.Inf(1)})
	if math.Abs(m.mean-1/math.Sqrt(2*math.Pi)) > 1e-3 || math.Abs(m.variance-(0.5-1/(2*math.Pi))) > 1e-3 {
		t.Errorf("moments %v, want %v and %v", m, 1/math.Sqrt(2*math.Pi), 0.5-1/(2*math.Pi))
	}
	if r := m.rangeWithin(6); r.Low != 0 || math.Abs(r.High-(m.mean+6*math.Sqrt(m.variance))) > 1e-9 {
		t.Errorf("range %v", r)
	}
}

// Every network of the zoo with batch norms in the usual places becomes bytes without data.
func TestZoo(t *testing.T) {
	for _, name := range []string{"lenet-bn", "mlp-bn", "resnet20", "mobilenetv2", "efficientnet-b0",
		"mobilenetv3-small", "shufflenet-v2-x1-0", "googlenet"} {
		m, err := models.Build(name, models.Options{})
		if err == nil {
			err = models.Init(m, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := prepare(m, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := p.byNorms()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range b.Graph.Main.Nodes {
			n := &b.Graph.Main.Nodes[i]
			if moves := n.Op == graph.Image || onlyMoves(n.Op); !n.Op.Int8() && !moves {
				t.Errorf("%s: %s is %v", name, b.Graph.Main.NodeName(n), n.Op)
			}
		}
	}
}

// Ranges are measured on samples. The template predicts the same on devices of two classes,
// and records its source model.
func TestFile(t *testing.T) {
	_, path := made(t, "lenet-bn")
	ctx, out := context.Background(), filepath.Join(t.TempDir(), "q.bnm")
	o := Options{Input: path, Output: out, Source: "glyphs:64", Samples: 12, Batch: 6,
		Fleet: fleet.Options{Devices: "cpu", Kernels: "fma"}}
	r, err := File(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Samples != 12 || r.Model.Quantised.Samples != 12 || len(r.Layers) != 4 {
		t.Errorf("%d samples, %d in the template, %d layers", r.Samples, r.Model.Quantised.Samples, len(r.Layers))
	}
	for _, l := range r.Layers[:len(r.Layers)-1] {
		if l.Noise < 25 {
			t.Errorf("%s: signal to noise %.1f dB", l.Name, l.Noise)
		}
	}
	again := o
	again.Output, again.Fleet = filepath.Join(t.TempDir(), "q.bnm"), fleet.Options{Devices: "2xcpu", Threads: 1}
	if s, err := File(ctx, again); err != nil || s.SHA256 != r.SHA256 {
		t.Errorf("on two devices: %v, another template", err)
	}
	m, err := serialize.ReadModel(out)
	if err != nil {
		t.Fatal(err)
	}
	x, err := models.RandomInput(m, 3)
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, d := range []string{"cpu", "ref"} {
		y, err := predict.Runner(ctx, fleet.Options{Devices: d})(m, x)
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && string(want) != string(y[0].Bytes) {
			t.Errorf("%s gives other logits", d)
		}
		want = y[0].Bytes
	}
	if err := m.Trainable("init", "q.bnm"); err == nil || !strings.Contains(err.Error(), "int8 template") ||
		!strings.Contains(err.Error(), m.Quantised.From) {
		t.Errorf("training: %v", err)
	}
}

func TestRefused(t *testing.T) {
	m, _ := made(t, "lenet-bn")
	p, err := prepare(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.byNorms()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepare(b.Model, nil); err == nil || !strings.Contains(err.Error(), "int8 already") {
		t.Errorf("an int8 template: %v", err)
	}
	if _, err := prepare(m, []string{"conv9"}); err == nil ||
		!strings.Contains(err.Error(), "no node has such a name") {
		t.Errorf("a layer that is not there: %v", err)
	}
	if p, err = prepare(m, []string{"conv*"}); err == nil {
		b, err = p.byNorms()
	}
	if err != nil || !b.layers[0].Float || b.layers[len(b.layers)-1].Float {
		t.Errorf("kept: %v, %v", b.layers, err)
	}
}

// Keys of --json are lower case, including the keys of a range.
func TestLayerAsJSON(t *testing.T) {
	b, err := json.Marshal(Layer{Name: "conv1", Range: &Range{Low: -1, High: 2.5}})
	if err != nil || !strings.Contains(string(b), `"range":{"low":-1,"high":2.5}`) {
		t.Errorf("%s, %v", b, err)
	}
}
