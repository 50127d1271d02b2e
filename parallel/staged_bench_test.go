package parallel_test

import (
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
)

// BenchmarkStagedStep measures steps with their commits, and predictions, over three stages.
func BenchmarkStagedStep(b *testing.B) {
	m, p := trainedModel(b, stagedText, bn.Replica)
	d, err := parallel.OpenStaged(b.Context(), m.Graph, p, stage.Spec{Number: 3}, m.State, refs(6),
		parallel.Config{Replicas: 4, Batch: 8})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	batch := stagedBatch(p, []int{2, 2, 2, 2}, 1)
	b.Run("train", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.Step(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
			if err := d.Commit(b.Context(), device.Hyper{"lr": 0.001}); err != nil {
				b.Fatal(err)
			}
		}
	})
	x := tensor.New(tensor.F32, 8, 2, 5, 5)
	b.Run("predict", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.Predict(b.Context(), x); err != nil {
				b.Fatal(err)
			}
		}
	})
}
