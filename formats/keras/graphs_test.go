package keras

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
	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// drawn is a random model made by scripts/peers/keras_graphs.py, with Keras's results.
type drawn struct {
	Class   string
	Axes    int // axes of a sample
	First   bool
	Major   int
	Config  json.RawMessage
	Weights map[string]map[string]numbers
	X       numbers
	Y       *numbers // nil if Keras rejects the model
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

// inMemory is the value of an array that is in memory instead of in a file.
type inMemory []byte

func (b inMemory) Size() int                 { return len(b) }
func (b inMemory) ReadInto(dst []byte) error { copy(dst, b); return nil }

// turnedLike returns the batch x in bnctl's layout: pictures with the channels last get the
// channels first.
func (d drawn) turnedLike(x tensor.Tensor) tensor.Tensor {
	if len(x.Shape) == 4 && !d.First {
		return channelsFirst(x)
	}
	return x
}

// build makes a model of d, like the reader of a file.
func (d drawn) build() (m *models.Model, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	n, err := parseModel(d.Config)
	if err != nil {
		return nil, err
	}
	if err := n.checkLayers(); err != nil {
		return nil, err
	}
	w := weights{}
	for name, arrays := range d.Weights {
		for param, v := range arrays {
			w.put(slot{l: n.find(name), param: param}, array{param, inMemory(v.tensor().Bytes),
				hdf5.Type{Class: hdf5.Float, Size: 4, Signed: true}, v.Shape})
		}
	}
	b := &build{weights: w, major: d.Major, weightBudget: 1 << 30}
	return b.toModel(n)
}

// check compares the results of bnctl and Keras.
func (d drawn) check(m *models.Model) error {
	main, err := graph.Eval(m.Graph.Main, m.Graph.State)
	if err != nil {
		return err
	}
	state := map[string]tensor.Tensor{}
	for name, s := range m.State {
		state[name] = wide(s)
	}
	x := d.turnedLike(d.X.tensor())
	if in := m.Input().Shape; !slices.Equal(in, x.Shape[1:]) {
		return fmt.Errorf("it takes %v, want %v", in, x.Shape[1:])
	}
	out, err := ref.Eval64(main, state, []tensor.Tensor{wide(x)}, []int{x.Shape[0]})
	if err != nil {
		return err
	}
	got, want := out[0], d.turnedLike(d.Y.tensor())
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

// checkDrawn builds all models of a list. Each must be rejected with a reason, or compute
// the same as Keras. A model that Keras rejects must be rejected. If all is set, every
// class of layer must be read at least once.
func checkDrawn(t *testing.T, list io.Reader, all bool) {
	t.Helper()
	lines := bufio.NewScanner(list)
	lines.Buffer(nil, 1<<24)
	read, refused := map[string]int{}, map[string]string{}
	n := 0
	for lines.Scan() {
		var d drawn
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		n++
		m, err := d.build()
		switch {
		case err != nil:
			for _, word := range []string{"panic", "json:", "<nil>", "0x", "runtime"} {
				if strings.Contains(err.Error(), word) {
					t.Errorf("%s: %v", d, err)
				}
			}
			if d.Y != nil {
				refused[d.Class] += fmt.Sprintf("\n%d axes, first %v: %v", d.Axes, d.First, err)
			}
		case d.Y == nil:
			t.Errorf("%s: it is read, and Keras refuses it", d)
		default:
			read[d.Class]++
			if err := d.check(m); err != nil {
				t.Errorf("%s: %v\n%s", d, err, m.Graph.Text())
			}
		}
	}
	if n == 0 {
		t.Fatal("there are no models")
	}
	total := 0
	for class := range kinds {
		if total += read[class]; all && read[class] == 0 && refused[class] != "" {
			t.Errorf("no model of %s is read: %s", class, refused[class])
		}
	}
	for class, why := range refused {
		t.Logf("%s: %d read, refused: %s", class, read[class], why)
	}
	t.Logf("%d of %d models are read", total, n)
}

func (d drawn) String() string {
	return fmt.Sprintf("%s of %d axes, channels first %v: %.1500s", d.Class, d.Axes, d.First, d.Config)
}

// TestGraphs checks the models of testdata/graphs.jsonl.gz, the output of
// scripts/peers/keras_graphs.py for seed 0 and two rounds. TestPeerGraphs makes models for
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
	checkDrawn(t, z, true)
}

func TestPeerGraphs(t *testing.T) {
	if os.Getenv("BNCTL_PEERS") == "" {
		t.Skip("peers are tested by make test-peers")
	}
	for seed := range 4 {
		cmd := exec.Command("/usr/bin/python3", "../../scripts/peers/keras_graphs.py", fmt.Sprint(seed+1), "8")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		checkDrawn(t, strings.NewReader(string(out)), true)
	}
}
