package train

import (
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
)

// A trained tensor needs three times its size, with the gradient and the state of sgd. Other tensors need
// their size once.
func TestMemoryOf(t *testing.T) {
	m, err := models.Build("lenet-bn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := int64(0)
	for _, s := range m.Graph.State {
		n := int64(tensor.Count(s.Shape)) * 4
		if state += n; s.Role.Trained() {
			state += 2 * n
		}
	}
	one, err := MemoryOf("lenet-bn", models.Size{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	four, err := MemoryOf("lenet-bn", models.Size{Height: 28, Width: 28}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if one.State != state || four.State != state || four.Activations != 4*one.Activations ||
		four.Recomputed != 4*one.Recomputed || one.Batch != 1 || four.Batch != 4 || one.Input != four.Input {
		t.Errorf("%+v and %+v, want a state of %d", *one, *four, state)
	}
	if one.Recomputed <= 0 || one.Recomputed > one.Activations {
		t.Errorf("%+v", *one)
	}
	wide, err := MemoryOf("unet-bn", models.Size{Height: 32, Width: 64}, 1)
	if err != nil {
		t.Fatal(err)
	}
	high, err := MemoryOf("unet-bn", models.Size{Height: 64, Width: 32}, 1)
	if err != nil || wide.Activations != high.Activations || wide.Input == high.Input {
		t.Errorf("%+v and %+v, %v", *wide, *high, err)
	}
	for _, c := range []struct {
		name        string
		side, batch int
		want        string
	}{{"lenet", 0, 1, "lenet"}, {"unet-bn", 32, 0, "batch"}, {"unet-bn", 1, 1, ""}} {
		need, err := MemoryOf(c.name, models.Size{Height: c.side, Width: c.side}, c.batch)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %+v, %v", c, need, err)
		}
	}
}

// Memory is tight if some device has less than its share of a batch needs. A device with
// unknown free memory is not tight.
func TestTight(t *testing.T) {
	b := newBench(t, 24)
	p, err := newPlan(&b.recipe, b.model(), b.config(1))
	if err != nil {
		t.Fatal(err)
	}
	row := int64(p.program.Function(graph.Train).ActivationBytes())
	state := stateBytes(p.program.State)
	for _, c := range []struct {
		free  []int64
		tight bool
	}{
		{nil, false}, {[]int64{0}, false}, {[]int64{1}, true}, {[]int64{state + 16*row}, false},
		{[]int64{state + 16*row - 1}, true},
		{[]int64{0, state + 8*row}, false}, {[]int64{0, state + 8*row - 1}, true},
		{[]int64{0, 0, state + 6*row}, false}, {[]int64{0, 0, state + 6*row - 1}, true},
	} {
		var devices []parallel.Member
		for _, free := range c.free {
			devices = append(devices,
				parallel.Member{Device: described{info: device.Info{MemoryFree: free}}})
		}
		if got := p.tight(devices); got != c.tight {
			t.Errorf("free %v, %d a row, state %d: %v", c.free, row, state, got)
		}
	}
	half := []parallel.Member{{Device: described{info: device.Info{MemoryFree: state + 8*row}}}}
	p.config.Peers = fabric.New(inprocess.New(2)[0], time.Second)
	if p.tight(half) {
		t.Error("half a batch, and the other rank has the other half: tight")
	}
	p.config.Peers = nil
	for want, same := range map[string]bool{"": true, "auto": true, "none": true, "all": false} {
		p.config.Recompute = want
		if got, err := p.loaded(false); err != nil || (got == p.program) != same {
			t.Errorf("recompute %q: the program is the same: %v, %v", want, got == p.program, err)
		}
	}
	p.config.Recompute = "x"
	if _, err := p.loaded(false); err == nil {
		t.Error("recompute x was taken")
	}
	tight := p.tight([]parallel.Member{{Device: described{info: device.Info{MemoryFree: 1}}}})
	for want, same := range map[string]bool{"": false, "auto": false, "none": true} {
		p.config.Recompute = want
		if got, err := p.loaded(tight); err != nil || (got == p.program) != same {
			t.Errorf("recompute %q, tight memory: the program is the same: %v, %v", want, got == p.program, err)
		}
	}
}

// described is a device that only has a description.
type described struct {
	device.Device
	info device.Info
}

func (d described) Info() device.Info { return d.info }
