package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/device/conformance"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
)

// judgePlugin tests a plugin, tells of its cases and shows where it is.
func judgePlugin(ctx context.Context, o *output, command remote.Command, options conformance.Options) (
	faults int, err error) {
	w := newWaiting(o)
	defer w.stop()
	options.Begin = func(level, name string, before, all int) {
		w.begin(fmt.Sprintf("%s: case %d of %d: %s", level, before+1, all, name))
	}
	each := func(level string, r devicetest.Result) {
		if r.Err != nil || o.verbose {
			w.clear()
		}
		o.reportCase(level, r)
	}
	return conformance.Plugin(ctx, command, options, each, func(j conformance.Judgement) {
		w.clear()
		o.reportLevel(j)
	})
}

// reportCase tells of a case at a level.
func (o *output) reportCase(level string, r devicetest.Result) {
	c := conformance.CaseOf(level, r)
	if r.Err != nil {
		o.result("FAULT  %s, %s: %s: %s\n       rule: %s\n       do: %s", level, c.Precision, c.Name, c.Error,
			c.Rule, c.Advice)
	} else if len(r.Refused) > 0 {
		o.result("refused  %s, %s: %s: its nodes of %s", level, c.Precision, c.Name, strings.Join(c.Refused, " "))
	} else if o.verbose {
		o.result("ok     %s, %s: %s", level, c.Precision, c.Name)
	}
	o.event("conformance", c)
}

// reportLevel tells of all cases at a level.
func (o *output) reportLevel(j conformance.Judgement) {
	for _, op := range j.Missing {
		o.result("FAULT  %s: operation %v is missing, and no network trains without it", j.Level, op)
	}
	if j.Stopped != "" {
		o.result("FAULT  %s: %s", j.Level, j.Stopped)
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
