package cuda

import (
	"context"
	"os"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/gpu/bitwise"
)

// TestTraining: lenet-bn trained on the machine, and on it beside the CPU, becomes
// what it becomes on the CPU alone.
func TestTraining(t *testing.T) {
	ctx := context.Background()
	run := bitwise.Run{Model: "lenet-bn", Side: 28, BN: bn.Sync, Batch: 2, Replicas: 2, Steps: 1}
	if os.Getenv("BNCTL_PTX") == "full" {
		run.Batch, run.Steps = 3, 4
	}
	train := func(machines int, cpus int) (members []parallel.Member) {
		for range machines {
			members = append(members, parallel.Member{Name: "machine", Device: openMachine(t)})
		}
		for range cpus {
			d, err := bitwise.CPU(ctx)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			members = append(members, parallel.Member{Name: "cpu", Device: d})
		}
		return members
	}
	want, err := run.Train(ctx, train(0, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]int{{1, 0}, {1, 1}} {
		got, err := run.Train(ctx, train(c[0], c[1]))
		if err == nil {
			err = bitwise.Differs(got, want)
		}
		if err != nil {
			t.Errorf("%d machines and %d CPUs: %v", c[0], c[1], err)
		}
	}
}
