package formats

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// modelOf returns a model without weights. text is the text of its graph without the first
// two lines.
func modelOf(t *testing.T, text string) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte("bnctl graph 1\ngraph \"tiny\"\n\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return &models.Model{Architecture: "tiny", Graph: g}
}

const oneLayer = `state fc.weight f32[2,3] weight he_normal(0)
state fc.bias f32[2] bias zeros

func main(x rows f32[3]) {
  fc = dense(x, @fc.weight, @fc.bias)
  return logits rows = fc
}
`

// ones returns tensors of ones with names and shapes given as "name:2,3".
func ones(names ...string) []Tensor {
	var out []Tensor
	for _, n := range names {
		name, dims, _ := strings.Cut(n, ":")
		var shape []int
		for d := range strings.SplitSeq(dims, ",") {
			var size int
			if _, err := fmt.Sscan(d, &size); err == nil {
				shape = append(shape, size)
			}
		}
		out = append(out, InMemory(name, filled(shape, 1)))
	}
	return out
}

// TestApply applies the tensors of a file to a model: by name and shape, without prefixes
// that all names share, and without tensors that clearly belong to no layer.
func TestApply(t *testing.T) {
	const fits = "the file does not fit model tiny: "
	for _, c := range []struct{ tensors, left, err string }{
		{"fc.weight:2,3 fc.bias:2", "", ""},
		{"fc.weight:2,3 fc.bias:2 fc.num_batches_tracked: num_batches_tracked:", "", ""},
		{"m.fc.weight:2,3 m.fc.bias:2", "", ""},
		{"a.b.c.fc.weight:2,3 a.b.c.fc.bias:2", "", ""},
		{"a.b.c.d.fc.weight:2,3 a.b.c.d.fc.bias:2", "", fits + "0 tensors fit; 2 tensors fit nothing " +
			"(a.b.c.d.fc.weight f32[2,3], a.b.c.d.fc.bias f32[2]); " +
			"2 parameters got none (fc.bias f32[2], fc.weight f32[2,3])"},
		{"fc.weight:2,3", "", fits + "1 tensor fits; 1 parameter got none (fc.bias f32[2])"},
		{"fc.weight:2,3 fc.bias:3", "", fits + "1 tensor fits; 1 tensor fits nothing (fc.bias f32[3]); " +
			"1 parameter got none (fc.bias f32[2])"},
		{"fc.weight:2,3 fc.bias:2 extra.weight:1", "", fits + "2 tensors fit; 1 tensor fits nothing " +
			"(extra.weight f32[1]); if no layer needs them, leave them out: drop 'extra.weight'"},
		{"fc.weight:2,3 fc.bias:2 criterion.weight:4", "criterion.weight", ""},
		{"criterion.weight:4 fc.weight:2,3", "", fits + "1 tensor fits; 1 tensor fits nothing " +
			"(criterion.weight f32[4]); 1 parameter got none (fc.bias f32[2])"},
		{"m.fc.weight:2,3 m.fc.bias:2 criterion.weight:4", "criterion.weight", ""},
	} {
		f := &File{Format: "pytorch zip", Tensors: ones(strings.Fields(c.tensors)...)}
		m, err := apply(f, modelOf(t, oneLayer))
		if fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("%s: error %v\nwant %s", c.tensors, err, c.err)
		}
		if err != nil {
			continue
		}
		if len(m.State) != 2 || m.State["fc.weight"].F32()[5] != 1 || len(m.State["fc.bias"].Shape) != 1 {
			t.Errorf("%s: state %v", c.tensors, m.State)
		}
		left := ""
		for _, g := range f.Left {
			left += g.Name
		}
		if left != c.left {
			t.Errorf("%s: left out %q, want %q", c.tensors, left, c.left)
		}
	}
}

// TestApplyOfWhatCannotBeRead checks that an unreadable tensor makes apply return an error.
func TestApplyOfWhatCannotBeRead(t *testing.T) {
	bad, err := NewTensor("fc.bias", tensor.F32, []int{2}, func([]byte) error { return errors.New("torn") })
	if err != nil {
		t.Fatal(err)
	}
	f := &File{Tensors: append(ones("fc.weight:2,3"), bad)}
	if m, err := apply(f, modelOf(t, oneLayer)); err == nil || !strings.Contains(err.Error(), "torn") {
		t.Errorf("%v, %v", m, err)
	}
	norm := &File{Tensors: append(ones("bn.weight:2", "bn.running_mean:2", "bn.running_var:2"),
		bad.Renamed("bn.bias"))}
	if n, err := Norms(norm); err == nil || !strings.Contains(err.Error(), "torn") {
		t.Errorf("Norms %v, %v", n, err)
	}
}

// TestApplyTurns checks that kernels of TensorFlow are transposed, and that tensors that
// are left out are recorded in the File that was passed to apply.
func TestApplyTurns(t *testing.T) {
	const conv = `state fc.kernel f32[4,3,2,1] weight he_normal(0)

func main(x rows f32[3,5,5]) {
  y = conv(x, @fc.kernel)
  return y rows = y
}
`
	f := &File{Format: "tensorflow", Tensors: ones("fc.kernel:2,1,3,4", "criterion.weight:4")}
	m, err := apply(f, modelOf(t, conv))
	if err != nil || len(f.Left) != 1 || f.Left[0].Name != "criterion.weight" {
		t.Errorf("%v, left out %v, error %v", m, f.Left, err)
	}
}

// TestCheckFlattened rejects only models that depend on the order of channels and
// positions.
func TestCheckFlattened(t *testing.T) {
	for _, c := range []struct {
		shape, nodes string
		size         int
		refused      bool
	}{
		{"2,2,2", "flat = reshape(x, shape=[8])", 8, true},
		{"2,1,2", "flat = reshape(x, shape=[4])", 4, true},
		{"1,2,2", "flat = reshape(x, shape=[4])", 4, false},
		{"2,1,1", "flat = reshape(x, shape=[2])", 2, false},
		{"2,2", "flat = reshape(x, shape=[4])", 4, false},
		{"8", "flat = relu(x)", 8, false},
		{"2,2,2", "r = relu(x)\n  flat = reshape(r, shape=[8])", 8, true},
		{"2,2,2", "r = transpose(x, perm=[1,2,0])\n  flat = reshape(r, shape=[8])", 8, false},
	} {
		m := modelOf(t, fmt.Sprintf(`state fc.weight f32[2,%d] weight he_normal(0)

func main(x rows f32[%s]) {
  %s
  fc = dense(flat, @fc.weight)
  return logits rows = fc
}
`, c.size, c.shape, c.nodes))
		if err := checkFlattened(m); (err != nil) != c.refused {
			t.Errorf("[%s] %s: %v, want it refused: %v", c.shape, c.nodes, err, c.refused)
		}
	}
	m := modelOf(t, `state fc.weight f32[2,3] weight he_normal(0)

func main(x rows f32[3]) {
  fc = dense(x, @fc.weight)
  return logits rows = fc
}
`)
	if err := checkFlattened(m); err != nil {
		t.Errorf("a dense layer of the input: %v", err)
	}
}

// TestParameters counts trained parameters, without running statistics and counters.
func TestParameters(t *testing.T) {
	f := &File{Tensors: ones("fc.weight:2,3", "bn.weight:2", "bn.bias:2", "bn.running_mean:2", "bn.running_var:2",
		"bn.num_batches_tracked:")}
	if n := Parameters(f); n != 10 {
		t.Errorf("%d parameters, want 10", n)
	}
	f.Model = modelOf(t, oneLayer)
	if n := Parameters(f); n != 8 {
		t.Errorf("%d parameters of the model, want 8", n)
	}
}

// TestSuspectTensors checks that a kept tensor is reported as suspect if its name does not
// look like the name of a layer's tensor.
func TestSuspectTensors(t *testing.T) {
	f := &File{Tensors: ones("fc.weight:2,3", "criterion.weight:4")}
	if got := SuspectTensors(f); len(got) != 1 || got[0] != "criterion.weight" {
		t.Errorf("%v", got)
	}
}

// TestCompleteValues replaces unfitting statistics by mean 0 and variance 1.
func TestCompleteValues(t *testing.T) {
	f := &File{Tensors: ones("bn.running_mean:3", "bn.weight:2", "bn.bias:2")}
	made := Complete(f, nil)
	if got := strings.Join(made, " "); got != "bn.running_mean bn.running_var" || len(f.Tensors) != 4 {
		t.Errorf("made %s, %d tensors", got, len(f.Tensors))
	}
	for name, want := range map[string]float32{"bn.running_mean": 0, "bn.running_var": 1} {
		u, _ := f.Tensor(name)
		v, err := u.Load()
		if err != nil || len(v.F32()) != 2 || v.F32()[0] != want || v.F32()[1] != want {
			t.Errorf("%s: %v, %v", name, v.F32(), err)
		}
	}
}

// TestCompleteByWhatIsThere completes a batch norm that has only one of its two statistics.
// The missing one gets the usual name in that format and, without gamma, the shape of the
// other one.
func TestCompleteByWhatIsThere(t *testing.T) {
	f := &File{Tensors: ones("bn.running_var:2", "bn.weight:2,1")}
	if got := strings.Join(Complete(f, nil), " "); got != "bn.running_mean" {
		t.Errorf("made %q", got)
	}
	if u, ok := f.Tensor("bn.running_mean"); !ok || len(u.Shape) != 1 || u.Shape[0] != 2 {
		t.Errorf("%v", u)
	}
}

// TestNormsOfNames checks that the number of updates of the statistics is read from a
// counter, and from no other tensor.
func TestNormsOfNames(t *testing.T) {
	const layer = "bn.weight:2 bn.bias:2 bn.running_mean:2 bn.running_var:2 "
	for _, c := range []struct {
		counter []Tensor
		want    int64
	}{
		{nil, -1}, {ones("bn.num_batches_tracked:"), -1}, {ones("bn.num_batches_tracked:2"), -1},
		{[]Tensor{InMemory("bn.num_batches_tracked", tensor.Scalar(int64(7)))}, 7},
		{[]Tensor{InMemory("bn.num_batches_tracked", tensor.Of([]int64{7, 8}, 2))}, -1},
	} {
		norms, err := Norms(&File{Tensors: append(ones(strings.Fields(layer)...), c.counter...)})
		if err != nil || len(norms) != 1 || int64(norms[0].Updates) != c.want {
			t.Errorf("%v: %+v, %v, want %d updates", c.counter, norms, err, c.want)
		}
	}
}

// TestIdentifyTakesPrefixesOff finds a model of the zoo under names with a prefix, next to
// a tensor that clearly belongs to no layer. If a tensor of the model is missing, the error
// lists the differences.
func TestIdentifyTakesPrefixesOff(t *testing.T) {
	zoo, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(zoo, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	prefixed := func(tensors []Tensor) []Tensor {
		var out []Tensor
		for _, u := range tensors {
			out = append(out, u.Renamed("a.b."+u.Name))
		}
		return append(out, ones("criterion.weight:4")...)
	}
	f := &File{Tensors: prefixed(Tensors(zoo))}
	m, err := Identify(f)
	if err != nil || m.Architecture != "mlp-bn" || len(f.Tensors) != len(Tensors(zoo)) || len(f.Left) != 1 {
		t.Fatalf("%v, %d tensors, left out %v, error %v", m, len(f.Tensors), f.Left, err)
	}
	for i, u := range Tensors(zoo) {
		if f.Tensors[i].Name != u.Name {
			t.Errorf("tensor %d is called %s, want %s", i, f.Tensors[i].Name, u.Name)
		}
	}
	f = &File{Tensors: prefixed(without("fc1.weight")(Tensors(zoo)))}
	want := fmt.Sprintf("the nearest is mlp-bn: %d tensors fit; ", len(Tensors(zoo))-1)
	if _, err := Identify(f); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestDropPrefix removes the common prefix of all names, and nothing else.
func TestDropPrefix(t *testing.T) {
	for in, want := range map[string]string{
		"a.x:1 a.y:1":                 "x y, a",
		"a.x:1 b.y:1":                 ", ",
		"a.x:1 y:1":                   ", ",
		"a.x:1 criterion.weight:1":    "x criterion.weight, a",
		"a.x:1 a.criterion.weight:4":  "x a.criterion.weight, a",
		"a.criterion:1 criterion.w:4": "a.criterion criterion.w, ",
		"a.b.x:1 a.b.y:1 a.c.x:1":     "b.x b.y c.x, a",
		"a.w:1 criterion.w:1 a.w.x:1": "w criterion.w w.x, a",
	} {
		out, prefix := dropPrefix(ones(strings.Fields(in)...))
		var names []string
		for _, u := range out {
			names = append(names, u.Name)
		}
		if got := strings.Join(names, " ") + ", " + prefix; got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
