package predict

import (
	"bytes"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) {
		return
	}
	os.Exit(m.Run())
}

// newModel returns mlp-bn with the weights of a seed.
func newModel(t *testing.T) *models.Model {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func open(t *testing.T, spec string) data.Source {
	t.Helper()
	src, err := data.Open(t.Context(), spec, data.Options{Split: data.Test})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// logits returns the first output of m for the samples of src, computed on a fleet with a size of
// batch.
func logits(t *testing.T, m *models.Model, src data.Source, devices string, batch int) []byte {
	t.Helper()
	p, err := Open(t.Context(), m, Options{Fleet: fleet.Options{Devices: devices}, Batch: batch})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var all []byte
	next := 0
	bad, err := p.All(t.Context(), src, Reading{}, func(i int, outs []tensor.Tensor) error {
		if i != next {
			t.Errorf("sample %d follows %d", i, next-1)
		}
		next++
		all = append(all, outs[0].Bytes...)
		return nil
	})
	if err != nil || len(bad) > 0 || next != src.Info().Len {
		t.Fatalf("%d samples, bad %v, %v", next, bad, err)
	}
	return all
}

// A prediction depends on the model and the input alone.
func TestBatchAndDevicesChangeNothing(t *testing.T) {
	m, src := newModel(t), open(t, "glyphs:7")
	want := logits(t, m, src, "ref", 7)
	for _, c := range []struct {
		devices string
		batch   int
	}{{"ref", 1}, {"ref", 3}, {"2xref", 4}, {"3xref", 100}} {
		if got := logits(t, m, src, c.devices, c.batch); !bytes.Equal(got, want) {
			t.Errorf("%s, batch %d: other bits", c.devices, c.batch)
		}
	}
}

// No prediction is passed on before the model is known to be unchanged, and an error of
// each ends the reading.
func TestAllStops(t *testing.T) {
	m, src := newModel(t), open(t, "glyphs:4")
	p, err := Open(t.Context(), m, Options{Fleet: fleet.Options{Devices: "ref"}, Batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	stop, heard := errors.New("stop"), 0
	each := func(int, []tensor.Tensor) error { heard++; return stop }
	doubt := Reading{Verify: func() error { return stop }}
	if _, err := p.All(t.Context(), src, doubt, each); err != stop || heard > 0 {
		t.Errorf("%d predictions of a damaged model, %v", heard, err)
	}
	if _, err := p.All(t.Context(), src, Reading{}, each); err != stop || heard != 1 {
		t.Errorf("%d predictions before the end, %v", heard, err)
	}
}

// An evaluation counts the predictions that All returns.
func TestEvaluate(t *testing.T) {
	src := open(t, "glyphs:9")
	m, src, err := Evaluable(newModel(t), src, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(t.Context(), m, Options{Fleet: fleet.Options{Devices: "ref"}, Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	e, err := p.Evaluate(t.Context(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	correct := 0
	if _, err := p.All(t.Context(), src, Reading{}, func(i int, outs []tensor.Tensor) error {
		best := 0
		for k, v := range outs[0].F32() {
			if v > outs[0].F32()[best] {
				best = k
			}
		}
		label, err := src.Label(t.Context(), i)
		if err != nil {
			return err
		}
		if int32(best) == label[0] {
			correct++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if e.Samples != 9 || e.Correct != correct {
		t.Errorf("%d of %d correct, want %d of 9", e.Correct, e.Samples, correct)
	}
}

// An option that cannot be satisfied is a problem that names it.
func TestProblems(t *testing.T) {
	m := newModel(t)
	for _, c := range []struct {
		o     AnswerOptions
		field string
	}{
		{AnswerOptions{}, "top"},
		{AnswerOptions{Top: 1, Only: []string{"logit"}}, "only"},
		{AnswerOptions{Top: 1, Only: []string{"logits", "logits"}}, "only"},
		{AnswerOptions{Top: 1, Task: "classes"}, "task"},
		{AnswerOptions{Top: 1, Task: "classify", Logits: true}, "task"},
	} {
		var p *problem.Error
		if _, err := NewAnswers(m, c.o); !errors.As(err, &p) || p.Field != c.field {
			t.Errorf("%+v: %v, want a problem of %s", c.o, err, c.field)
		}
	}
	var p *problem.Error
	if _, err := Open(t.Context(), m, Options{}); !errors.As(err, &p) || p.Field != "batch" {
		t.Errorf("no batch: %v", err)
	}
	none := Options{Batch: 1, Fleet: fleet.Options{Devices: "0xref"}}
	if _, err := Open(t.Context(), m, none); !errors.As(err, &p) || p.Field != "devices" {
		t.Errorf("no devices: %v", err)
	}
	if _, _, err := Evaluable(m, silent{}, nil); !errors.As(err, &p) {
		t.Errorf("no labels: %v", err)
	}
}

// silent is a source without labels.
type silent struct{ data.Source }

func (silent) Info() data.Info { return data.Info{Kind: "npy"} }

// Probabilities match arithmetic: softmax of 0, ln 2, ln 5 is 1/8, 2/8, 5/8.
func TestBest(t *testing.T) {
	m := newModel(t)
	m.Labels = []string{"a", "b"}
	a, err := NewAnswers(m, AnswerOptions{Top: 2})
	if err != nil {
		t.Fatal(err)
	}
	row := tensor.Of([]float32{0, float32(math.Log(2)), float32(math.Log(5))}, 3)
	got, err := a.Best([]tensor.Tensor{row})
	if err != nil {
		t.Fatal(err)
	}
	want := []Class{{Label: "output 2 (no class)", Index: 2, P: 0.625}, {Label: "b", Index: 1, P: 0.25}}
	for i, k := range want {
		if got[i].Label != k.Label || got[i].Index != k.Index || math.Abs(float64(got[i].P-k.P)) > 1e-7 {
			t.Errorf("place %d: %v, want %v", i, got[i], k)
		}
	}
}
