package bench

import (
	"context"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// able is a device that accepts all state at once, like a device in another process. Here its process is this
// one.
type able struct {
	device.Device
	all *int // number of calls of WriteAll
}

func (a able) Info() device.Info {
	i := a.Device.Info()
	i.Process, i.Note = os.Getpid(), "no shared memory"
	return i
}

func (a able) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	x, err := a.Device.Load(ctx, p, c)
	return ableProgram{x, a.all}, err
}

type ableProgram struct {
	device.Executable
	all *int
}

func (x ableProgram) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	*x.all++
	return x.Executable.WriteAll(ctx, names, state)
}

// TestAWatchedDeviceKeepsItsAbilities: bench --profile must count the memory of plugins, and write state as
// fast as bench does without it.
func TestAWatchedDeviceKeepsItsAbilities(t *testing.T) {
	calls := 0
	plain := []parallel.Member{{Name: "able", Device: able{ref.New("able"), &calls}}}
	watched := newProfiler().members(plain)
	got, want := watched[0].Device.Info(), plain[0].Device.Info()
	if got.Process != want.Process || got.Note != want.Note {
		t.Errorf("watched: process %d, note %q, want %d, %q", got.Process, got.Note, want.Process, want.Note)
	}
	if host := peakMemory(nil); runtime.GOOS == "linux" && peakMemory(watched) < 1.5*host {
		t.Errorf("%.1f MB with the device's process, %.1f without", peakMemory(watched), host)
	}
	p, err := graph.ParseProgram([]byte("bnctl program 1\nprogram \"p\"\n\nstate w f32[3,2] weight zeros\n" +
		"func predict(x rows f32[2]) {\n  y = dense(x, @w)\n  return y: rows = y\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := watched[0].Device.Load(t.Context(), p, device.Capacity{Rows: 1, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]tensor.Tensor{"w": tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)}
	if err := x.WriteAll(t.Context(), []string{"w"}, state); err != nil || calls != 1 {
		t.Errorf("WriteAll came through %d times: %v", calls, err)
	}
}

// The loss of a step is the mean over its labels, one for each sample or one for each pixel. If it were a sum
// over pixels, the weights of unet-bn would within a few steps reach values where all gradients are
// subnormal. Then a step would need a hundred times as long as in training.
func TestLossIsAMeanOverLabels(t *testing.T) {
	for name, perSample := range map[string]int{"mlp-bn": 1, "unet-bn": 64 * 64} {
		m, err := models.Build(name, models.Options{Input: models.Size{Height: 64, Width: 64, Channels: 3}})
		if err != nil {
			t.Fatal(err)
		}
		r := recipe.Default(name)
		r.Batch, r.Replicas = 6, 2
		b, err := randomBatch(m, r)
		if err != nil {
			t.Fatal(err)
		}
		if want := 1 / float32(6*perSample); b.Inverse != want {
			t.Errorf("%s: losses are summed up by %g, want %g", name, b.Inverse, want)
		}
	}
}

// The batch for a detector has all inputs that its loss needs.
func TestBatchOfADetector(t *testing.T) {
	m, err := models.Build("yolox-nano", models.Options{Input: models.Size{Height: 64, Width: 64, Channels: 3}, Classes: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, loss := range []string{"boxes", "yolox"} {
		r := recipe.Default("yolox-nano")
		r.Batch, r.Loss, r.MostBoxes = 2, loss, 3
		b, err := randomBatch(m, r)
		if err != nil {
			t.Fatal(err)
		}
		wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 1, BN: r.BN, Stats: r.BNStats})
		if err != nil {
			t.Fatal(err)
		}
		trained, err := train.Trained(m.Graph, nil)
		if err != nil {
			t.Fatal(err)
		}
		program, err := train.Program(r, m.Graph, wrapped, trained)
		if err != nil {
			t.Fatal(err)
		}
		f := program.Function(graph.Train)
		for _, i := range f.Inputs {
			v := f.Values[i]
			if v.Type.Kind != graph.Rows {
				continue
			}
			want := v.Type.Sized(r.Batch, r.Replicas)
			if got := b.Rows[v.Name]; !slices.Equal(got.Shape, want) || got.DType != v.Type.DType {
				t.Errorf("%s: %s is %v %v, want %v %v", loss, v.Name, got.DType, got.Shape, v.Type.DType, want)
			}
		}
	}
}
