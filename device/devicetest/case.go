package devicetest

import (
	"context"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// Opener opens a device at a precision for a case. The case closes the device. Each call opens another
// device, because some cases need several devices in a group.
type Opener func(ctx context.Context, precision string) (device.Device, error)

// Case is a test of one rule.
type Case struct {
	Name string     // "conv: 3x3, stride 2", "group: abort ends a run"
	Rule string     // the sentence of the contract or of the op table that it checks
	Ops  []graph.Op // the operations that it runs
	// Run returns nil if the device passes, and otherwise an error that describes the fault.
	Run func(ctx context.Context, open Opener) error

	program      func() (*graph.Program, error) // makes the program that the case loads
	class        string                         // class of the devices that the case judges; "": all devices
	reusesDevice bool                           // a device that has served other cases may run it
}

// Cases returns all cases, the contract first.
func Cases() []Case { return slices.Clone(cases()) }

// cases builds all cases once, with their programs, which needs about a second.
var cases = sync.OnceValue(func() []Case {
	return slices.Concat(loadCases(), memoryCases(), unknownCases(), stateCases(), stepCases(), commitCases(),
		nonFiniteCases(), slotCases(), limitCases(), endCases(), groupCases(), reduceCases(), exchangeCases(),
		trainingCases(), finiteCases(),
		reusingDevice(rowCases(), momentsCases(), probeCases(), labelCases(), chainCases(), classCases()))
})

// reusingDevice marks cases that may run on a device that has served other cases.
func reusingDevice(lists ...[]Case) []Case {
	all := slices.Concat(lists...)
	for i := range all {
		all[i].reusesDevice = true
	}
	return all
}

// GroupCases returns the cases with exchanges between devices. With WithRendezvous the devices
// exchange values without the host.
func GroupCases() []Case {
	return slices.Concat(endCases(), groupCases(), reduceCases(), trainingCases())
}

// opsOf lists the operations of a program, in the order of their numbers.
func opsOf(p *graph.Program) []graph.Op {
	var ops []graph.Op
	for _, f := range p.Functions {
		for _, n := range f.Nodes {
			ops = append(ops, n.Op)
		}
	}
	slices.Sort(ops)
	return slices.Compact(ops)
}

// newCase returns a case that loads the program which a function makes; the case covers the
// operations of the program. A program that cannot be made is a mistake of this package,
// and the case reports it.
func newCase(name, rule string, program func() (*graph.Program, error),
	run func(ctx context.Context, open Opener) error) Case {
	p, err := program()
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return Case{Name: name, Rule: rule, Run: func(context.Context, Opener) error { return err }}
	}
	return Case{Name: name, Rule: rule, Ops: opsOf(p), Run: run, program: program}
}
