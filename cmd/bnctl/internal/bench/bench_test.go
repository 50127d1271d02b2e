package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) {
		return
	}
	os.Exit(m.Run())
}

// small returns a network of the zoo with new weights.
func small(t *testing.T) *models.Model {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Init(m, 0); err != nil {
		t.Fatal(err)
	}
	return m
}

// rows runs a measurement and returns its rows.
func rows(t *testing.T, o Options) []*Row {
	t.Helper()
	var all []*Row
	if err := Run(t.Context(), small(t), o, func(r *Row) error {
		all = append(all, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTail: if the host computes the last nodes of a file, their time is part of a prediction, on one device
// and on several stages.
func TestTail(t *testing.T) {
	for stages := range 2 {
		m := small(t)
		var ran atomic.Int32
		m.Tail = &models.Tail{Nodes: 1, Run: func(outs []tensor.Tensor) ([]tensor.Tensor, error) {
			if ran.Add(1) > 20 {
				return nil, errors.New("enough")
			}
			return outs, nil
		}}
		o := Options{Mode: Infer, Batch: 2, Seconds: 60, Stages: stage.Spec{Number: stages + 1}}
		o.Fleet.Devices = fmt.Sprintf("%dxref", stages+1)
		err := Run(t.Context(), m, o, func(*Row) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "enough") {
			t.Errorf("%d stages: %v after %d runs", stages+1, err, ran.Load())
		}
	}
}

// All rows of training use the same recipe, with the same number of replicas as the largest number of
// devices. The speeds are relative to the first row.
func TestScaling(t *testing.T) {
	all := rows(t, Options{Mode: Train, Batch: 8, Seconds: 0.01, Scaling: []int{1, 2},
		Fleet: fleet.Options{Threads: 1}})
	if len(all) != 2 || all[0].Device != "1xcpu" || all[1].Device != "2xcpu" {
		t.Fatalf("rows %+v, want those of one and of two devices", all)
	}
	want := all[1].Throughput / 2 / all[0].Throughput
	if all[0].Efficiency != 1 || math.Abs(all[1].Efficiency-want) > 1e-12 {
		t.Errorf("efficiencies %g and %g, want 1 and %g", all[0].Efficiency, all[1].Efficiency, want)
	}
	for _, r := range all {
		if !(r.P50 > 0 && r.P50 <= r.P99 && r.Sync >= 0 && r.Sync < 1 && r.SyncMean < 1) {
			t.Errorf("%s: median %g ms, 99 of 100 within %g ms, waited %g of the time", r.Device, r.P50, r.P99,
				r.Sync)
		}
	}
}

// TestStages checks that the network is divided into stages, for predictions and for training.
func TestStages(t *testing.T) {
	for _, mode := range []string{Infer, Train} {
		stages := 0
		all := rows(t, Options{Mode: mode, Batch: 8, Replicas: 1, Seconds: 0.01, Stages: stage.Spec{Number: 2},
			Fleet: fleet.Options{Devices: "2xref"}, Divided: func(p *stage.Plan) { stages = len(p.Stages) }})
		if len(all) != 1 || !(all[0].P50 > 0) || stages != 2 {
			t.Errorf("%s: %d stages, rows %+v; want 2 stages and a row", mode, stages, all)
		}
	}
}

// A profile has every node of a function, and their sum.
func TestProfile(t *testing.T) {
	r := rows(t, Options{Mode: Infer, Batch: 4, Seconds: 0.01, Profile: true,
		Fleet: fleet.Options{Threads: 1}})[0]
	var names []string
	for _, n := range r.Profile.Nodes {
		names = append(names, n.Name)
		if product := n.Op == "conv" || n.Op == "dense"; product != (n.Algorithm != "") {
			t.Errorf("%s %s: algorithm %q", n.Op, n.Name, n.Algorithm)
		}
		if n.Function != "predict" || n.Ms < 0 || n.FlopsMs < 0 || n.BytesMs < 0 {
			t.Errorf("node %+v", n)
		}
	}
	if !slices.Contains(names, "fc1") || names[len(names)-1] != "" {
		t.Errorf("nodes %q, want fc1 among them and their sum at the end", names)
	}
	if r.Profile.Limits.Flops <= 0 || r.Profile.Limits.Source != "of the machine" {
		t.Errorf("limits %+v", r.Profile.Limits)
	}
}

// A plan, which states how the CPU device divides its work, predicts the time of every product.
func TestPlan(t *testing.T) {
	p := rows(t, Options{Mode: Infer, Batch: 4, Seconds: 0.01, Profile: true, Plan: true,
		Fleet: fleet.Options{Threads: 1}})[0].Profile
	for _, n := range p.Nodes {
		if (n.Op == "conv" || n.Op == "dense") && !(n.PlanMs > 0) {
			t.Errorf("%s should take %g ms", n.Name, n.PlanMs)
		}
	}
	if last := p.Plan[len(p.Plan)-1]; !strings.HasPrefix(last, "in the median the plan is ") {
		t.Errorf("the last line is %q", last)
	}
}

// The memory of plugins is counted, also with a profiler. The profiler does not change the devices in the
// fleet.
func TestPeakMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	f, err := fleet.Open(t.Context(), fleet.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	newProfiler().members(f.Members)
	if alone, all := peakMemory(nil), peakMemory(f.Members); !(alone > 1 && all > alone+1) {
		t.Errorf("%g MB, of which %g are this process's: the plugin is not counted", all, alone)
	}
}

// The errors for invalid options are problems that name the option.
func TestMistakes(t *testing.T) {
	ok := Options{Mode: Train, Batch: 4, Seconds: 0.01, Fleet: fleet.Options{Devices: "ref"}}
	for name, c := range map[string]struct {
		change func(*Options)
		field  string
	}{
		"mode":              {func(o *Options) { o.Mode = "both" }, "mode"},
		"no time":           {func(o *Options) { o.Seconds = 0 }, "seconds"},
		"too long":          {func(o *Options) { o.Seconds = 1e6 }, "seconds"},
		"no number":         {func(o *Options) { o.Seconds = math.NaN() }, "seconds"},
		"no rows":           {func(o *Options) { o.Batch = 0 }, "batch"},
		"fewer rows":        {func(o *Options) { o.Replicas = 8 }, "batch"},
		"negative":          {func(o *Options) { o.Replicas = -1 }, "replicas"},
		"both":              {func(o *Options) { o.Scaling = []int{1} }, "scaling"},
		"no device":         {func(o *Options) { o.Fleet.Devices, o.Scaling = "", []int{0} }, "scaling"},
		"profile of two":    {func(o *Options) { o.Fleet.Devices, o.Profile = "2xref", true }, "profile"},
		"more than replica": {func(o *Options) { o.Fleet.Devices, o.Replicas = "2xref", 1 }, "devices"},
	} {
		o := ok
		c.change(&o)
		err := Run(t.Context(), small(t), o, func(*Row) error { return nil })
		var p *problem.Error
		if !errors.As(err, &p) || p.Field != c.field {
			t.Errorf("%s: %v, want a problem with %s", name, err, c.field)
		}
	}
	for field, o := range map[string]DeviceOptions{
		"seconds": {Fleet: ok.Fleet, Seconds: -1}, "case": {Fleet: ok.Fleet, Case: "nothing"}} {
		var p *problem.Error
		if err := Device(t.Context(), o, func(DeviceRow) {}); !errors.As(err, &p) || p.Field != field {
			t.Errorf("%+v: %v, want a problem with %s", o, err, field)
		}
	}
}

// A measurement stops when its context is cancelled, and when the function each returns an error.
func TestStopped(t *testing.T) {
	o := Options{Mode: Train, Batch: 4, Seconds: 3600, Fleet: fleet.Options{Devices: "ref"}}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if err := Run(ctx, small(t), o, func(*Row) error { return nil }); err == nil {
		t.Error("a run whose context ended made a row")
	}
	o.Seconds = 0.01
	if err := Run(t.Context(), small(t), o, func(*Row) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v, want the caller's error", err)
	}
}

// silent is a device that does not report the times of its nodes.
type silent struct{ device.Device }

// If a device does not report times, there is no profile, and the error explains this.
func TestProfileOfASilentDevice(t *testing.T) {
	p := newProfiler()
	members := p.members([]parallel.Member{{Name: "a", Device: silent{}}})
	if _, ok := members[0].Device.(profiledDevice); !ok {
		t.Fatal("the device is not watched")
	}
	p.add(nil, device.Step{Rows: []int{1, 2}}, device.Outcome{})
	if _, err := newProfile(&fleet.Fleet{Members: members}, p, ""); !errors.Is(err, device.Unsupported) {
		t.Errorf("%v, want the feature that is missing", err)
	}
}

func TestDevice(t *testing.T) {
	var all []DeviceRow
	err := Device(t.Context(), DeviceOptions{Fleet: fleet.Options{Devices: "ref"}, Case: "call"},
		func(r DeviceRow) { all = append(all, r) })
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v, want one row", all, err)
	}
	r := all[0]
	if !strings.HasPrefix(r.Name, "call: ") || r.Device != "ref" || r.Runs < 1 || r.Computes || r.Gflops != 0 {
		t.Errorf("%+v, want the time of a call, without rates", r)
	}
}
