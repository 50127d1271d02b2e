package train

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// elementSource has the samples of testdata/elementlosses.py: labels that do not exclude each
// other, or numbers.
type elementSource struct {
	samples int
	numbers bool
	nothing bool // all samples lack their labels
}

func (s *elementSource) Info() data.Info {
	i := data.Info{Kind: "csv", Len: s.samples, DType: tensor.F32, Shape: []int{2}, Labelled: true, LabelShape: []int{3}}
	if names := []string{"a", "b", "c"}; s.numbers {
		i.Targets = names
	} else {
		i.Classes, i.MultiLabel = names, true
	}
	return i
}

func (s *elementSource) Sample(_ context.Context, i int) (tensor.Tensor, error) {
	at := func(d int) float32 { return (float32((5*i+3*d)%7) - 3) / 4 }
	return tensor.Of([]float32{at(0), at(1)}, 2), nil
}

func (s *elementSource) Label(_ context.Context, i int) ([]int32, error) {
	label := make([]int32, 3)
	for k := range label {
		switch {
		case (i+2*k)%5 == 0 || s.nothing:
			label[k] = -1
		case s.numbers:
			label[k] = int32(math.Float32bits(float32((i*i+3*k)%8 - 2)))
		case (i*i+k)%3 == 1:
			label[k] = 1
		}
	}
	return label, nil
}

func (s *elementSource) Name(i int) string { return fmt.Sprint(i) }
func (s *elementSource) Fingerprint(context.Context) (string, error) {
	return strings.Repeat("0", 64), nil
}
func (s *elementSource) Close() error { return nil }

const elementGraph = "bnctl graph 1\ngraph \"g\"\nstate w f32[3,2] weight zeros\nstate b f32[3] bias zeros\n" +
	"func main(x rows f32[2]) {\n  y = dense(x, @w, @b)\n  return logits rows = y\n}\n"

// elementBench trains the layer of the script on src, with all samples in one batch.
func elementBench(t *testing.T, src *elementSource, loss string) *bench {
	t.Helper()
	b := newBench(t, src.samples)
	b.source = src
	r := &b.recipe
	r.Data.Classes = 3
	r.Batch, r.Replicas, r.Epochs, r.LR, r.WeightDecay, r.Schedule = src.samples, 3, 3, 0.25, 0, "constant"
	if r.Loss = strings.Split(loss, "-")[0]; strings.HasSuffix(loss, "balanced") {
		r.PosWeights = "balanced"
	}
	if strings.HasSuffix(loss, "smoothed") {
		r.LabelSmoothing = 0.2
	}
	if src.numbers {
		r.Data.Classes = 0
	}
	if err := r.SetData(t.Context(), src, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

func elementModel(t *testing.T, src data.Source) *models.Model {
	t.Helper()
	m := written(t, elementGraph)
	w, bias := tensor.New(tensor.F32, 3, 2), tensor.New(tensor.F32, 3)
	for k := range 3 {
		bias.F32()[k] = float32(k-1) / 8
		for d := range 2 {
			w.F32()[2*k+d] = (float32((3*k+2*d)%5) - 2) / 8
		}
	}
	m.State = map[string]tensor.Tensor{"w": w, "b": bias}
	m, err := recipe.Answering(t.Context(), m, src, false)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Losses and updates are PyTorch's, over replicas of three and two rows on one device or several.
func TestElementLossesArePyTorchs(t *testing.T) {
	for name, steps := range readSteps(t, "testdata/elementlosses.txt") {
		src := &elementSource{samples: 7, numbers: !strings.HasPrefix(name, "binary")}
		compareSteps(t, name, steps, elementBench(t, src, name), elementModel(t, src))
	}
}

// readSteps reads a file of lines "CASE STEP LOSS WEIGHT ...": the steps of each case.
func readSteps(t *testing.T, name string) map[string][][]float64 {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	steps := map[string][][]float64{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		var row []float64
		for _, f := range fields[2:] {
			var v float64
			if _, err := fmt.Sscan(f, &v); err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		steps[fields[0]] = append(steps[fields[0]], row)
	}
	return steps
}

// compareSteps trains m on one device and on two. It compares the losses of the steps with PyTorch's, and
// the weights after the first step, which show the gradient, and after the last step.
func compareSteps(t *testing.T, name string, steps [][]float64, b *bench, m *models.Model) {
	t.Helper()
	for _, devices := range []int{1, 2} {
		for _, n := range []int{1, len(steps)} {
			b.recipe.Epochs = n
			losses, got := stepsOf(t, b, m, devices)
			for i, row := range steps[:n] {
				if math.Abs(losses[i]-row[0]) > 1e-6*math.Max(1, row[0]) {
					t.Errorf("%s, step %d: loss %.9g, want %.9g", name, i, losses[i], row[0])
				}
			}
			weights := append(slices.Clone(got.State["w"].F32()), got.State["b"].F32()...)
			for i, v := range weights {
				if want := steps[n-1][1+i]; math.Abs(float64(v)-want) > 2e-6 {
					t.Errorf("%s, after step %d: weight %d is %.8g, want %.8g", name, n-1, i, v, want)
				}
			}
		}
	}
}

func stepsOf(t *testing.T, b *bench, m *models.Model, devices int) (losses []float64, trained *models.Model) {
	t.Helper()
	c := b.config(devices)
	c.LogEvery = 1
	c.Events = func(e Event) {
		if s, ok := e.(Stepped); ok {
			losses = append(losses, s.Loss)
		}
	}
	s, err := New(t.Context(), &b.recipe, m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if trained, err = s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return losses, trained
}

// A step without known labels changes nothing, and is counted.
func TestStepsWithoutLabels(t *testing.T) {
	src := &elementSource{samples: 7, nothing: true}
	b := elementBench(t, src, "binary")
	b.recipe.WeightDecay = 0.1 // weight decay would change the weights in a step that is not left out
	m := elementModel(t, src)
	c := b.config(1)
	c.Validation = nil
	left := 0
	c.Events = func(e Event) {
		if e, ok := e.(EpochDone); ok {
			left += e.LeftOut
		}
	}
	s, err := New(t.Context(), &b.recipe, m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, was := range m.State {
		if string(got.State[name].Bytes) != string(was.Bytes) {
			t.Errorf("%s has changed", name)
		}
	}
	if left != 3 {
		t.Errorf("%d steps were left out, want 3", left)
	}
}

// A template with new units predicts in the units of the data, whatever these are.
func TestForNumbersScales(t *testing.T) {
	src := &elementSource{samples: 7, numbers: true}
	m, err := recipe.Answering(t.Context(), elementModel(t, src), src, true)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := data.DescribeTargets(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	for k, target := range targets {
		if m.State["target.std"].F32()[k] != float32(target.Std) || m.State["target.mean"].F32()[k] != float32(target.Mean) {
			t.Errorf("target %s: %+v", target.Name, target)
		}
	}
	if a, _ := m.Answer(0); a != models.Values {
		t.Errorf("without names the answer is %v", a)
	}
	m.Labels = src.Info().Targets
	if a, _ := m.Answer(0); a != models.Numbers {
		t.Errorf("the answer is %v", a)
	}
}
