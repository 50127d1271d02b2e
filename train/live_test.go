package train

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/serialize"
)

// If small replicas normalise with running statistics, the devices receive these statistics before
// every step. Otherwise nothing is written between two steps.
func TestLiveStatisticsAreWritten(t *testing.T) {
	for min, live := range map[string]bool{"running": true, "refuse": false} {
		b := newBench(t, 42)
		b.recipe.BN, b.recipe.BNMin = bn.Replica, min
		c := b.config(1)
		c.Validation = nil
		m := &mistakes{at: -1}
		c.Devices[0].Device = &mistaken{c.Devices[0].Device, m}
		b.template(New(context.Background(), &b.recipe, b.model(), c))
		calls := strings.Join(m.calls, ", ")
		within := map[bool]string{true: "Commit, Write, Run train, Commit", false: "Commit, Run train, Commit"}
		if !strings.Contains(calls, within[live]) || strings.Contains(calls, within[!live]) {
			t.Errorf("bn-min %s: %s", min, calls)
		}
	}
}

// astray is a device with a training loss that is not finite.
type astray struct {
	device.Device
	loss float64
}

func (d *astray) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := d.Device.Load(ctx, p, c)
	return &astrayExe{exe, d.loss}, err
}

type astrayExe struct {
	device.Executable
	loss float64
}

func (e *astrayExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	out, err := e.Executable.Run(ctx, s)
	if s.Function == graph.Train && err == nil {
		out.Outputs[0].F64()[0] = e.loss
	}
	return out, err
}

// A loss that is infinite or NaN ends the run before the commit.
func TestLossThatIsNoNumber(t *testing.T) {
	for _, loss := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		b := newBench(t, 24)
		c := b.config(1)
		c.Devices[0].Device = &astray{c.Devices[0].Device, loss}
		s, err := New(context.Background(), &b.recipe, b.model(), c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), "step 1: the loss is") || s.trainer.driver.Version() != 0 {
			t.Errorf("loss %v: %v, version %d", loss, err, s.trainer.driver.Version())
		}
		s.Close()
	}
}

// A late gradient that is not finite ends the run at once, before the gradient waits.
func TestLateGradientThatIsNoNumber(t *testing.T) {
	b := newBench(t, 24)
	b.recipe.BN, b.recipe.WeightSync = bn.Replica, "async:2"
	c := b.config(1)
	const afterMoments = 4 // the outputs loss, hits and the moments of two batch norms come first
	c.Devices[0].Device = &poisoner{Device: c.Devices[0].Device, function: graph.Train, first: 1,
		output: afterMoments, row: 1, value: math.NaN()}
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background()); !errors.Is(err, device.NonFinite) ||
		s.trainer.driver.Version() != 0 {
		t.Errorf("%v, version %d", err, s.trainer.driver.Version())
	}
}

// A checkpoint in the middle of an epoch has the statistics that Strip uses for its template.
func TestCheckpointHasItsStatistics(t *testing.T) {
	k := newBench(t, 42).stopped(1)()
	running := k.Set(serialize.SetRunning)
	if running == nil || len(running.Tensors) != 4 {
		t.Fatalf("sets %v", k.Sets)
	}
	if name := differing(running.Tensors, k.State); name != "" {
		t.Errorf("%s of the state is not that of the statistics", name)
	}
}
