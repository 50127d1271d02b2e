package ref_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// replaced returns an opener of a device that computes some operations with kernels, and the rest with the
// reference's loops.
func replaced(kernels map[graph.Op]ref.Kernel) devicetest.Opener {
	p := lifecycle.Provider{Plugin: device.Plugin{Name: "mine", Version: "1"},
		Info: device.Info{Kernels: "mine", Ops: ref.Ops(), Features: ref.Features(),
			Precisions: device.Precisions()},
		Start: func(_ context.Context, o device.Options) (lifecycle.Backend, error) {
			return replacing{o.Precision, kernels}, nil
		}}
	return func(ctx context.Context, precision string) (device.Device, error) {
		return p.Open(ctx, device.DefaultID, device.Options{Precision: precision})
	}
}

type replacing struct {
	precision string
	kernels   map[graph.Op]ref.Kernel
}

func (b replacing) Load(p *graph.Program, _ device.Capacity) (lifecycle.Runner, error) {
	x, err := ref.Load(p, b.precision)
	if err != nil {
		return nil, err
	}
	for op, k := range b.kernels {
		x.Replace(op, k)
	}
	return lifecycle.NewHostRunner(p, x.Run), nil
}

// about returns some conformance cases with names that begin with text.
func about(text string) []devicetest.Case {
	all := slices.DeleteFunc(devicetest.Cases(), func(c devicetest.Case) bool {
		return !strings.HasPrefix(c.Name, text)
	})
	return all[:min(len(all), 5)]
}

// relu returns a kernel as an author would write it. sum counts its calls.
func relu(sum *int) ref.Kernel {
	return func(c *ref.Call) (bool, error) {
		*sum++
		for i, v := range c.In[0].F32() {
			c.Out[0].F32()[i] = max(v, 0)
		}
		return true, nil
	}
}

// TestReplace checks that conformance cases accept a correct kernel and find a wrong one, and that
// the reference's loop is used if the kernel returns false.
func TestReplace(t *testing.T) {
	calls := 0
	right := map[graph.Op]ref.Kernel{graph.Relu: relu(&calls),
		graph.Dense: func(*ref.Call) (bool, error) { return false, nil }}
	wrong := map[graph.Op]ref.Kernel{graph.Relu: func(c *ref.Call) (bool, error) {
		copy(c.Out[0].F32(), c.In[0].F32())
		return true, nil
	}}
	reshaping := map[graph.Op]ref.Kernel{graph.Relu: func(c *ref.Call) (bool, error) {
		c.Out[0] = tensor.New(tensor.F32, 1)
		return true, nil
	}}
	failing := map[graph.Op]ref.Kernel{graph.Relu: func(*ref.Call) (bool, error) {
		return true, errors.New("no kernel")
	}}
	for name, c := range map[string]struct {
		kernels map[graph.Op]ref.Kernel
		conform bool
	}{"right": {right, true}, "wrong": {wrong, false}, "another shape": {reshaping, false},
		"an error": {failing, false}} {
		for _, cases := range []string{"relu:", "dense:"} {
			r, err := devicetest.JudgeSome(t.Context(), replaced(c.kernels), about(cases), nil)
			if err != nil {
				t.Fatal(err)
			}
			if conform := len(r.Failed()) == 0; len(r.Results) == 0 || conform != (c.conform || cases == "dense:") {
				t.Errorf("%s, %s: %d of %d cases fail", name, cases, len(r.Failed()), len(r.Results))
			}
		}
	}
	if calls == 0 {
		t.Error("the kernel was not called")
	}
}
