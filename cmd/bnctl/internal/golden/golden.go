// Package golden runs golden vectors, which are operations with inputs and the expected bits of the results.
// It runs them for the commands plugin test and devices verify, and reports the outcomes.
package golden

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/bnctl/bnctl/device/conformance"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/spec"
)

// Output prints results.
type Output struct {
	Result  func(format string, args ...any) // prints a line of text
	Event   func(name string, v any)         // prints a line of JSON
	Verbose bool                             // also prints vectors that pass
}

// outcome is the result of one vector on one device, in the form of its JSON.
type outcome struct {
	Device string `json:"device,omitempty"`
	Level  string `json:"level,omitempty"`
	spec.Outcome
}

// summary counts the outcomes of all vectors on one device.
type summary struct {
	Device string `json:"device,omitempty"`
	Level  string `json:"level,omitempty"`
	Note   string `json:"note,omitempty"` // why the device could not be verified
	spec.Summary
}

// printOutcome prints the outcome of a vector.
func (o Output) printOutcome(r outcome) {
	o.Event("vector", r)
	for _, line := range r.Lines() {
		o.Result("FAULT  %s%s: %s", r.Device, r.Level, line)
	}
	if r.Passed() && o.Verbose {
		o.Result("ok     %s%s: %s", r.Device, r.Level, r.Vector)
	}
}

// printSummary prints a summary.
func (o Output) printSummary(s summary) {
	o.Event("vectors", s)
	if s.Note != "" {
		o.Result("%s%s: not verified: %s", s.Device, s.Level, s.Note)
		return
	}
	o.Result("%s%s: %s of %s, %s, %.1f s", s.Device, s.Level, problem.Plural(s.Vectors, "vector"),
		strings.Join(s.Classes, " and "), problem.Plural(s.Faults, "fault"), s.Seconds)
	if s.LeftOut > 0 {
		o.Result("%s%s: %s did not run for lack of time: --limit 0 runs all", s.Device, s.Level,
			problem.Plural(s.LeftOut, "vector"))
	}
}

// Plugin runs the vectors of a folder on the plugin that cmd starts, and returns the number of vectors with
// faults.
func Plugin(ctx context.Context, cmd remote.Command, o conformance.Options, folder string, out Output) (int,
	error) {
	vectors, err := spec.Open(os.DirFS(folder))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", folder, err)
	}
	return conformance.Vectors(ctx, cmd, o, vectors, func(level string, r spec.Outcome) {
		out.printOutcome(outcome{Level: level, Outcome: r})
	}, func(level string, s spec.Summary) { out.printSummary(summary{Level: level, Summary: s}) })
}
