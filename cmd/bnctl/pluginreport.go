package main

import (
	"strings"
	"time"

	"github.com/bnctl/bnctl/device/conformance"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/fleet"
)

// reportPlugin prints a line of plugin add, remove, list and init.
func reportPlugin(o *output, s fleet.Status, format string, args ...any) {
	o.event("plugin", s)
	o.result(format, args...)
}

func reportAdded(o *output, a *fleet.Added) {
	o.event("plugin", fleet.Status{Name: a.Name, Path: a.Path, Version: a.Version, Protocol: a.Protocol,
		SHA256: a.SHA256, State: "locked"})
	o.result("%s %s: %s", a.About.Name, a.About.Version, a.About.About)
	for _, d := range a.Devices {
		if d.Reason != "" {
			o.result("   no device: %s", d.Reason)
			continue
		}
		o.result("   %s  %s", d.Name, d.Device.Description)
	}
	o.result("added to %s with sha256 %s; use it with --devices %s", remote.LockPath(), a.SHA256, a.Name)
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

// reportCase tells of a case at a level.
func (o *output) reportCase(level string, r devicetest.Result) {
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

// reportLevel tells of all cases at a level.
func (o *output) reportLevel(j conformance.Judgement) {
	for _, op := range j.Missing {
		o.result("FAULT  %s: operation %v is missing, and no network trains without it", j.Level, op)
	}
	lacks := []string{}
	for _, op := range j.Lacks {
		lacks = append(lacks, op.String())
	}
	if len(lacks) == 0 {
		lacks = []string{"none"}
	}
	o.result("%s: %s, %s; operations that the device lacks: %s", j.Level, counted(j.Cases, "case"),
		counted(j.Faults, "fault"), strings.Join(lacks, " "))
}
