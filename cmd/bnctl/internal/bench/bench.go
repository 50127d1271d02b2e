package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

// Modes of measurement.
const (
	Infer = "infer" // predictions of a batch
	Train = "train" // whole steps: forward, backward, exchange and update
)

// Options are the settings of a measurement of a model.
type Options struct {
	Mode    string  // Infer or Train
	Batch   int     // number of rows of a batch, over all devices; at least 1
	Seconds float64 // time for each row of the result: more than 0, up to 3600
	// Replicas is the number of replicas that share a training batch. 0 means one replica for each device, with
	// Scaling for each device of the largest number in Scaling.
	Replicas int
	Fleet    fleet.Options     // the devices; Most is set here
	Scaling  []int             // numbers of CPU devices, with a row for each, in place of Fleet.Devices
	Profile  bool              // also measure the time of each node, on one device
	Plan     bool              // with Profile: also how the CPU device divides its work
	Stages   stage.Spec        // how the layers are divided among devices
	Divided  func(*stage.Plan) // called with the plan of the stages; may be nil
}

// maxSeconds is the largest value of Options.Seconds.
const maxSeconds = 3600

// Check returns a *problem.Error for the first invalid option.
func (o Options) Check() error {
	switch {
	case o.Mode != Infer && o.Mode != Train:
		return problem.New("mode", strconv.Quote(o.Mode), "want infer or train", "")
	case !(o.Seconds > 0 && o.Seconds <= maxSeconds):
		return problem.New("seconds", fmt.Sprint(o.Seconds),
			fmt.Sprintf("want more than 0, up to %d", maxSeconds), "")
	case o.Batch < 1:
		return problem.New("batch", strconv.Itoa(o.Batch), "want at least 1", "")
	case o.Replicas < 0:
		return problem.New("replicas", strconv.Itoa(o.Replicas), "want at least 1", "")
	case o.Plan && !o.Profile && o.Stages.One():
		return problem.New("plan", "", "it is printed with {profile} or {stages}", "")
	case !o.Stages.One() && (o.Profile || len(o.Scaling) > 0):
		return problem.New("stages", "", "{profile} and {scaling} measure devices that have all layers", "")
	case len(o.Scaling) > 0 && o.Fleet.Devices != "":
		return problem.New("scaling", "", "give one of {scaling} and {devices}", "")
	case len(o.Scaling) > 0 && slices.Min(o.Scaling) < 1:
		return problem.New("scaling", fmt.Sprint(slices.Min(o.Scaling)), "want at least 1 device", "")
	}
	return nil
}

// Run measures m, and calls onRow with every row as soon as it is measured. If onRow returns an error, Run
// stops and returns it. The error for an invalid option is a *problem.Error.
func Run(ctx context.Context, m *models.Model, o Options, onRow func(*Row) error) error {
	if err := o.Check(); err != nil {
		return err
	}
	devices := []string{o.Fleet.Devices}
	if len(o.Scaling) > 0 {
		devices = nil
		for _, n := range o.Scaling {
			devices = append(devices, fmt.Sprintf("%dxcpu", n))
		}
		if o.Replicas == 0 {
			o.Replicas = slices.Max(o.Scaling) // so that all rows train the same recipe
		}
	}
	var first *Row
	for _, o.Fleet.Devices = range devices {
		row, err := o.measure(ctx, m)
		if err != nil {
			return err
		}
		if first == nil {
			first = row
		}
		row.Efficiency = row.Throughput / float64(row.devices) / (first.Throughput / float64(first.devices))
		if err := onRow(row); err != nil {
			return err
		}
	}
	return nil
}

// measure measures one row of the result.
func (o Options) measure(ctx context.Context, m *models.Model) (row *Row, err error) {
	o.Fleet.Most = 0
	if o.Mode == Train && o.Stages.One() {
		o.Fleet.Most = o.Replicas
	}
	f, err := fleet.Open(ctx, o.Fleet)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if n := len(f.Members); o.Profile && n > 1 {
		return nil, problem.New("profile", "", fmt.Sprintf("it looks at one device, {devices} %s are %d",
			o.Fleet.Devices, n), "")
	}
	class, _ := parallel.KernelClass(f.Members)
	row = &Row{Model: m.Architecture, Device: o.Fleet.Devices, Mode: o.Mode, Batch: o.Batch,
		Threads: f.Threads(), Precision: f.Precision(), Kernels: class, devices: len(f.Members)}
	row.Precision = precisionOf(m.Graph.Main, row.Precision)
	members, watch := f.Members, newProfiler()
	if o.Profile {
		members = watch.members(f.Members)
	}
	o.Stages.BF16 = f.Precision() == device.BF16
	work, err := o.start(ctx, m, members)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	step := func() error {
		timing, err := work.Step(ctx)
		row.add(timing)
		return err
	}
	if err := row.time(o.Seconds, watch, step); err != nil {
		return nil, err
	}
	row.PeakRSS = peakMemory(f.Members)
	if o.Profile {
		row.Profile, err = newProfile(f, watch, o.Fleet.Kernels)
	}
	if o.Plan && o.Profile && err == nil {
		err = row.Profile.plan(ctx, f, watch)
	}
	return row, err
}

// workload is the step that a measurement repeats on devices.
type workload interface {
	Step(ctx context.Context) (parallel.Timing, error)
	Close() error
}

// start loads the model on devices, and returns the step that o measures.
func (o Options) start(ctx context.Context, m *models.Model, members []parallel.Member) (workload, error) {
	if o.Mode == Infer {
		return startInference(ctx, m, members, o.Batch, o.Stages, o.Divided)
	}
	r := recipe.Default(m.Architecture)
	r.Batch, r.Replicas, r.Epochs, r.Steps, r.Data = o.Batch, o.Replicas, 0, 1, recipe.Data{Samples: o.Batch}
	r.LR, r.Schedule = 1e-3, "constant"
	if r.Replicas == 0 {
		r.Replicas = len(members)
	}
	if r.Batch < r.Replicas {
		return nil, problem.New("batch", strconv.Itoa(r.Batch),
			"smaller than the "+problem.Plural(r.Replicas, "replica"), "use a larger {batch}")
	}
	return StartTraining(ctx, r, m, members, o.Stages, o.Divided)
}

// warmUp is the number of steps that are not measured, at the beginning.
const warmUp = 2

// time repeats step for some seconds, and stores the times of the steps in the row.
func (r *Row) time(seconds float64, watch *profiler, step func() error) error {
	for range warmUp {
		if err := step(); err != nil {
			return err
		}
	}
	watch.reset()
	limit := time.Duration(seconds * float64(time.Second))
	var took []time.Duration
	began := time.Now()
	for len(took) == 0 || time.Since(began) < limit {
		before := time.Now()
		if err := step(); err != nil {
			return err
		}
		took = append(took, time.Since(before))
	}
	elapsed := time.Since(began)
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	r.Throughput = float64(r.Batch*len(took)) / elapsed.Seconds()
	r.P50, r.P99 = ms(took[len(took)/2]), ms(took[len(took)*99/100])
	return nil
}
