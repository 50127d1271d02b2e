package gpu_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/internal/bitwise"
	"github.com/bnctl/bnctl/tensor"
)

// null is a driver without hardware that does nothing. It counts its calls, and launches in recordings too.
type null struct {
	records  bool
	buffers  gpu.Buffer
	recorded []int // number of launches of each recording
	launches int
	calls    int
	bytes    int // that were copied to or from the host
}

func (d *null) Alloc(int) (gpu.Buffer, error) {
	d.buffers++
	return d.buffers, nil
}

func (d *null) Free(gpu.Buffer) error { return nil }

func (d *null) Write(_ gpu.Buffer, _ int, data []byte) error {
	d.calls++
	d.bytes += len(data)
	return nil
}

func (d *null) Read(list ...gpu.Transfer) func() error {
	for _, t := range list {
		d.calls++
		d.bytes += len(t.Data)
	}
	return func() error { return nil }
}

func (d *null) Copy(gpu.Buffer, gpu.Buffer, int) error {
	d.calls++
	return nil
}

func (d *null) Launch(string, [2]int, []any) error {
	d.calls++
	d.launches++
	return nil
}

func (*null) Has(string) bool { return true }

func (d *null) Record(launches []gpu.Launch, ran int) (gpu.Recording, error) {
	if !d.records || ran == 0 {
		return 0, nil
	}
	d.recorded = append(d.recorded, len(launches))
	return gpu.Recording(len(d.recorded)), nil
}

func (d *null) Replay(r gpu.Recording) error {
	d.calls++
	d.launches += d.recorded[r-1]
	return nil
}

func (*null) Forget(gpu.Recording) error { return nil }

func (d *null) Wait() error {
	d.calls++
	return nil
}

func (*null) Mark() (gpu.Mark, error) { return 0, nil }

func (*null) Times(marks []gpu.Mark) ([]time.Duration, error) {
	return make([]time.Duration, len(marks)-1), nil
}

func (*null) Close() error { return nil }

var nothing = device.Info{ID: "0", Name: "null", MemoryTotal: 1 << 40}

// BenchmarkHostStep measures the host's part of training steps and of predictions: all that package gpu does
// in a step besides the driver's work. Package parallel's part is included in training steps.
func BenchmarkHostStep(b *testing.B) {
	for _, records := range []bool{false, true} {
		for _, c := range []bitwise.Run{
			{Model: "resnet50", Side: 224, Batch: 64}, {Model: "resnet50", Side: 64, Batch: 64},
			{Model: "mobilenetv2", Side: 224, Batch: 1},
		} {
			name := fmt.Sprintf("%s %dx%d/batch %d/recorded %t", c.Model, c.Side, c.Side, c.Batch, records)
			b.Run("train "+name, func(b *testing.B) { hostStep(b, &null{records: records}, c) })
			b.Run("infer "+name, func(b *testing.B) { hostPrediction(b, &null{records: records}, c) })
		}
	}
}

// report measures step and reports its time, its launches, the time for each launch, and the driver's calls.
func report(b *testing.B, d *null, step func() error) {
	b.ReportAllocs()
	for range 3 { // plans are made, and recorded
		if err := step(); err != nil {
			b.Fatal(err)
		}
	}
	d.launches, d.calls, d.bytes = 0, 0, 0
	n, began := 0, time.Now()
	for ; b.Loop(); n++ {
		if err := step(); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	b.ReportMetric(float64(d.launches)/float64(n), "launches/op")
	b.ReportMetric(float64(d.calls)/float64(n), "calls/op")
	b.ReportMetric(took.Seconds()*1e6/float64(d.launches), "us/launch")
}

func hostStep(b *testing.B, d *null, c bitwise.Run) {
	ctx := context.Background()
	c.BN, c.Replicas = bn.Sync, 1
	p, m, err := c.Program()
	if err != nil {
		b.Fatal(err)
	}
	members := []parallel.Member{{Name: "0", Device: gpu.New(nothing, d)}}
	driver, err := parallel.Open(ctx, p, m.State, members, parallel.Config{Replicas: 1, Batch: c.Batch})
	if err != nil {
		b.Fatal(err)
	}
	defer driver.Close()
	batch := parallel.Batch{Rows: map[string]tensor.Tensor{}, Inverse: 1 / float32(c.Batch),
		Sizes: parallel.Keep.Slice(c.Batch, c.Batch, 1).Sizes}
	fn := p.Function(graph.Train)
	for _, id := range fn.Inputs {
		if v := fn.Values[id]; v.Type.Kind == graph.Rows {
			batch.Rows[v.Name] = tensor.New(v.Type.DType, v.Type.Sized(c.Batch, 1)...)
		}
	}
	report(b, d, func() error {
		if _, err := driver.Step(ctx, batch); err != nil {
			return err
		}
		return driver.Commit(ctx, device.Hyper{"lr": 0.1})
	})
}

func hostPrediction(b *testing.B, d *null, c bitwise.Run) {
	p, err := bitwise.Model(c.Model, c.Side)
	if err != nil {
		b.Fatal(err)
	}
	run, end, err := bitwise.Repeated(context.Background(), gpu.New(nothing, d), p, c.Batch)
	if err != nil {
		b.Fatal(err)
	}
	defer end()
	report(b, d, run)
}
