package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
)

func pluginTestCommand() *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "judge whether a plugin keeps the contract; exit 3 if it does not",
		ArgsUsage: "PATH",
		Description: `Starts the plugin and runs every case of the conformance list on its first
device, over the wire, at each level and each precision that it has. An operation
that a device refuses properly is not a fault, but what training lenet-bn needs
must be there. What a plugin in Go prints to standard output after its handshake
is no fault: the SDK points it at standard error.

   bnctl plugin test ./bnctl-device-mine
   bnctl plugin test ./bnctl-device-mine --level stream/1 --case conv -v`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "level",
				Usage: "`LEVEL` of the wire: stream/1, shm/1 (default: all of the device)"},
			&cli.StringFlag{Name: "case", Usage: "only the cases with `TEXT` in their name: conv"},
			&cli.StringFlag{Name: "id", Usage: "`ID` of the device (default: the first)"},
		},
		Action: pluginTest,
	}
}

func pluginTest(c *cli.Context) error {
	path, err := oneArgument(c, "PATH", "of a program bnctl-device-NAME")
	if err != nil {
		return err
	}
	p, cmd, err := startUnlocked(c, path)
	if err != nil {
		return sickError{err}
	}
	id, levels, err := chosenDevice(c, p)
	p.Close()
	if err != nil {
		return err
	}
	var wrong int
	for _, level := range levels {
		cmd.Levels = []string{level}
		if level == device.CollShm { // of groups: sessions run at another
			cmd.Levels = append(cmd.Levels, device.Shm)
		}
		n, err := judge(c, cmd, id, level)
		if err != nil {
			return err
		}
		wrong += n
	}
	if wrong > 0 {
		return sickError{fmt.Errorf("%s does not conform: %d faults; each quotes the rule that it breaks",
			path, wrong)}
	}
	return nil
}

// chosenDevice returns the device that --id names, and the levels to test it at.
func chosenDevice(c *cli.Context, p *remote.Plugin) (string, []string, error) {
	list, reason, err := p.List(c.Context)
	if err != nil {
		return "", nil, sickError{err}
	}
	if len(list) == 0 {
		return "", nil, device.Errorf(p.Describe().Name, "List", device.Unavailable,
			"no device to test: %s", reason)
	}
	d := list[0]
	if c.IsSet("id") {
		i := slices.IndexFunc(list, func(d device.Info) bool { return d.ID == c.String("id") })
		if i < 0 {
			return "", nil, misuse("--id %q: the plugin lists no such device", c.String("id"))
		}
		d = list[i]
	}
	levels := c.StringSlice("level")
	if len(levels) == 0 {
		levels = []string{device.Stream}
		for _, l := range []string{device.Shm, device.CollShm} {
			if slices.Contains(d.Levels, l) {
				levels = append(levels, l)
			}
		}
	}
	return d.ID, levels, nil
}

// conformanceEvent is a line of plugin test --json.
type conformanceEvent struct {
	Level string   `json:"level"`
	Case  string   `json:"case"`
	Rule  string   `json:"rule"`
	At    string   `json:"precision"`
	Lacks []string `json:"lacks,omitempty"`
	Error string   `json:"error,omitempty"`
	Ms    int64    `json:"ms"`
}

// meeting returns those of the cases in which devices meet.
func meeting(cases []devicetest.Case) []devicetest.Case {
	all := devicetest.GroupCases()
	return slices.DeleteFunc(cases, func(c devicetest.Case) bool {
		return !slices.ContainsFunc(all, func(g devicetest.Case) bool { return g.Name == c.Name })
	})
}

// judge runs all cases at one level and returns the number of faults.
func judge(c *cli.Context, cmd remote.Command, id, level string) (int, error) {
	p, err := remote.Start(c.Context, cmd)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	o := outputOf(c)
	open := func(ctx context.Context, precision string) (device.Device, error) {
		return p.Open(ctx, id, device.Options{Threads: 1, Precision: precision})
	}
	cases, err := chosenCases(c)
	if err != nil {
		return 0, err
	}
	ctx := c.Context
	if level == device.CollShm {
		ctx = devicetest.WithRendezvous(ctx, remote.Rendezvous{})
		cases = meeting(cases)
	}
	report, err := devicetest.JudgeSome(ctx, open, cases, func(r devicetest.Result) { tell(o, level, r) })
	if err != nil {
		return 0, err
	}
	faults := len(report.Failed())
	for _, op := range missing(report.Lacks()) {
		o.result("FAULT  %s: operation %v is missing, and no network trains without it", level, op)
		faults++
	}
	o.result("%s: %d cases, %d faults; operations that the device lacks: %s", level, len(report.Results), faults,
		lacking(report.Lacks()))
	return faults, nil
}

// chosenCases returns the cases that --case picks, all without it.
func chosenCases(c *cli.Context) ([]devicetest.Case, error) {
	text := c.String("case")
	cases := slices.DeleteFunc(devicetest.Cases(), func(k devicetest.Case) bool {
		return !strings.Contains(k.Name, text)
	})
	if len(cases) == 0 {
		return nil, misuse("--case %q: no case has that in its name; bnctl plugin test -v names them all", text)
	}
	return cases, nil
}

func tell(o *output, level string, r devicetest.Result) {
	e := conformanceEvent{Level: level, At: r.Precision, Case: r.Case.Name, Rule: r.Case.Rule,
		Ms: r.Took.Round(time.Millisecond).Milliseconds()}
	for _, op := range r.Lacks {
		e.Lacks = append(e.Lacks, op.String())
	}
	if r.Err != nil {
		e.Error = r.Err.Error()
		o.result("FAULT  %s, %s: %s: %s\n       rule: %s", level, e.At, e.Case, e.Error, e.Rule)
	} else if o.verbose {
		o.result("ok     %s, %s: %s", level, e.At, e.Case)
	}
	o.event("conformance", e)
}

func lacking(ops []graph.Op) string {
	if len(ops) == 0 {
		return "none"
	}
	var names []string
	for _, o := range ops {
		names = append(names, o.String())
	}
	return strings.Join(names, " ")
}
