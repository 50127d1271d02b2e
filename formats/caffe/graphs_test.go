package caffe

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// drawn is a random network made by scripts/peers/caffe_graphs.py, with Caffe's results.
type drawn struct {
	Class string
	Axes  int // axes of the layer's input blob, without the batch
	Text  string
	Blobs map[string][]numbers
	Out   string // name of the blob with the result
	X     numbers
	Y     *numbers // nil if Caffe stops
}

type numbers struct {
	Shape []int
	Data  []float64
}

func (n numbers) tensor() tensor.Tensor {
	t := tensor.New(tensor.F32, n.Shape...)
	for i, v := range n.Data {
		t.F32()[i] = float32(v)
	}
	return t
}

func (d drawn) String() string { return fmt.Sprintf("%s of %d axes:\n%s", d.Class, d.Axes, d.Text) }

// build makes a model of d. The blobs are assigned by the names of the layers, as for a
// description with a separate file of weights.
func (d drawn) build() (m *models.Model, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	n, err := parseText([]byte(d.Text))
	if err != nil {
		return nil, err
	}
	for _, l := range n.layers {
		for _, b := range d.Blobs[l.name] {
			l.blobs = append(l.blobs, floats(b.Shape, b.tensor().F32()...))
		}
	}
	return n.model(&foreign.File{})
}

// check compares the results of bnctl and Caffe.
func (d drawn) check(m *models.Model) error {
	main, err := graph.Eval(m.Graph.Main, m.Graph.State)
	if err != nil {
		return err
	}
	state := map[string]tensor.Tensor{}
	for name, s := range m.State {
		state[name] = wide(s)
	}
	out, err := ref.Eval64(main, state, []tensor.Tensor{wide(d.X.tensor())}, []int{d.X.Shape[0]})
	if err != nil {
		return err
	}
	got := out[0]
	for i, o := range m.Graph.Main.Outputs {
		if o.Name == d.Out {
			got = out[i]
		}
	}
	want := d.Y.tensor()
	if !slices.Equal(got.Shape, want.Shape) {
		return fmt.Errorf("it gives %v, want %v", got.Shape, want.Shape)
	}
	for i, v := range want.F32() {
		if g := got.F64()[i]; !(math.Abs(g-float64(v)) <= 1e-5*max(1, math.Abs(float64(v)))) {
			return fmt.Errorf("element %d is %g, want %g", i, g, v)
		}
	}
	return nil
}

// checkDrawn builds all networks of a list. Each must be rejected with a reason, or compute
// the same as Caffe. A network that makes Caffe stop must be rejected. At least one network
// with each type of layer must be accepted.
func checkDrawn(t *testing.T, list io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(list)
	lines.Buffer(nil, 1<<24)
	read, refused := map[string]int{}, map[string]string{}
	n, total := 0, 0
	for lines.Scan() {
		var d drawn
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		n++
		m, err := d.build()
		switch {
		case err != nil:
			for _, word := range []string{"panic", "<nil>", "runtime", "proto:"} {
				if strings.Contains(err.Error(), word) {
					t.Errorf("%s: %v", d, err)
				}
			}
			if d.Y != nil {
				refused[d.Class] += fmt.Sprintf("\n%d axes: %v", d.Axes, err)
			}
		case d.Y == nil:
			t.Errorf("%s: it is read, and Caffe stops", d)
		default:
			read[d.Class]++
			total++
			if err := d.check(m); err != nil {
				t.Errorf("%s: %v\n%s", d, err, m.Graph.Text())
			}
		}
	}
	for class, k := range kinds {
		if k.make != nil && read[class] == 0 {
			t.Errorf("no network of %s is read: %s", class, refused[class])
		}
	}
	for class, why := range refused {
		t.Logf("%s: %d read, refused: %s", class, read[class], why)
	}
	t.Logf("%d of %d networks are read", total, n)
}

// TestGraphs checks the networks of testdata/graphs.jsonl.gz, the output of
// scripts/peers/caffe_graphs.py for seed 0 and one round. TestPeerGraphs makes networks for
// other seeds.
func TestGraphs(t *testing.T) {
	f, err := os.Open("testdata/graphs.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	checkDrawn(t, z)
}

// TestPaddedOnOneAxis: if Caffe pads one axis, it drops windows that begin after the end of
// the image on the other axis too.
func TestPaddedOnOneAxis(t *testing.T) {
	for pad, want := range map[string]string{"": "without an element", "pad_h: 1 pad_w: 0": "# rows f32[2,2,1]"} {
		got, _ := readText(t, `layer { name: "p" type: "Pooling" bottom: "x" top: "y" pooling_param `+
			`{ kernel_size: 2 stride: 3 `+pad+` } }`, nil)
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", pad, got, want)
		}
	}
}

func TestPeerGraphs(t *testing.T) {
	if os.Getenv("BNCTL_PEERS") == "" {
		t.Skip("peers are tested by make test-peers")
	}
	for seed := range 4 {
		cmd := exec.Command("/usr/bin/python3", "../../scripts/peers/caffe_graphs.py", fmt.Sprint(seed+1), "10")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		checkDrawn(t, strings.NewReader(string(out)))
	}
}

// TestUnreadableText: the error names the line of the fault; prior_box_param is a field of
// SSD's fork.
func TestUnreadableText(t *testing.T) {
	for text, want := range map[string]string{
		"name: \"n\"\nlayer { prior_box_param { } }": "line 2: prior_box_param is not one of Caffe's fields",
		"name: \"n\"\nlayer {":                       "the description in text: ",
		"name: 5":                                    "line 1: ",
	} {
		_, err := parseText([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "proto:") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
