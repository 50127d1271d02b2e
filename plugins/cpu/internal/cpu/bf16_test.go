package cpu

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// openBF16 opens a device with these kernels at precision bf16.
func openBF16(t *testing.T, kernels string, threads int) device.Device {
	t.Helper()
	d, err := Provider{}.Open(context.Background(), device.DefaultID,
		device.Options{Kernels: kernels, Threads: threads, Precision: device.BF16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// Steps of training at precision bf16 have the same bits with any number of
// threads and any instruction set of a class.
func TestTrainSameBitsBF16(t *testing.T) {
	small := models.Size{Height: 32, Width: 32, Channels: 3}
	for _, c := range []struct {
		name  string
		input models.Size
	}{{"resnet20", models.Size{}}, {"resnet18", small}, {"mobilenetv2", small}} {
		t.Run(c.name, func(t *testing.T) {
			want := map[string]string{} // digest of each class
			for i, set := range kernel.Sets() {
				if set == kernel.Generic {
					continue // skipped because it is slow, and the only set of its class
				}
				for _, threads := range [][]int{{1, 3}, {2}}[min(i, 1)] {
					got := trainDigest(t, openBF16(t, set.Name, threads), c.name, c.input)
					if want[set.Class] == "" {
						want[set.Class] = got
					}
					if got != want[set.Class] {
						t.Errorf("%s, %d threads: other bits than class %s before", set.Name, threads, set.Class)
					}
				}
			}
		})
	}
}

// At precision bf16 all stored values can be represented as bfloat16, however nodes are fused, grouped and
// laid out. They have the same bits for any number of workers.
func TestRandomProgramsBF16(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 98))
		p, err := randomProgram(r, 3+r.IntN(25))
		if err != nil {
			t.Fatal(err)
		}
		rows := []int{1 + r.IntN(3), r.IntN(2), r.IntN(5)}
		var first []tensor.Tensor
		for _, threads := range []int{1, 2, 5} {
			got := evaluate(t, openBF16(t, "auto", threads), p, rows, 0, len(rows))
			if first == nil {
				first = got
			}
			for i, o := range p.Functions[0].Outputs {
				if !tensor.Equal(got[i], first[i]) {
					t.Errorf("seed %d: output %d has other bits with %d threads\n%s", seed, i, threads, p.Text())
				}
				if !device.StoredBF16(p.Functions[0].Values[o.Value].Type) {
					continue
				}
				for k, v := range got[i].F32() {
					if v == v && device.RoundBF16(v) != v {
						t.Fatalf("seed %d: output %d, element %d: %v is no bfloat16\n%s", seed, i, k, v, p.Text())
					}
				}
			}
		}
	}
}
