package remote_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/tensor"
)

// resnet20 returns the model with its state and a program that trains and predicts.
func resnet20(t testing.TB, replicas int) (*models.Model, *graph.Program) {
	t.Helper()
	m, err := models.Build("resnet20", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wrapped, errWrap := spmd.Wrap(m.Graph, spmd.Options{Replicas: replicas, BN: bn.Sync})
	var trained []string
	for _, s := range m.Graph.State {
		if s.Role.Trained() {
			trained = append(trained, s.Name)
		}
	}
	train, errTrain := spmd.TrainFunction(wrapped, spmd.Training{Trained: trained})
	predict, errPredict := spmd.PredictFunction(m.Graph)
	if err := errors.Join(errWrap, errTrain, errPredict, models.Init(m, 1)); err != nil {
		t.Fatal(err)
	}
	return m, &graph.Program{Name: m.Graph.Name, State: m.Graph.State,
		Functions: []*graph.Function{train, predict}}
}

// BenchmarkPredict runs resnet20 on a CPU device with one thread, alternately in this process and
// in a plugin process. It reports the two medians, their difference, and the part of the difference
// that is spent outside of the device.
func BenchmarkPredict(b *testing.B) {
	m, p := resnet20(b, 1)
	for _, rows := range []int{1, 32} {
		b.Run(fmt.Sprint("batch", rows), func(b *testing.B) {
			near, errNear := cpu.Provider{}.Open(context.Background(), device.DefaultID, device.Options{Threads: 1})
			far, errFar := start(b, "cpu").Open(context.Background(), device.DefaultID, device.Options{Threads: 1})
			if err := errors.Join(errNear, errFar); err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = errors.Join(near.Close(), far.Close()) })
			process, plugin := predictor{exe: loadModel(b, near, m, p)}, predictor{exe: loadModel(b, far, m, p)}
			for b.Loop() {
				process.run(b, rows)
				plugin.run(b, rows)
			}
			one, other := median(process.total), median(plugin.total)
			b.ReportMetric(one, "µs-process")
			b.ReportMetric(other, "µs-plugin")
			b.ReportMetric(other-one, "µs-more")
			b.ReportMetric(100*(other/one-1), "%-more")
			b.ReportMetric(median(plugin.outside)-median(process.outside), "µs-border")
		})
	}
}

// predictor measures predictions on one device, in microseconds.
type predictor struct {
	exe            device.Executable
	total, outside []float64 // outside: without the time of the device
}

// run predicts for some time. The first predictions are not counted, because the processor has
// just run another process.
func (p *predictor) run(b *testing.B, rows int) {
	s := device.Step{Function: graph.Predict, Rows: []int{rows},
		Inputs: []tensor.Tensor{tensor.New(tensor.U8, rows, 32, 32, 3)}}
	const part = 100 * time.Millisecond
	for first := time.Now(); time.Since(first) < 5*part; {
		began := time.Now()
		out, err := p.exe.Run(context.Background(), s)
		took := time.Since(began)
		if err != nil {
			b.Fatal(err)
		}
		if began.Sub(first) > part {
			p.total = append(p.total, took.Seconds()*1e6)
			p.outside = append(p.outside, (took-out.Took).Seconds()*1e6)
		}
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func loadModel(t testing.TB, d device.Device, m *models.Model, p *graph.Program) device.Executable {
	t.Helper()
	exe, err := d.Load(context.Background(), p, device.Capacity{Rows: 32, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range m.State {
		if err := exe.Write(context.Background(), name, v); err != nil {
			t.Fatal(err)
		}
	}
	return exe
}

// BenchmarkRecovery trains resnet20 with batches of 64 on two CPU devices and kills one of them
// during a step. It measures the time until the run notices this, and until the other device has
// completed the step alone, compared with the time of a normal step.
func BenchmarkRecovery(b *testing.B) {
	m, p := resnet20(b, 8)
	ctx, plugin := context.Background(), start(b, "cpu")
	var noticed, redone, alone time.Duration
	for b.Loop() {
		var killed, lost time.Time
		c := parallel.Config{Replicas: 8, Batch: 64, Rendezvous: remote.Rendezvous{},
			Lost: func(parallel.LostDevice) { lost = time.Now() }}
		first, second := open(b, plugin), open(b, plugin)
		d, err := parallel.Open(ctx, p, m.State, []parallel.Member{{Name: "cpu:0", Device: first},
			{Name: "cpu:1", Device: second}}, c)
		if err != nil {
			b.Fatal(err)
		}
		batch := parallel.Batch{Sizes: parallel.Split(64, 8), Inverse: 1. / 64, Rows: map[string]tensor.Tensor{
			m.Graph.Main.Values[m.Graph.Main.Inputs[0]].Name: tensor.New(tensor.U8, 64, 32, 32, 3),
			losses.InputLabels: tensor.New(tensor.I32, 64)}}
		time.AfterFunc(20*time.Millisecond, func() {
			killed = time.Now()
			_ = syscall.Kill(second.Info().Process, syscall.SIGKILL)
		})
		if _, err := d.Step(ctx, batch); err != nil {
			b.Fatal(err)
		}
		done := time.Now()
		if _, err := d.Step(ctx, batch); err != nil {
			b.Fatal(err)
		}
		alone += time.Since(done)
		noticed, redone = noticed+lost.Sub(killed), redone+done.Sub(lost)
		if err := errors.Join(d.Close(), first.Close(), second.Close()); err != nil {
			b.Fatal(err)
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(ms(noticed), "ms-to-notice")
	b.ReportMetric(ms(redone), "ms-to-redo")
	b.ReportMetric(ms(alone), "ms-step-alone")
}
