package devicetest

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestClassCasesReachEveryAlgorithm checks that the cases of class fma use every algorithm that
// Choose returns for it, with each product that can have the algorithm.
func TestClassCasesReachEveryAlgorithm(t *testing.T) {
	reached := map[string]bool{}
	for _, p := range definedProbes() {
		program, err := p.program()
		if err != nil {
			t.Fatal(err)
		}
		f := program.Functions[0]
		if l, ok := class.LayerOf(f, &f.Nodes[0]); ok {
			reached[fmt.Sprint(l.Product, " ", class.Choose(l, device.F32, class.FMA))] = true
		}
	}
	for product, algorithms := range map[class.Product][]class.Algorithm{
		class.Forward: {class.ImplicitGEMM, class.Direct, class.Winograd2, class.Winograd4, class.Winograd5,
			class.Depthwise, class.DepthwiseRows},
		class.Backward: {class.ImplicitGEMM, class.Direct, class.Winograd2, class.Winograd4, class.Winograd5,
			class.Depthwise, class.DepthwiseRows},
		class.Weights: {class.ImplicitGEMM, class.Direct, class.Winograd4, class.Winograd5, class.Depthwise},
	} {
		for _, a := range algorithms {
			if !reached[fmt.Sprint(product, " ", a)] {
				t.Errorf("no case reaches %v of product %d", a, product)
			}
		}
	}
}

// offByOne is a device of class fma with one result that is one ulp off.
type offByOne struct{ device.Device }

func (d offByOne) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return offByOneProgram{x}, err
}

type offByOneProgram struct{ device.Executable }

func (x offByOneProgram) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	o, err := x.Executable.Run(ctx, s)
	for _, out := range o.Outputs {
		switch n := out.Count(); {
		case n == 0:
		case out.DType == tensor.F32:
			v := &out.F32()[n-1]
			switch {
			case *v == 1:
				*v = math.Nextafter32(1, 0)
			case *v != *v: // NaN has no next float32
				*v = 0
			default:
				*v = math.Nextafter32(*v, 1)
			}
		case out.DType == tensor.F64:
			v := &out.F64()[n-1]
			*v = math.Nextafter(*v, 1)
		}
	}
	return o, err
}

// TestClassCasesFindOneUlp checks that cases find a difference of one ulp in one element. It runs
// every eighth case, because the cases are slow.
func TestClassCasesFindOneUlp(t *testing.T) {
	open := func(context.Context, string) (device.Device, error) {
		d, err := ref.Provider{}.Open(t.Context(), device.DefaultID, device.Options{Kernels: class.FMA})
		return offByOne{d}, err
	}
	found := 0
	for i, c := range classCases() {
		if i%8 > 0 {
			continue
		}
		if c.Judge(t.Context(), open, device.F32).Err == nil {
			t.Errorf("%s: one ulp off is not found", c.Name)
		}
		found++
	}
	t.Logf("%d cases found it", found)
}
