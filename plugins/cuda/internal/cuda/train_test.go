package cuda

import (
	"context"
	"os"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/internal/bitwise"
)

// TestTraining checks that lenet-bn trained on the PTX machine, or on the PTX machine and the CPU, equals
// lenet-bn trained on the CPU alone.
func TestTraining(t *testing.T) {
	run := bitwise.Run{Model: "lenet-bn", Side: 28, BN: bn.Sync, Batch: 2, Replicas: 2, Steps: 1}
	if os.Getenv("BNCTL_PTX") == "full" {
		run.Batch, run.Steps = 3, 4
	}
	trainsAlike(t, run)
}

// TestActivations checks the same as TestTraining, for a network with the activations that the zoo does not
// have.
func TestActivations(t *testing.T) {
	if os.Getenv("BNCTL_PTX") != "full" {
		t.Skip("make test-ptx trains it; each activation alone is among the cases")
	}
	trainsAlike(t, bitwise.Run{Model: bitwise.Activations, BN: bn.Sync, Batch: 2, Replicas: 2, Steps: 2})
}

// trainsAlike fails the test if training on the PTX machine results in other weights than training on the
// CPU.
func trainsAlike(t *testing.T, run bitwise.Run) {
	t.Helper()
	ctx := context.Background()
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

// TestPredictions checks that networks of hard_swish, silu and squeeze and excitation predict the same on
// the PTX machine and on the CPU, for pictures of 32x32.
func TestPredictions(t *testing.T) {
	if os.Getenv("BNCTL_PTX") != "full" {
		t.Skip("make test-ptx has them; what they are made of is among the cases")
	}
	ctx := context.Background()
	cpu, err := bitwise.CPU(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	for _, name := range []string{"mobilenetv3-small", "mobilenetv3-large", "efficientnet-b0"} {
		p, err := bitwise.Model(name, 32)
		if err == nil {
			err = bitwise.Compare(ctx, cpu, openMachine(t), p, []int{1}, bitwise.Normal)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
