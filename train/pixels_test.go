package train

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

const pixelSamples = 6

// pixelLabels are -1 (ignored), 0, 1, 1, -1, 0, ...
func pixelLabels() tensor.Tensor {
	y := tensor.New(tensor.I32, pixelSamples, 4, 5)
	for i := range y.I32() {
		y.I32()[i] = []int32{-1, 0, 1, 1}[i%4]
	}
	return y
}

// pixelBench trains the graph "pixels" on pictures with a label for every pixel.
func pixelBench(t *testing.T) *bench {
	t.Helper()
	x := tensor.New(tensor.U8, pixelSamples, 4, 5, 3)
	for i := range x.U8() {
		x.U8()[i] = uint8(37 * i)
	}
	dir := t.TempDir()
	spec := fmt.Sprintf("npy:%s,%s", saved(t, filepath.Join(dir, "x.npy"), x),
		saved(t, filepath.Join(dir, "y.npy"), pixelLabels()))
	src, err := data.Open(t.Context(), spec, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, pixelSamples)
	t.Cleanup(func() { src.Close() })
	b.source, b.recipe.Data.Classes = src, len(src.Info().Classes)
	b.recipe.Model, b.recipe.Epochs, b.recipe.Steps = "pixels", 0, 1
	b.recipe.Batch, b.recipe.Replicas, b.recipe.LabelSmoothing, b.recipe.LR = pixelSamples, 4, 0.2, 0.5
	b.recipe.Schedule = "constant"
	return b
}

func saved(t *testing.T, name string, x tensor.Tensor) string {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := data.WriteNPY(f, x); err != nil {
		t.Fatal(err)
	}
	return name
}

// flatModel returns a model with logits 0 and 1 at every pixel: a convolution of zeros, and
// a batch norm that shifts the second channel.
func flatModel(t *testing.T) *models.Model {
	t.Helper()
	m := written(t, pixelGraph)
	if err := models.Init(m, 0); err != nil {
		t.Fatal(err)
	}
	clear(m.State["conv.weight"].F32())
	m.State["bn.bias"].F32()[1] = 1
	return m
}

// flatStep returns the results of one step on flatModel, by hand: the mean loss over the
// pixels that count, and the gradient of the second channel's shift.
func flatStep(smoothing float64) (loss, gradient float64) {
	p := 1 / (1 + math.Exp(-1.0)) // probability of class 1
	counted := 0.0
	for _, l := range pixelLabels().I32() {
		if l < 0 {
			continue
		}
		target := float64(l)*(1-smoothing) + smoothing/2 // target of class 1
		loss -= target*math.Log(p) + (1-target)*math.Log(1-p)
		gradient += p - target
		counted++
	}
	return loss / counted, gradient / counted
}

// Labels are given for pixels, some of them ignored, with label smoothing. The loss and the step
// match a computation by hand, on any number of devices.
func TestPixelsAreLabelled(t *testing.T) {
	b := pixelBench(t)
	loss, gradient := flatStep(b.recipe.LabelSmoothing)
	for devices := 1; devices <= 3; devices++ {
		c := b.config(devices)
		var epoch EpochDone
		c.Events = func(e Event) {
			if d, ok := e.(EpochDone); ok {
				epoch = d
			}
		}
		s, err := New(context.Background(), &b.recipe, flatModel(t), c)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Run(context.Background())
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(epoch.TrainLoss-loss) > 1e-6 || epoch.TrainAccuracy != 2./3 {
			t.Errorf("%d devices: loss %.9g, accuracy %g; want %.9g, 2/3", devices, epoch.TrainLoss,
				epoch.TrainAccuracy, loss)
		}
		want := 1 - b.recipe.LR*gradient
		if got := float64(m.State["bn.bias"].F32()[1]); math.Abs(got-want) > 1e-6 {
			t.Errorf("%d devices: bn.bias[1] is %.9g after the step, want %.9g", devices, got, want)
		}
	}
}
