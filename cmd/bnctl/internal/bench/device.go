package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/problem"
)

// DeviceOptions are the settings of a measurement of one device.
type DeviceOptions struct {
	Fleet   fleet.Options     // names a single device
	Case    string            // measure only rows with this text in their name
	Seconds float64           // time for each row, up to 3600; 0: measure once
	Begin   func(name string) // called before each row is measured; may be nil
}

// DeviceRow is the result of one measurement of a device. Fields that do not apply are 0.
type DeviceRow struct {
	Device    string   `json:"device"`
	Name      string   `json:"name"`
	Threads   int      `json:"threads"` // threads of a CPU device
	Kernels   string   `json:"kernels"`
	Precision string   `json:"precision"`
	Lacks     []string `json:"lacks,omitempty"` // operations that the device does not have
	Runs      int      `json:"runs,omitempty"`
	Best      float64  `json:"best_us,omitempty"` // shortest time of one execution, in microseconds
	Median    float64  `json:"median_us,omitempty"`
	Worst     float64  `json:"worst_us,omitempty"`
	Gflops    float64  `json:"gflops,omitempty"` // 1e9 floating-point operations per second
	GBs       float64  `json:"gb_per_s,omitempty"`

	Note string `json:"note,omitempty"` // a property of the machine, in a row without figures

	// Computes reports whether the row measures operations, so that rates per second have a meaning.
	Computes bool `json:"-"`
}

// limitName is the name of the row with the highest rates of the machine.
const limitName = "limit: multiply-adds on registers; copy of memory"

// Device measures a device, and calls onRow with every row as soon as it is measured. For a CPU the first
// row has the highest rates of the machine, in registers and in memory. The next rows measure single
// operations, by the times that the device reports, an empty call, and an exchange between two devices. The
// error for an invalid option is a *problem.Error or *problem.Unknown.
func Device(ctx context.Context, o DeviceOptions, onRow func(DeviceRow)) error {
	if !(o.Seconds >= 0 && o.Seconds <= maxSeconds) {
		return problem.New("seconds", fmt.Sprint(o.Seconds), fmt.Sprintf("want 0 to %d", maxSeconds), "")
	}
	list := slices.DeleteFunc(devicetest.Benchmarks(), func(b devicetest.Benchmark) bool {
		return !strings.Contains(b.Name, o.Case)
	})
	limits := o.Fleet.Devices == "cpu" && strings.Contains(limitName, o.Case)
	if len(list) == 0 && !limits {
		return problem.New("case", strconv.Quote(o.Case), "nothing that is measured has that in its name", "")
	}
	opener, err := fleet.FindOne(ctx, o.Fleet)
	if err != nil {
		return err
	}
	defer opener.Close()
	if limits {
		row, err := limitOf(o.Fleet.Kernels, opener.Threads())
		if err != nil {
			return err
		}
		notes, err := machineOf(row)
		if err != nil {
			return err
		}
		for _, r := range append([]DeviceRow{row}, notes...) {
			onRow(r)
		}
	}
	for _, b := range list {
		if o.Begin != nil {
			o.Begin(b.Name)
		}
		if err := o.measure(ctx, opener, b, onRow); err != nil {
			return err
		}
	}
	return nil
}

// limitOf measures the highest rates of the machine.
func limitOf(kernels string, threads int) (DeviceRow, error) {
	l, err := measureLimits(kernels, threads)
	if err != nil {
		return DeviceRow{}, problem.Wrap("", err)
	}
	return DeviceRow{Device: "cpu", Name: limitName, Threads: threads, Kernels: l.Kernels, Precision: device.F32,
		Gflops: l.Flops / 1e9, GBs: l.Bytes / 1e9, Computes: true}, nil
}

// machineOf returns the rows that describe the machine, for the kernels that limits, the row with the highest
// rates, names.
func machineOf(limits DeviceRow) ([]DeviceRow, error) {
	lines, err := cpu.Describe(limits.Kernels)
	rows := make([]DeviceRow, len(lines))
	for i, line := range lines {
		rows[i] = DeviceRow{Device: limits.Device, Name: limitName, Threads: limits.Threads,
			Kernels: limits.Kernels, Precision: limits.Precision, Note: line}
	}
	return rows, err
}

// measureLimits measures the highest rates of the machine with the given kernels. "" means "auto".
func measureLimits(kernels string, threads int) (cpu.Limits, error) {
	if kernels == "" {
		kernels = "auto"
	}
	return cpu.Measure(kernels, threads)
}

// measure makes one measurement. If it needs several devices, they share the threads.
func (o DeviceOptions) measure(ctx context.Context, opener *fleet.Opener, b devicetest.Benchmark,
	onRow func(DeviceRow)) error {
	row := DeviceRow{Device: o.Fleet.Devices, Threads: opener.Threads(), Precision: opener.Precision()}
	open := func(ctx context.Context, _ string) (device.Device, error) {
		d, err := opener.Open(ctx, max(opener.Threads()/b.Devices(), 1))
		if err == nil {
			row.Kernels = d.Info().Kernels
		}
		return d, err
	}
	return devicetest.Bench(ctx, open, opener.Precision(), []devicetest.Benchmark{b},
		time.Duration(o.Seconds*float64(time.Second)), func(f devicetest.Figure) {
			row.fill(f)
			onRow(row)
		})
}

// fill stores the result of a measurement in the row.
func (r *DeviceRow) fill(f devicetest.Figure) {
	r.Name, r.Computes = f.Name, f.Computes()
	for _, op := range f.Lacks {
		r.Lacks = append(r.Lacks, op.String())
	}
	if len(r.Lacks) > 0 {
		return
	}
	us := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	r.Runs, r.Best, r.Median, r.Worst = f.Runs, us(f.Best), us(f.Median), us(f.Worst)
	if r.Computes {
		r.Gflops, r.GBs = f.FlopRate()/1e9, f.ByteRate()/1e9
	}
}
