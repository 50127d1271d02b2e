package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/train"
)

// deviceSet is the opened devices of a run and the providers behind them.
type deviceSet struct {
	members   []parallel.Member
	targets   map[string]target // of the members, by name
	options   device.Options
	mu        sync.Mutex // guards providers while plugins are started
	providers map[string]provider
	profiler  *profiler // nil unless --profile
}

// noLimit allows any number of devices.
const noLimit = 0

// openDevices opens what --devices names at a precision, for at most replicas devices.
func openDevices(ctx context.Context, c *cli.Context, precision string, replicas int) (*deviceSet, error) {
	specs, err := parseDevices(c.String("devices"))
	if err != nil {
		return nil, err
	}
	if precision, err = device.ParsePrecision(precision); err != nil {
		return nil, misuse("--precision: %v", err)
	}
	set := &deviceSet{providers: map[string]provider{}, targets: map[string]target{},
		options: device.Options{Kernels: c.String("kernels"), Precision: precision}}
	if c.Bool("profile") {
		set.profiler = &profiler{}
		set.profiler.forget()
	}
	if err := set.open(ctx, c, specs, replicas); err != nil {
		set.close()
		return nil, err
	}
	return set, nil
}

func (s *deviceSet) open(ctx context.Context, c *cli.Context, specs []deviceSpec, replicas int) error {
	targets, err := s.resolve(ctx, c, specs)
	if err != nil {
		return err
	}
	if c.String("devices") == "auto" && replicas != noLimit {
		targets = targets[:min(replicas, len(targets))]
	}
	if len(targets) > replicas && replicas != noLimit {
		return misuse("--devices %s are %d devices for %d replicas; use --replicas %d or fewer devices",
			c.String("devices"), len(targets), replicas, len(targets))
	}
	for _, t := range targets {
		if err := t.info.CheckPrecision(s.options.Precision); err != nil {
			return err
		}
	}
	if err := s.share(c, targets); err != nil {
		return err
	}
	s.mention(ctx, c, targets)
	for _, t := range targets {
		name := s.name(t)
		s.targets[name] = t
		var d device.Device
		err := persist(ctx, c, name, func() (err error) {
			d, err = s.reopen(ctx, name)
			return err
		})
		if errors.Is(err, device.Invalid) { // kernels that the device does not know
			return misuseError{err}
		}
		if err != nil {
			return err
		}
		if s.profiler != nil {
			d = s.profiler.watch(d)
		}
		s.members = append(s.members, parallel.Member{Name: name, Device: d})
	}
	return nil
}

// openTries is how often a device is opened at most whose process dies while it
// is. One that never lives is not gone on without: it was asked for.
const openTries = 5

// persist calls f, which starts or opens what has a name, again if the process
// dies meanwhile.
func persist(ctx context.Context, c *cli.Context, name string, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if !errors.Is(err, device.Lost) || try == openTries || ctx.Err() != nil {
			return err
		}
		outputOf(c).note("%s is started again: %v", name, err)
		time.Sleep(time.Duration(try) * 50 * time.Millisecond)
	}
}

// share settles the threads of the CPU devices.
func (s *deviceSet) share(c *cli.Context, targets []target) (err error) {
	cpus := 0
	for _, t := range targets {
		if t.plugin == "cpu" {
			cpus++
		}
	}
	if s.options.Threads, err = threadsFor(c, cpus); err != nil {
		return err
	}
	if all := s.options.Threads * cpus; all > runtime.NumCPU() {
		outputOf(c).note("%s of %s on %s: they will wait for each other", counted(cpus, "CPU device"),
			counted(s.options.Threads, "thread"), counted(runtime.NumCPU(), "logical CPU"))
	}
	return nil
}

// tell lists the devices of the set: which is which process, for those who
// watch over them.
func (s *deviceSet) tell(o *output) {
	for _, m := range s.members {
		info, process := m.Device.Info(), remote.Process(m.Device)
		e := newDeviceEvent(m.Name, s.providers[s.targets[m.Name].plugin].Describe(), info)
		e.Process, e.Ops = process, nil
		o.event("device", e)
		if o.verbose {
			o.note("device %s: process %d, %s", m.Name, process, info.Description)
		}
		if why := remote.Note(m.Device); why != "" {
			o.note("device %s: session at %s: %s", m.Name, info.Levels[0], why)
		}
	}
}

// reopen opens a lost device again, in a new process. It may be called from
// several goroutines.
func (s *deviceSet) reopen(ctx context.Context, name string) (device.Device, error) {
	t := s.targets[name]
	return s.providers[t.plugin].OpenAs(ctx, name, t.id, s.options)
}

// mention says that there are GPUs that could compute, if none of them is used.
func (s *deviceSet) mention(ctx context.Context, c *cli.Context, targets []target) {
	isGPU := func(t target) bool { return t.plugin == "cuda" }
	if c.Bool("quiet") || c.String("devices") == "auto" || slices.ContainsFunc(targets, isGPU) {
		return // auto has looked
	}
	found, err := findPlugins(c)
	if err != nil || !slices.ContainsFunc(found, named("cuda")) {
		return
	}
	list, err := s.list(ctx, c, "cuda")
	if gpus := len(computing(list)); err == nil && gpus > 0 {
		outputOf(c).note("unused here: %s; --devices cuda takes all", counted(gpus, "CUDA device"))
	}
}

// name numbers devices that are opened more than once: cpu:0, cpu:1.
func (s *deviceSet) name(t target) string {
	if t.repeats {
		n := 0
		for _, m := range s.members {
			if strings.HasPrefix(m.Name, t.plugin+":") {
				n++
			}
		}
		return fmt.Sprintf("%s:%d", t.plugin, n)
	}
	return t.name
}

// kernels returns the kernel class of the set: one name, or several joined by "+".
func (s *deviceSet) kernels() string {
	class, _ := train.KernelClass(s.members)
	return class
}

func (s *deviceSet) close() error {
	var ends []func() error
	for _, m := range s.members {
		ends = append(ends, m.Device.Close)
	}
	for _, p := range s.providers {
		ends = append(ends, p.Close)
	}
	errs := make([]error, len(ends))
	var all sync.WaitGroup
	for i, end := range ends { // at once: processes take a while to end
		all.Go(func() { errs[i] = end() })
	}
	all.Wait()
	return errors.Join(errs...)
}
