package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// torn returns a tensor that cannot be read.
func torn(t *testing.T, name string, shape ...int) Tensor {
	t.Helper()
	bad, err := NewTensor(name, tensor.F32, shape, func([]byte) error { return errors.New("torn") })
	if err != nil {
		t.Fatal(err)
	}
	return bad
}

// TestTemplate uses the graph of the file, the named architecture, or the one of the zoo
// that fits, in this order.
func TestTemplate(t *testing.T) {
	own, named := modelOf(t, oneLayer), modelOf(t, oneLayer)
	own.State = map[string]tensor.Tensor{}
	fits := func() []Tensor { return ones("fc.weight:2,3", "fc.bias:2") }
	file := &File{Model: own, Tensors: fits()}
	if m, err := Template(file, nil); err != nil || m != own {
		t.Errorf("the file's own graph: %v, %v", m, err)
	}
	if m, err := Template(file, named); err != nil || m == own || len(m.State) != 2 {
		t.Errorf("a graph that is named beside one in the file: %v, %v", m, err)
	}
	unread := &File{NoModel: errors.New("there is a loop"), Tensors: fits()}
	if m, err := Template(unread, named); err != nil || len(m.State) != 2 {
		t.Errorf("a graph that is named in the place of one that is not read: %v, %v", m, err)
	}
	want := "the graph in the file is not supported: there is a loop; name the model with arch"
	if _, err := Template(unread, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a graph that is not read: %v", err)
	}
	zoo := small(t)
	if m, err := Template(&File{Tensors: Tensors(zoo)}, nil); err != nil || m.Architecture != zoo.Architecture {
		t.Errorf("the zoo: %v, %v", m, err)
	}
	_, err := Template(&File{Tensors: fits()}, nil)
	if err == nil || !strings.Contains(err.Error(), "no architecture") {
		t.Errorf("nothing fits: %v", err)
	}
}

// TestState: State returns the tensors to initialise a model from, without counters. It
// removes a prefix only if no name fits with it.
func TestState(t *testing.T) {
	for _, c := range []struct{ tensors, want string }{
		{"fc.weight:2,3 fc.bias:2", "fc.bias fc.weight"},
		{"m.fc.weight:2,3 m.fc.bias:2", "fc.bias fc.weight"},
		{"a.b.c.fc.weight:2,3", "fc.weight"},
		{"a.b.c.d.fc.weight:2,3", "d.fc.weight"}, // the limit of prefixes before a name
		{"fc.weight:2,3 fc.other:1", "fc.other fc.weight"},
		{"m.x:1 n.fc.weight:2,3", "m.x n.fc.weight"},
		{"nothing.fits:7", "fits"},
	} {
		f := &File{Tensors: append(ones(strings.Fields(c.tensors)...),
			InMemory(strings.Fields(c.tensors)[0][:strings.LastIndex(strings.Fields(c.tensors)[0], ".")+1]+"count",
				tensor.Scalar(int64(3))))}
		state, err := State(f, modelOf(t, oneLayer))
		var names []string
		for name := range state {
			names = append(names, name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.tensors, got, err, c.want)
		}
	}
	own := modelOf(t, oneLayer)
	own.State = map[string]tensor.Tensor{"fc.bias": tensor.Of([]float32{1, 2}, 2)}
	if state, err := State(&File{Model: own}, small(t)); err != nil || len(state) != 1 {
		t.Errorf("of a file with a graph: %v, %v", state, err)
	}
	if _, err := State(&File{Tensors: []Tensor{torn(t, "fc.bias", 2)}}, own); err == nil {
		t.Error("a tensor that cannot be read is state")
	}
	flat := modelOf(t, `state fc.weight f32[2,8] weight he_normal(0)

func main(x rows f32[2,2,2]) {
  f = reshape(x, shape=[8])
  fc = dense(f, @fc.weight)
  return logits rows = fc
}
`)
	if _, err := State(&File{Format: "keras h5", Tensors: ones("fc/kernel:8,2")}, flat); err == nil {
		t.Error("a dense layer that reads height, width, channel was given its weights")
	}
}

// TestStateOfKeras checks that kernels are transposed.
func TestStateOfKeras(t *testing.T) {
	kernel := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	state, err := State(&File{Format: "keras h5", Tensors: []Tensor{InMemory("fc/kernel:0", kernel)}}, modelOf(t, oneLayer))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for name, v := range state {
		got += fmt.Sprint(name, v.Shape, v.F32())
	}
	if !strings.HasSuffix(got, "[2 3] [1 3 5 2 4 6]") {
		t.Errorf("state %s", got)
	}
}

// TestSearchFails checks that the error names the candidates that cannot be distinguished.
func TestSearchFails(t *testing.T) {
	tensors := ones("fc9.weight:2")
	if _, _, name, err := search(&tensors); err != nil || name != models.Architectures()[0].Name {
		t.Errorf("nothing fits: the nearest is %s, %v; want the first", name, err)
	}
}

// TestRemedyOfAFault: if a graph is not supported because of a node with a fault, the error
// has the advice of the fault.
func TestRemedyOfAFault(t *testing.T) {
	f := &File{NoModel: errors.New("node 3 (Conv c): with a scale of -1")}
	if _, err := Template(f, nil); err == nil || !strings.HasSuffix(err.Error(), "; name the model with arch") {
		t.Errorf("without a fault: %v", err)
	}
	f.Find("c", "unusual", "nothing")
	f.Findings = append(f.Findings, Finding{Where: "c", Text: "-1", Advice: "quantise again", Fault: true})
	if _, err := Template(f, nil); err == nil || !strings.HasSuffix(err.Error(), "of -1; quantise again") {
		t.Errorf("with a fault: %v", err)
	}
	f.NoModel = errors.New("node 5 (NoSuch cc): there is no such operator")
	if _, err := Template(f, nil); err == nil || !strings.HasSuffix(err.Error(), "; name the model with arch") {
		t.Errorf("with a fault of another node: %v", err)
	}
}
