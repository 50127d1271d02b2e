package main

import (
	"context"

	"github.com/bnctl/bnctl/device/conformance"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
)

// judgePlugin tests a plugin, reports the results of its cases, and shows the case that is running.
func judgePlugin(ctx context.Context, o *output, command remote.Command, options conformance.Options) (
	int, error) {
	w := o.waiting()
	defer w.Stop()
	options.Begin = w.Begin
	report := func(level string, r devicetest.Result) {
		w.Clear()
		o.reportCase(level, r)
	}
	return conformance.Plugin(ctx, command, options, report, func(j conformance.Judgement) {
		w.Clear()
		o.reportLevel(j)
	})
}

// reportCase reports the result of a case at a level of data exchange.
func (o *output) reportCase(level string, r devicetest.Result) {
	c := conformance.CaseOf(level, r)
	o.results(c.Lines(o.verbose))
	o.event("conformance", c)
}

// reportLevel reports the results of all cases at a level of data exchange.
func (o *output) reportLevel(j conformance.Judgement) {
	for _, line := range j.Lines() {
		o.result("%s", line)
	}
}
