package remote_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
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
	wrapped, errWrap := parallel.Wrap(m.Graph, parallel.Options{Replicas: replicas, BN: bn.Sync})
	var trained []string
	for _, s := range m.Graph.State {
		if s.Role.Trained() {
			trained = append(trained, s.Name)
		}
	}
	train, errTrain := parallel.TrainFunction(wrapped, parallel.Loss{Trained: trained})
	predict, errPredict := parallel.PredictFunction(m.Graph)
	if err := errors.Join(errWrap, errTrain, errPredict, models.Init(m, 1)); err != nil {
		t.Fatal(err)
	}
	return m, &graph.Program{Name: m.Graph.Name, State: m.Graph.State,
		Functions: []*graph.Function{train, predict}}
}

// BenchmarkPredict is resnet20 on a CPU device of one thread, in this process
// and in a plugin process: the difference is what the border costs.
func BenchmarkPredict(b *testing.B) {
	m, p := resnet20(b, 1)
	for _, batch := range []struct {
		name string
		rows int
	}{{"batch1", 1}, {"batch32", 32}} {
		near, err := cpu.Provider{}.Open(context.Background(), device.DefaultID, device.Options{Threads: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { near.Close() })
		far, err := start(b, "cpu").Open(context.Background(), device.DefaultID, device.Options{Threads: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { far.Close() })
		x := tensor.New(tensor.U8, batch.rows, 32, 32, 3)
		for _, d := range []struct {
			name string
			device.Device
		}{{"process", near}, {"plugin", far}} {
			exe := loadModel(b, d, m, p)
			b.Run(batch.name+"/"+d.name, func(b *testing.B) {
				for b.Loop() {
					s := device.Step{Function: graph.Predict, Rows: []int{batch.rows}, Inputs: []tensor.Tensor{x}}
					if _, err := exe.Run(context.Background(), s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
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

// BenchmarkRecovery trains resnet20 at batch 64 on two CPU devices, one of
// which is killed in a step: how long until the run knows, and until the step
// is done by the other alone, beside what such a step takes anyway.
func BenchmarkRecovery(b *testing.B) {
	m, p := resnet20(b, 8)
	ctx, plugin := context.Background(), start(b, "cpu")
	var noticed, redone, alone time.Duration
	for b.Loop() {
		var killed, lost time.Time
		c := parallel.Config{Replicas: 8, Batch: 64, Rendezvous: remote.Rendezvous{},
			Lost: func(parallel.LossEvent) { lost = time.Now() }}
		first, second := open(b, plugin), open(b, plugin)
		d, err := parallel.Open(ctx, p, m.State, []parallel.Member{{Name: "cpu:0", Device: first},
			{Name: "cpu:1", Device: second}}, c)
		if err != nil {
			b.Fatal(err)
		}
		batch := parallel.Batch{Sizes: parallel.Split(64, 8), Inverse: 1. / 64, Rows: map[string]tensor.Tensor{
			m.Graph.Main.Values[m.Graph.Main.Inputs[0]].Name: tensor.New(tensor.U8, 64, 32, 32, 3),
			parallel.InputLabels:                             tensor.New(tensor.I32, 64)}}
		time.AfterFunc(20*time.Millisecond, func() {
			killed = time.Now()
			_ = syscall.Kill(remote.Process(second), syscall.SIGKILL)
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
