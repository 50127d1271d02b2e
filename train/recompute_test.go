package train

import (
	"context"
	"reflect"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu"
)

// recomputed trains the golden two steps, with and without recomputation.
func (g *golden) recomputed(t *testing.T, p device.Provider) {
	t.Helper()
	losses, state := g.run(t, p, 2)
	g.recompute = true
	again, same := g.run(t, p, 2)
	g.recompute = false
	if !reflect.DeepEqual(losses, again) || !reflect.DeepEqual(state, same) {
		t.Errorf("losses %v and %v, or states, differ", losses, again)
	}
}

// Recomputation changes no bit.
func TestRecomputeChangesNoBit(t *testing.T) {
	for _, g := range []*golden{goldenUNet, goldenResNet20, goldenAuxiliary} {
		t.Run(g.model, func(t *testing.T) { g.recomputed(t, cpu.Provider{}) })
	}
}

// Planned activations with recomputation are at most half of those without, as the
// cpu device plans them too.
func TestRecomputeHalvesActivations(t *testing.T) {
	for _, name := range []string{"unet-bn", "fcn-resnet50", "deeplabv3-resnet50"} {
		g := &golden{model: name, classes: 6, side: 64}
		p, err := sgdProgram(g.template(t).Graph)
		if err != nil {
			t.Fatal(err)
		}
		less, err := recomputing(p)
		if err != nil {
			t.Fatal(err)
		}
		was, is := p.Function(graph.Train), less.Function(graph.Train)
		planned := func(p *graph.Program) int64 {
			ctx := context.Background()
			d, err := cpu.Provider{}.Open(ctx, device.DefaultID, device.Options{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			x, err := d.Load(ctx, p, device.Capacity{Rows: 1, Replicas: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			return x.Needs().PerRow
		}
		a, b := was.ActivationBytes(), is.ActivationBytes()
		c, d := planned(p), planned(less)
		work := is.TotalCost().RowFlops / was.TotalCost().RowFlops
		t.Logf("%s: %d to %d bytes a row, on cpu %d to %d, work %.2f", g.model, a, b, c, d, work)
		if 2*b > a || 2*d > c || work > 1.4 {
			t.Errorf("%s: %d to %d bytes a row, on cpu %d to %d, work %.2f", g.model, a, b, c, d, work)
		}
	}
}
