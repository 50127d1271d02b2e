package caffe

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

func npy(t *testing.T, path string) tensor.Tensor {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := data.ReadNPY(f)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// wide returns an f32 tensor as f64.
func wide(t tensor.Tensor) tensor.Tensor {
	out := tensor.New(tensor.F64, t.Shape...)
	for i, v := range t.F32() {
		out.F64()[i] = float64(v)
	}
	return out
}

// predict returns the logits of a model for x.
func predict(t *testing.T, m *models.Model, x tensor.Tensor) []float64 {
	t.Helper()
	main, err := graph.Eval(m.Graph.Main, m.Graph.State)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]tensor.Tensor{}
	for name, s := range m.State {
		state[name] = wide(s)
	}
	out, err := ref.Eval64(main, state, []tensor.Tensor{wide(x)}, []int{x.Shape[0]})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range m.Graph.Main.Outputs {
		if o.Name == "logits" { // the expected results are of this output
			return out[i].F64()
		}
	}
	return out[0].F64()
}

// TestNetworks compares outputs with the results of testdata/make.py.
func TestNetworks(t *testing.T) {
	for name, output := range map[string]string{"network": "prob", "old": "prob", "poolings": "all",
		"snapshot": "logits", "usual": "l21"} {
		path := filepath.Join("testdata/cases", name)
		f, err := Read(path+".caffemodel", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Model == nil {
			t.Errorf("%s: no model: %v", name, f.NoModel)
			continue
		}
		if got := f.Model.Graph.Main.Outputs[0].Name; got != output {
			t.Errorf("%s: the output is called %s, want %s", name, got, output)
		}
		near(t, name, predict(t, f.Model, npy(t, path+".input.npy")), npy(t, path+".output.npy"))
	}
}

// near compares a network's result with the expected one.
func near(t *testing.T, name string, got []float64, want tensor.Tensor) {
	t.Helper()
	if len(got) != want.Count() {
		t.Errorf("%s: %d values, want %d", name, len(got), want.Count())
		return
	}
	worst := 0.0
	for i, v := range want.F32() {
		worst = max(worst, math.Abs(got[i]-float64(v))/max(1, math.Abs(float64(v))))
	}
	if !(worst < 1e-6) {
		t.Errorf("%s: values differ by up to %g", name, worst)
	}
}

func TestTensors(t *testing.T) {
	f, err := Read("testdata/cases/network.caffemodel", Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "[conv1.weight f32[4,3,3,3] bn1.running_mean f32[4] bn1.running_var f32[4] scale1.weight " +
		"f32[4] scale1.bias f32[4] conv2.weight f32[4,4,1,1] conv2.bias f32[4] fc.weight f32[5,16] " +
		"fc.bias f32[5]]"
	if got := fmt.Sprint(f.Tensors); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	mean, err := f.Tensors[1].Load()
	if err != nil || !bytes.Equal(mean.Bytes, f.Model.State["bn1.running_mean"].Bytes) {
		t.Errorf("mean %v, %v; the model has %v", mean.F32(), err, f.Model.State["bn1.running_mean"].F32())
	}
}

// TestNoSize reads a snapshot that does not give the size of its input: it has weights, but
// no graph.
func TestNoSize(t *testing.T) {
	f, err := Read("testdata/cases/no_size.caffemodel", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Model != nil || len(f.Tensors) != 1 || !strings.Contains(fmt.Sprint(f.NoModel),
		"how large its input is") {
		t.Errorf("model %v, tensors %v, reason %v", f.Model, f.Tensors, f.NoModel)
	}
}

// outcome returns the graph of a file, or the reason why the file or its graph was not
// read.
func outcome(b []byte) string {
	f, err := read(bytes.NewReader(b), int64(len(b)), Options{})
	if err != nil {
		return err.Error()
	}
	for _, x := range f.Tensors {
		if _, err := x.Load(); err != nil {
			return err.Error()
		}
	}
	if f.NoModel != nil {
		return "no model: " + f.NoModel.Error()
	}
	return "it was read"
}

// TestRefusesHostile reads every file of testdata/hostile; refusals.txt there
// has the message for each.
func TestRefusesHostile(t *testing.T) {
	text, err := os.ReadFile("testdata/hostile/refusals.txt")
	if err != nil {
		t.Fatal(err)
	}
	wanted := 0
	for line := range strings.Lines(string(text)) {
		wanted++
		name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		b, err := os.ReadFile(filepath.Join("testdata/hostile", name+".caffemodel"))
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome(b); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	if files, _ := filepath.Glob("testdata/hostile/*.caffemodel"); len(files) != wanted {
		t.Errorf("%d files and %d messages: run make.py", len(files), wanted)
	}
}

func TestSniff(t *testing.T) {
	for path, want := range map[string]bool{
		"testdata/cases/network.caffemodel": true, "testdata/cases/no_size.caffemodel": true,
		"testdata/hostile/first_format.caffemodel": true, "testdata/hostile/truncated.caffemodel": true,
		"testdata/make.py": false, "testdata/cases/network.input.npy": false,
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := Sniff(b[:min(len(b), 512)]); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	for head, want := range map[string]bool{
		"\xa2\x06\x05":                             true,  // a layer
		"\xa2\x07\x05":                             false, // field 116
		"\xa1\x06\x05":                             false, // a layer field without bytes
		"\x0a\x01n\xa2\x06\x05":                    true,  // after a name
		"\x22\x04\x01\x02\x03\x04\xa2\x06\x05":     true,  // after lengths of an input
		"\x3a\x00\x42\x00\xa2\x06\x05":             true,  // after fields 7 and 8
		"\x4a\x01n\xa2\x06\x05":                    false, // field 9
		"\x0a\x01n":                                false, // only a name
		"\x12\x03\x22\x01n":                        true,  // an old layer that begins with its name
		"\x12\x03\x2a\x01n":                        false, // an old layer that begins with field 5
		"\x12\x01\x22\x0a\x01n":                    false, // field 2 with one byte is not an old layer
		"\x12\x7f\x2a\x01n":                        true,  // an old layer that is cut off
		"\x0a\x7fname":                             false, // a name that is cut off
		"\x10\x01\xa2\x06\x05":                     false, // a number is not an old layer
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff": false,
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q: %v, want %v", head, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/hostile/*.caffemodel", "testdata/cases/*.caffemodel"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { _ = outcome(b) }) // must return, with any result
}
