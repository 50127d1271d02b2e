package quantize

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// Histograms count numbers that cannot be represented in bytes, but their ranges have no
// scale.
func TestRangesOfNoScale(t *testing.T) {
	for _, x := range [][]float32{{-3e38, 3e38}, {1e-44, 3e-44}, {-1e-38, 1e-38}, {0, 1e-30}, {3e38, 3e38}} {
		h := newHistogram(1)
		v := tensor.New(tensor.F32, 2, 1)
		copy(v.F32(), x)
		if err := h.reach(v); err != nil {
			t.Fatal(err)
		}
		if err := h.fill(v); err != nil {
			t.Fatal(err)
		}
		for _, method := range methods() {
			if s, err := h.rangeBy(method).scaleOf(); err == nil {
				t.Errorf("%v by %s has the scale %v", x, method, s)
			}
		}
	}
}

// A value that is moved before it becomes bytes has the range of its source. Examples are a
// pool after a layer that stays float32, and the model's input if it consists of numbers,
// not pictures.
func TestMovedBeforeTheyAreBytes(t *testing.T) {
	_, path := made(t, "lenet-bn")
	o := Options{Input: path, Output: filepath.Join(t.TempDir(), "q.bnm"), Source: "glyphs:16", Samples: 12,
		Batch: 6, Keep: []string{"conv1"}, Fleet: fleet.Options{Devices: "cpu"}}
	if r, err := File(context.Background(), o); err != nil || !r.Layers[0].Float || r.Layers[1].Float {
		t.Errorf("%v, want conv1 float32 and conv2 bytes", err)
	}
	o.Keep = []string{"*"}
	_, err := File(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "no layer becomes") {
		t.Errorf("all kept: %v", err)
	}
}

// numbers returns a model with an input of numbers, not of pictures. Its convolution has a
// second reader besides its batch norm.
func numbers(t *testing.T) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "numbers"

state c.weight f32[4,3,3,3] weight he_normal(0)
state b.weight f32[4] gamma ones
state b.bias f32[4] beta zeros
state b.running_mean f32[4] mean zeros
state b.running_var f32[4] variance ones
state fc.weight f32[2,64] weight he_normal(0)

func main(x rows f32[3,5,5]) {
  p = max_pool(x, kernel=[2,2], stride=[1,1])
  c = conv(p, @c.weight, pad=[1,1,1,1])
  b = batch_norm(c, @b.weight, @b.bias, @b.running_mean, @b.running_var)
  s = add(c, b)
  flat = reshape(s, shape=[64])
  fc = dense(flat, @fc.weight)
  return logits rows = fc
}
`))
	m := &models.Model{Architecture: "numbers", Graph: g}
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// For a model with an input of numbers, not of pictures, the range of the input is
// measured.
func TestInputOfNumbers(t *testing.T) {
	dir := t.TempDir()
	path, x, y := filepath.Join(dir, "m.bnm"), tensor.New(tensor.F32, 6, 3, 5, 5), tensor.New(tensor.I32, 6)
	for i := range x.F32() {
		x.F32()[i] = float32(i%17) - 8
	}
	_, err := serialize.WriteModel(path, numbers(t))
	for name, a := range map[string]tensor.Tensor{"x.npy": x, "y.npy": y} {
		var b bytes.Buffer
		err = errors.Join(err, data.WriteNPY(&b, a), os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Input: path, Output: filepath.Join(dir, "q.bnm"), Samples: 6, Batch: 6,
		Source: "npy:" + filepath.Join(dir, "x.npy") + "," + filepath.Join(dir, "y.npy"), Method: minMax}
	r, err := File(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Model.Graph.Main.Nodes {
		if n.Op == graph.Quantize && float32(n.Float("scale")) == float32(16.0/255) && n.Int("zero") == 127 {
			return // -8 to 8 in 255 steps: 8/step is below 127.5, because 16/255 is rounded up in float32
		}
	}
	t.Errorf("no node lays the input on steps of 16/255: %v", r.Model.Graph.Main.Nodes)
}

// The range of a padded value includes the number used for padding. It is known if the
// range of the operand is.
func TestPaddedWithANumber(t *testing.T) {
	m := numbers(t)
	text := strings.Replace(string(m.Graph.Text()), "p = max_pool(x, kernel=[2,2])",
		"q = max_pool(x, kernel=[3,3])\n  p = pad(q, before=[0,0,0], after=[0,1,1], value=11)", 1)
	g, err := graph.ParseGraph([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m.Graph = g
	p, err := prepare(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := p.Graph.Main.Inputs[0]
	k := knowledge{ranges: map[graph.Value]Range{x: {-8, 8}}, channels: map[graph.Value][]moments{}}
	p.spread(&k)
	for v, want := range map[string]Range{"q": {-8, 8}, "p": {-8, 11}} {
		i := slices.IndexFunc(p.Graph.Main.Values, func(t graph.Variable) bool { return t.Name == v })
		if got := k.ranges[graph.Value(i)]; got != want {
			t.Errorf("%s has %v, want %v", v, got, want)
		}
	}
	pad := graph.Node{Op: graph.Pad, Attrs: graph.Attrs{}.With("before", []int{0, 1, 1}).
		With("after", []int{0, 0, 0}).With("value", 11.0)}
	known := []moments{{mean: 1, variance: 1, bounds: Range{0, 6}}}
	if got := picked(&pad, known); got != nil {
		t.Errorf("without samples a map that is padded with 11 has %v, want nothing known of it", got)
	}
	pad.Attrs = pad.Attrs.With("value", 0.0)
	if got := picked(&pad, known); !slices.Equal(got, known) {
		t.Errorf("a map that is padded with 0 has %v, want %v", got, known)
	}
}
