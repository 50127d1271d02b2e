package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// Options select the tests of a plugin. The zero value tests everything.
type Options struct {
	Levels []string          // levels to test; nil: all that the device has
	Case   string            // run the cases with names that contain this; "": all. Other checks run always
	ID     string            // ID of the device; "": the first
	Begin  func(what string) // called before every case, with its level, number and name; may be nil
}

// Judgement summarises the results of all cases at one level (transport).
type Judgement struct {
	Level   string
	Cases   int
	Lacks   []graph.Op // operations that the device does not have
	Missing []graph.Op // the operations in Lacks that training of any network needs
	Faults  int        // cases that failed, and operations that are missing
	Stopped string     // why some cases were not run; "" if all were run
}

// Plugin tests the plugin that cmd starts, and returns the number of faults. It calls onCase after every
// case, and onLevel after every level. It stops early if the device is lost repeatedly. An error means that
// the test could not be run. It is a *Broken if the plugin does not start or does not list its devices, and
// a *problem.Error if the plugin lacks something that o requests.
func Plugin(ctx context.Context, cmd remote.Command, o Options, onCase func(level string,
	r devicetest.Result),
	onLevel func(Judgement)) (faults int, err error) {
	cases, err := o.cases()
	if err != nil {
		return 0, err
	}
	id, levels, name, have, err := o.device(ctx, cmd)
	if err != nil {
		return 0, err
	}
	first := nameResult(cmd.Path, name)
	for _, level := range levels {
		j, err := o.judge(ctx, cmd, id, level, cases, first, onCase)
		if o.Case != "" && j.Stopped == "" { // a selection of cases may not show all missing operations
			j.Faults -= len(j.Missing)
			j.Missing = missingFrom(have)
			j.Faults += len(j.Missing)
		}
		first = devicetest.Result{}
		if err != nil {
			return 0, err
		}
		onLevel(j)
		faults += j.Faults
		if j.Stopped != "" { // the next level would use the same device
			break
		}
	}
	return faults, nil
}

// outside is the prefix of the names of checks of the plugin's process, which are not cases.
const outside = "process: "

// cases returns the cases that o.Case selects.
func (o *Options) cases() ([]devicetest.Case, error) {
	cases := slices.DeleteFunc(devicetest.Cases(), func(k devicetest.Case) bool {
		return !strings.Contains(k.Name, o.Case)
	})
	if len(cases) == 0 && !strings.HasPrefix(outside, o.Case) {
		return nil, problem.New("case", `"`+o.Case+`"`, "no case has that in its name",
			"give a part of one, such as "+devicetest.Cases()[0].Name)
	}
	return cases, nil
}

// device returns the ID of the device that o selects, the levels to test, the plugin's name,
// and the operations that the device has.
func (o *Options) device(ctx context.Context, cmd remote.Command) (id string, levels []string, name string,
	have []graph.Op, err error) {
	p, err := remote.Start(ctx, cmd)
	if err != nil {
		return "", nil, "", nil, &Broken{err}
	}
	name = p.Describe().Name
	defer p.Close()
	list, reason, err := p.List(ctx)
	if err != nil {
		return "", nil, "", nil, &Broken{err}
	}
	if len(list) == 0 {
		return "", nil, "", nil, device.Errorf(p.Describe().Name, "List", device.Unavailable,
			"%w", problem.Failure("", "no device to test: "+reason, ""))
	}
	d := list[0]
	if o.ID != "" {
		i := slices.IndexFunc(list, func(d device.Info) bool { return d.ID == o.ID })
		if i < 0 {
			return "", nil, "", nil, problem.New("id", `"`+o.ID+`"`, "the plugin lists no such device", "")
		}
		d = list[i]
	}
	if len(o.Levels) > 0 {
		return d.ID, o.Levels, name, d.Ops, nil
	}
	levels = []string{device.Stream}
	for _, l := range []string{device.Shm, device.CollShm} {
		if slices.Contains(d.Levels, l) {
			levels = append(levels, l)
		}
	}
	return d.ID, levels, name, d.Ops, nil
}

// Broken is the error for a plugin that does not start, or does not list its
// devices.
type Broken struct{ Err error }

func (b *Broken) Error() string { return b.Err.Error() }

// Unwrap returns the reason.
func (b *Broken) Unwrap() error { return b.Err }

// judge runs the cases at one level (transport).
func (o *Options) judge(ctx context.Context, cmd remote.Command, id, level string, cases []devicetest.Case,
	name devicetest.Result, each func(string, devicetest.Result)) (Judgement, error) {
	j := Judgement{Level: level}
	says := &printed{}
	cmd.Printed = says.add
	cmd.Levels = []string{level}
	if level == device.CollShm { // this level is for groups; the sessions use Shm
		cmd.Levels = append(cmd.Levels, device.Shm)
		ctx = devicetest.WithRendezvous(ctx, remote.Rendezvous{})
		cases = ofGroups(cases)
	}
	p, err := remote.Start(ctx, cmd)
	if err != nil {
		return j, err
	}
	defer p.Close()
	open := func(ctx context.Context, precision string) (device.Device, error) {
		return p.Open(ctx, id, device.Options{Threads: 1, Precision: precision})
	}
	if o.Begin != nil {
		ctx = devicetest.WithProgress(ctx, func(c devicetest.Case, before, all int) {
			o.Begin(fmt.Sprintf("%s: case %d of %d: %s", level, before+1, all, c.Name))
		})
	}
	report, err := devicetest.JudgeSome(ctx, open, cases, func(r devicetest.Result) { each(level, r) })
	if err != nil {
		return j, err
	}
	j.Cases, j.Lacks, j.Missing = len(report.Results), report.Lacks(), missing(report.Lacks())
	if j.Stopped = report.Stopped; j.Stopped != "" {
		j.Missing = nil // unknown, because not all cases were run
	}
	j.Faults = len(report.Failed()) + len(j.Missing)
	for _, r := range []devicetest.Result{name, says.result()} {
		if r.Err != nil {
			j.Faults++
			each(level, r)
		}
	}
	return j, nil
}

// ofGroups returns the cases that use groups of devices.
func ofGroups(cases []devicetest.Case) []devicetest.Case {
	all := devicetest.GroupCases()
	return slices.DeleteFunc(slices.Clone(cases), func(c devicetest.Case) bool {
		return !slices.ContainsFunc(all, func(g devicetest.Case) bool { return g.Name == c.Name })
	})
}
