package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// Options selects the devices to open and configures them. The zero value is one CPU device
// with all cores.
type Options struct {
	// Devices lists the devices, separated by commas: "cpu", "4xcpu", "cuda:0", "cuda" (all
	// of them), "auto" (all that can compute), a plugin's name.
	Devices   string
	Threads   int    // threads of each CPU device; 0: the cores, shared evenly
	Kernels   string // kernel class: "amx", "fma", "generic"; "" or "auto": the best at Precision
	Precision string // device.F32, or "", or device.BF16
	Most      int    // maximum number of devices: the number of replicas of the run; 0: no limit
	Plugins   Plugins
	// Machines returns the addresses, HOST:PORT, of machines that offer devices for the run.
	// Open calls it, and then every two seconds. Fleet.Joins delivers the devices of new
	// machines. If Devices is "" or "none", the fleet has no other devices, and Open waits for
	// the first machine. nil: no machine joins.
	Machines func(ctx context.Context) ([]string, error)
	// Peers are the ranks of the run; nil: this process is alone. With Kernels "auto" all
	// ranks open at once and use the best class that the devices of all ranks support.
	Peers *fabric.Peers
	// Note is called with messages for the user, Debug with more details. Each may be nil.
	Note, Debug func(format string, args ...any)
}

// Fleet is the opened devices of a run and their plugins.
type Fleet struct {
	// Members are the devices, in the order in which they were named. Callers may read the
	// list; only Close closes the devices.
	Members   []parallel.Member
	options   Options
	device    device.Options
	targets   map[string]target // targets of the members, by name
	failed    map[string]error  // errors of devices on other machines that failed tryVectors, by name
	mu        sync.Mutex        // guards providers and failed
	providers map[string]Provider
	visitors  *visitors // nil without Options.Machines
	closed    bool      // guarded by mu, like lent
	lent      bool      // lent to a run
}

// Open opens the devices that o names. The caller closes the fleet. After an error
// everything is closed again. The error is a *problem.Error or *problem.Unknown if o is
// invalid, the cause of ctx if ctx has ended, and otherwise the error of a device or its
// plugin.
func Open(ctx context.Context, o Options) (*Fleet, error) {
	if o.Peers != nil {
		return openAlike(ctx, o)
	}
	return openAlone(ctx, o)
}

func openAlone(ctx context.Context, o Options) (*Fleet, error) {
	f, specs, err := prepare(o)
	if err != nil {
		return nil, err
	}
	err = f.open(ctx, specs)
	if err == nil && o.Machines != nil {
		err = f.receive(ctx)
	}
	if err != nil {
		if ctx.Err() != nil { // not the error of a stopped plugin
			err = context.Cause(ctx)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// prepare returns a fleet without devices.
func prepare(o Options) (*Fleet, []spec, error) {
	specs, err := o.specs()
	if err != nil {
		return nil, nil, err
	}
	precision, err := device.ParsePrecision(o.Precision)
	if err != nil {
		return nil, nil, problem.Wrap("precision", err)
	}
	if err := needed(o, specs); err != nil {
		return nil, nil, err
	}
	return &Fleet{options: o, device: device.Options{Kernels: o.Kernels, Precision: precision},
		providers: map[string]Provider{}, targets: map[string]target{},
		failed: map[string]error{}}, specs, nil
}

// specs parses Options.Devices.
func (o *Options) specs() ([]spec, error) {
	switch {
	case o.Machines != nil && o.Peers != nil:
		return nil, problem.New("devices", o.Devices, "machines join one process, not several ranks",
			"leave the list of machines out, or run without a launcher")
	case o.Machines != nil && (o.Devices == "" || o.Devices == "none"):
		o.Devices = "none"
		return nil, nil
	case o.Devices == "":
		o.Devices = "cpu"
	}
	return parse(o.Devices)
}

// receive opens the devices of machines that come and go, and watches for more.
func (f *Fleet) receive(ctx context.Context) error {
	f.visitors = newVisitors(f)
	if err := f.visitors.enter(ctx); err != nil {
		return err
	}
	f.visitors.watch()
	return nil
}

// wait is the time that Open waits for a machine.
func (o *Options) wait() time.Duration { return cmp.Or(o.Plugins.Timeout, 30*time.Second) }

// Joins delivers the devices of machines that appear, for a run that has the fleet. The run closes
// them. It is nil if no machine comes or goes.
func (f *Fleet) Joins() <-chan parallel.Member {
	if f.visitors == nil {
		return nil
	}
	return f.visitors.joins
}

// needed rejects plugins that are not used by any of the devices.
func needed(o Options, specs []spec) error {
	for _, path := range o.Plugins.Paths {
		name := remote.PluginName(path)
		if !slices.ContainsFunc(specs, func(s spec) bool { return s.name == name || s.name == "auto" }) {
			return problem.New("device-plugin", path, fmt.Sprintf("no device of %q is asked for", name),
				"name it among the devices, or leave the plugin out")
		}
	}
	return nil
}

func (f *Fleet) open(ctx context.Context, specs []spec) error {
	o := f.options
	targets, err := f.resolve(ctx, specs)
	if err != nil {
		return err
	}
	if o.Devices == "auto" && o.Most != 0 {
		targets = targets[:min(o.Most, len(targets))]
	}
	if len(targets) > o.Most && o.Most != 0 {
		return problem.New("devices", o.Devices,
			fmt.Sprintf("%s for %s", problem.Plural(len(targets), "device"), problem.Plural(o.Most, "replica")),
			"use "+problem.Plural(len(targets), "replica")+" or fewer devices")
	}
	for _, t := range targets {
		if err := t.info.CheckPrecision(f.device.Precision); err != nil {
			return err
		}
	}
	if err := f.divideThreads(targets); err != nil {
		return err
	}
	f.device.Kernels = commonClass(f.device.Kernels, f.device.Precision, targets)
	f.mentionGPUs(targets)
	for _, t := range targets {
		name := f.name(t)
		f.targets[name] = t
		var d device.Device
		err := f.persist(ctx, name, func() (err error) {
			d, err = f.Reopen(ctx, name)
			return err
		})
		if errors.Is(err, device.Invalid) { // the device does not know the kernel class
			return problem.Wrap("", err)
		}
		if err != nil {
			return err
		}
		f.Members = append(f.Members, parallel.Member{Name: name, Device: d,
			Foreign: !slices.Contains(builtIn, t.plugin)})
	}
	return nil
}

// openTries is the maximum number of attempts to open a device that dies while it is being
// opened. The run does not start without the device, since the user requested it.
const openTries = 5

// persist calls open, which starts or opens the named device or plugin, and repeats the
// call if the process dies meanwhile.
func (f *Fleet) persist(ctx context.Context, name string, open func() error) error {
	for try := 1; ; try++ {
		err := open()
		if !errors.Is(err, device.Lost) || try == openTries || ctx.Err() != nil {
			return err
		}
		f.note("%s is started again: %v", name, err)
		time.Sleep(time.Duration(try) * 50 * time.Millisecond)
	}
}

// divideThreads sets the number of threads of each CPU device.
func (f *Fleet) divideThreads(targets []target) (err error) {
	cpus := 0
	for _, t := range targets {
		if t.plugin == "cpu" {
			cpus++
		}
	}
	if f.device.Threads, err = threadsFor(f.options.Threads, cpus); err != nil {
		return err
	}
	if all := f.device.Threads * cpus; all > runtime.NumCPU() {
		f.note("%s of %s on %s: they will wait for each other", problem.Plural(cpus, "CPU device"),
			problem.Plural(f.device.Threads, "thread"), problem.Plural(runtime.NumCPU(), "logical CPU"))
	}
	return nil
}

// Reopen opens a lost device again in a new process, by the name of its member. It may be
// called from several goroutines. The caller closes the device. The error is a
// *problem.Error if the fleet is closed. It wraps parallel.Withdrawn if the device is on a machine that
// has left. Otherwise it is the error of the device or the plugin.
func (f *Fleet) Reopen(ctx context.Context, name string) (device.Device, error) {
	if f.visitors != nil && !f.visitors.mayReopen(name) {
		return nil, fmt.Errorf("%s: %w", name, parallel.Withdrawn)
	}
	f.mu.Lock()
	t, closed := f.targets[name], f.closed
	p := f.providers[t.plugin]
	f.mu.Unlock()
	if closed {
		return nil, f.closedError()
	}
	return f.openTarget(ctx, p, name, t)
}

// name numbers devices that are opened more than once: cpu:0, cpu:1.
func (f *Fleet) name(t target) string {
	if !t.repeats {
		return t.name
	}
	n := 0
	for _, m := range f.Members {
		if strings.HasPrefix(m.Name, t.plugin+":") {
			n++
		}
	}
	return fmt.Sprintf("%s:%d", t.plugin, n)
}

// Describe returns the plugin of the named member, as the plugin described itself when it
// was started.
func (f *Fleet) Describe(name string) device.Plugin {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.providers[f.targets[name].plugin].Describe()
}

// Precision returns the precision at which the devices were opened, device.F32 or
// device.BF16; it is never "".
func (f *Fleet) Precision() string { return f.device.Precision }

// Threads returns the threads of each CPU device: Options.Threads, or an equal share of the
// cores if that is 0.
func (f *Fleet) Threads() int { return f.device.Threads }

// Close closes all devices and ends their plugins. A run that still uses them ends with an
// error. Close may be called twice. It joins the errors of the devices and plugins.
func (f *Fleet) Close() error {
	f.mu.Lock()
	was := f.closed
	f.closed = true
	f.mu.Unlock()
	if was {
		return nil
	}
	if f.visitors != nil {
		f.visitors.close()
	}
	var ends []func() error
	for _, m := range f.Members {
		ends = append(ends, m.Device.Close)
	}
	for _, p := range f.providers {
		ends = append(ends, p.Close)
	}
	errs := make([]error, len(ends))
	var all sync.WaitGroup
	for i, end := range ends { // concurrently, because processes need time to end
		all.Go(func() { errs[i] = end() })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (f *Fleet) note(format string, args ...any) {
	if f.options.Note != nil {
		f.options.Note(format, args...)
	}
}

func (f *Fleet) debug(format string, args ...any) {
	if f.options.Debug != nil {
		f.options.Debug(format, args...)
	}
}
