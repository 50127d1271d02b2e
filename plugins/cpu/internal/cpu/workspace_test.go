package cpu

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// No worker uses more memory than WorkerBytes, with one row and with many. BNCTL_WORKSPACE names other networks.
func TestWorkerBytes(t *testing.T) {
	names := "lenet-bn resnet20 unet-bn squeezenet1-1"
	if other := os.Getenv("BNCTL_WORKSPACE"); other != "" {
		names = other
	}
	for _, name := range strings.Fields(names) {
		o := models.Options{Input: models.Size{Height: 48, Width: 48, Channels: 3}}
		if name == "lenet-bn" {
			o = models.Options{}
		}
		m, err := models.Build(name, o)
		if err == nil {
			err = models.Init(m, 1)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, kernels := range []string{"fma", "generic"} {
			if kernels == "generic" && name != "lenet-bn" { // generic kernels need less memory, and are slow
				continue
			}
			used, bound := workspaceOf(t, m, kernels)
			t.Logf("%-16s %-8s %7d KiB of %7d", name, kernels, used>>10, bound>>10)
			if used > bound {
				t.Errorf("%s, %s: a worker uses %d bytes, more than %d", name, kernels, used, bound)
			}
		}
	}
}

// workspaceOf returns the memory of the worker that uses most, after predictions of 1 and of 20 rows, and
// the upper bound.
func workspaceOf(t *testing.T, m *models.Model, kernels string) (used, bound int64) {
	for _, threads := range []int{1, 3} {
		b, err := open("", device.Options{Threads: threads, Kernels: kernels}, true)
		if err != nil {
			t.Fatal(err)
		}
		p, err := spmd.PredictProgram(m.Graph)
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.load(p, device.Capacity{Rows: 32, Replicas: 1})
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range m.State {
			if err := r.Write(name, value); err != nil {
				t.Fatal(err)
			}
		}
		for _, rows := range []int{1, 20} {
			x := tensor.New(tensor.U8, append([]int{rows}, m.Input().Shape...)...)
			if _, err := r.Run(context.Background(), lifecycle.Step{Step: device.Step{
				Function: graph.Predict, Rows: []int{rows}, Inputs: []tensor.Tensor{x}}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range b.machine.Pool.Workers {
			used = max(used, int64(w.MemoryBytes()))
		}
		bound = WorkerBytes(p)
		r.Close()
		_ = b.Close()
	}
	return used, bound
}
