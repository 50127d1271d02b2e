package train

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// These are the values of Config.Recompute.
const (
	noRecompute   = "none"
	autoRecompute = "auto" // recompute if a device of any rank has too little free memory
	allRecompute  = "all"
)

// loaded returns the program that devices load, with or without recomputation. tight means that some
// device, of any rank, has too little memory free.
func (p *plan) loaded(tight bool) (*graph.Program, error) {
	switch want := p.config.Recompute; {
	case recomputes(want, tight):
		return recomputing(p.program, p.recipe.Precision)
	case want == "" || want == autoRecompute || want == noRecompute:
		return p.program, nil
	default:
		return nil, problem.New("recompute", strconv.Quote(want), "want one of "+
			strings.Join([]string{noRecompute, autoRecompute, allRecompute}, ", "), "")
	}
}

// recomputes reports whether a way of Config.Recompute computes activations again.
func recomputes(way string, tight bool) bool {
	return way == allRecompute || (way == "" || way == autoRecompute) && tight
}

// recomputing returns a program of Program with a training function that keeps less of the
// forward pass: graph.Recompute. Its results have the same bits at this precision.
func recomputing(p *graph.Program, precision string) (*graph.Program, error) {
	var rounded func(graph.Type) bool
	if precision == device.BF16 {
		rounded = device.StoredBF16
	}
	out := &graph.Program{Name: p.Name, State: p.State, Functions: slices.Clone(p.Functions)}
	for i, f := range out.Functions {
		if f.Name != graph.Train {
			continue
		}
		var err error
		if out.Functions[i], err = graph.Recompute(f, p.State, rounded); err != nil {
			return nil, err
		}
	}
	return out, out.Check()
}

// tight reports whether some device of a rank has less memory free than its share of a
// batch needs, if every rank has the same number of devices.
func (p *plan) tight(members []parallel.Member) bool {
	train, devices := p.program.Function(graph.Train), max(len(members), 1)
	if p.config.Peers != nil {
		devices *= p.config.Peers.Size()
	}
	perDevice := (p.recipe.StepBatch() + devices - 1) / devices
	need := int64(perDevice)*int64(train.ActivationBytes()) + stateBytes(p.program.State)
	for _, m := range members {
		if free := m.Device.Info().MemoryFree; free > 0 && need > free {
			return true
		}
	}
	return false
}
