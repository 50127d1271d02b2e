package quantize

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// set sets all numbers of a state tensor.
func set(t *testing.T, m *models.Model, name string, v float64) {
	t.Helper()
	x, ok := m.State[name]
	if !ok {
		t.Fatalf("no state %s", name)
	}
	for i := range x.F32() {
		x.F32()[i] = float32(v)
	}
}

// A model with values that cannot be represented in bytes is refused. The error names the
// layer and the remedy.
func TestNumbersOfNoBytes(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		state string
		v     float64
		want  string
	}{
		{"bn1.weight", nan, "bn1.weight of channel 0 is NaN"},
		{"bn1.weight", inf, "bn1.weight of channel 0 is +Inf"}, {"bn1.bias", nan, "bn1.bias of channel 0 is NaN"},
		{"bn1.bias", inf, "bn1.bias of channel 0 is +Inf"}, {"bn1.running_mean", nan, "bn1.running_mean of channel 0 is NaN"},
		{"bn1.running_var", nan, "channel 0 is NaN"}, {"bn1.running_var", -1, "channel 0 is -1"},
		{"conv1.weight", nan, "weight is NaN"}, {"bn1.weight", 1e-44, "float32 with keep"},
		{"bn1.weight", 1e30, "float32 with keep"},
	} {
		m, _ := made(t, "lenet-bn")
		set(t, m, c.state, c.v)
		p, err := prepare(m, nil)
		if err == nil {
			_, err = p.byNorms()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %g: %v, want %q", c.state, c.v, err, c.want)
		}
	}
}

// Channels with only zeros (dead channels), and a feature map of such channels, are
// accepted: they are 0 in bytes as well.
func TestDeadChannels(t *testing.T) {
	m, _ := made(t, "lenet-bn")
	m.State["bn1.weight"].F32()[2], m.State["bn1.bias"].F32()[2] = 0, -1
	for i := range m.State["bn2.weight"].F32() {
		m.State["bn2.weight"].F32()[i] = 0
	}
	p, err := prepare(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.byNorms()
	if err != nil {
		t.Fatal(err)
	}
	if noise := noiseOf(t, m, b); !(noise < 0.01) {
		t.Errorf("noise of %g", noise)
	}
}

// A sum that could exceed 32 bits stays float32, and the report gives the reason.
func TestLongSums(t *testing.T) {
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "long"

state c.weight f32[4,3,3,3] weight he_normal(0)
state b.weight f32[4] gamma ones
state b.bias f32[4] beta zeros
state b.running_mean f32[4] mean zeros
state b.running_var f32[4] variance ones
state fc.weight f32[2,40000] weight he_normal(0)

func main(pixels rows u8[100,100,3]) {
  x = image(pixels)
  c = conv(x, @c.weight, pad=[1,1,1,1])
  b = batch_norm(c, @b.weight, @b.bias, @b.running_mean, @b.running_var)
  r = relu(b)
  flat = reshape(r, shape=[40000])
  fc = dense(flat, @fc.weight)
  return logits rows = fc
}
`))
	m := &models.Model{Architecture: "long", Graph: g}
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := prepare(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.byNorms()
	if err != nil {
		t.Fatal(err)
	}
	if l := b.layers[1]; !l.Float || l.Why != "its sums have 40000 products, more than 32896 could leave 32 bits" {
		t.Errorf("%+v", l)
	}
}

// Samples of another shape than the model's input are refused.
func TestSamplesOfAnotherShape(t *testing.T) {
	dir := t.TempDir()
	path, x, y := filepath.Join(dir, "m.bnm"), tensor.New(tensor.F32, 6, 3, 7, 7), tensor.New(tensor.I32, 6)
	if _, err := serialize.WriteModel(path, numbers(t)); err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]tensor.Tensor{"x.npy": x, "y.npy": y} {
		var b bytes.Buffer
		if err := data.WriteNPY(&b, a); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Input: path, Output: filepath.Join(dir, "q.bnm"), Samples: 6, Batch: 6,
		Source: "npy:" + filepath.Join(dir, "x.npy") + "," + filepath.Join(dir, "y.npy")}
	_, err := File(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "7") || !strings.Contains(err.Error(), "5") {
		t.Errorf("samples of 7x7 for a model of 5x5: %v", err)
	}
	if _, err := os.Stat(o.Output); err == nil {
		t.Error("a template was written")
	}
}
