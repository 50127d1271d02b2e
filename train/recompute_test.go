package train

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/cpu"
)

// recomputed trains the network g for two steps, with and without recomputation.
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

// The planned activations with recomputation are at most half of the planned activations without it. This
// also holds for the plan of the cpu device.
func TestRecomputeHalvesActivations(t *testing.T) {
	for _, name := range []string{"unet-bn", "fcn-resnet50", "deeplabv3-resnet50"} {
		g := &golden{model: name, classes: 6, side: 64}
		p, err := sgdProgram(g.template(t).Graph)
		if err != nil {
			t.Fatal(err)
		}
		less, err := recomputing(p, device.F32)
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

// scarce is a device with a number of free bytes, which notes the length of the
// training function that it loads.
type scarce struct {
	device.Device
	free int64
	mu   *sync.Mutex
	long *[]int
}

func (d scarce) Info() device.Info {
	i := d.Device.Info()
	i.MemoryFree = d.free
	return i
}

func (d scarce) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	if f := p.Function(graph.Train); f != nil {
		d.mu.Lock()
		*d.long = append(*d.long, len(f.Nodes))
		d.mu.Unlock()
	}
	return d.Device.Load(ctx, p, c)
}

// With --recompute auto a run, alone or over ranks, recomputes exactly if one of its devices has too
// little free memory. Its template is the same.
func TestRecomputeWhereMemoryIsShort(t *testing.T) {
	const ample, few = 1 << 40, 1000
	b := newBench(t, 42)
	b.recipe.Model, b.recipe.Batch, b.recipe.Replicas = "deep", 16, 8
	want := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
	run := func(recompute string, free ...int64) int {
		t.Helper()
		var mu sync.Mutex
		var long []int
		with := func(rank int, c *Config) {
			c.Recompute = recompute
			for i, m := range c.Devices {
				c.Devices[i] = parallel.Member{Name: m.Name, Device: scarce{m.Device, free[rank+i], &mu, &long}}
			}
		}
		c := b.config(len(free))
		with(0, &c)
		if got := b.template(New(context.Background(), &b.recipe, b.model(), c)); got != want {
			t.Errorf("%q, %v free: template %s, want %s", recompute, free, got, want)
		}
		ranks := slices.Repeat([]int{1}, len(free))
		got, err := b.trainOn(ranks, with)
		if err != nil || !slices.Equal(got.sums, slices.Repeat([]string{want}, len(free))) {
			t.Errorf("%q, ranks with %v free: templates %v, want %s, %v", recompute, free, got.sums, want, err)
		}
		if long = slices.Compact(long); len(long) != 1 {
			t.Errorf("%q, %v free: training functions of %v nodes", recompute, free, long)
		}
		return long[0]
	}
	none, all := run("none", few, few), run("all", ample, ample)
	if none >= all {
		t.Fatalf("%d nodes without recomputation, %d with it", none, all)
	}
	for _, c := range []struct {
		free []int64
		want int
	}{{[]int64{ample, ample}, none}, {[]int64{0, 0}, none}, {[]int64{few, ample}, all},
		{[]int64{ample, few}, all}} {
		for _, recompute := range []string{"", "auto"} {
			if got := run(recompute, c.free...); got != c.want {
				t.Errorf("%q, %v free: %d nodes, want %d", recompute, c.free, got, c.want)
			}
		}
	}
}
