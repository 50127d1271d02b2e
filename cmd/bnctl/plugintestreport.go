package main

import (
	"context"
	"strings"

	"github.com/bnctl/bnctl/device/conformance"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
)

// judgePlugin tests a plugin, reports its cases and shows the current one.
func judgePlugin(ctx context.Context, o *output, command remote.Command, options conformance.Options) (
	int, error) {
	w := o.waiting()
	defer w.Stop()
	options.Begin = w.Begin
	each := func(level string, r devicetest.Result) {
		w.Clear()
		o.reportCase(level, r)
	}
	return conformance.Plugin(ctx, command, options, each, func(j conformance.Judgement) {
		w.Clear()
		o.reportLevel(j)
	})
}

// reportCase reports a case at a level.
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

// reportLevel reports all cases at a level.
func (o *output) reportLevel(j conformance.Judgement) {
	for _, line := range j.Lines() {
		o.result("%s", line)
	}
}
