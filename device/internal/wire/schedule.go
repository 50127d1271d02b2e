package wire

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Schedule lists the exchanges of a run of a function: per lane, in order.
type Schedule struct {
	lanes [collective.Lanes][]expectedExchange
}

// expectedExchange is an exchange that a run must make.
type expectedExchange struct {
	name   string
	values []expectedValue
}

// expectedValue is a value that an exchange reduces.
type expectedValue struct {
	op   collective.Op
	kind tensor.Tensor // type and shape, without elements
	each int           // number of values per row that the moments count; 0: the value is not moments
}

// ScheduleOf returns the exchanges of a run of f.
func ScheduleOf(f *graph.Function) *Schedule {
	s := &Schedule{}
	for _, x := range f.Exchanges() {
		lane := collective.Gradients
		if x.Read {
			lane = collective.Moments
		}
		nodes := f.Nodes[x.From:x.To]
		due := expectedExchange{name: f.Values[nodes[0].In[0]].Name}
		for i := range nodes {
			v := expectedValue{op: collective.Sum}
			if nodes[i].Text("of") == "moments" {
				v.op, v.each = collective.MergeMoments, countedOf(f, nodes[i].In[0])
			}
			t := f.Values[nodes[i].Out[0]].Type
			v.kind = tensor.Tensor{DType: t.DType, Shape: t.Shape}
			due.values = append(due.values, v)
		}
		s.lanes[lane] = append(s.lanes[lane], due)
	}
	return s
}

// Exchanges reports whether the schedule, which may be nil, has any exchange.
func (s *Schedule) Exchanges() bool {
	return s != nil && slices.ContainsFunc(s.lanes[:], func(l []expectedExchange) bool { return len(l) > 0 })
}

// Progress is the position of a run in a schedule. The zero value has no schedule and is
// for runs without exchanges.
type Progress struct {
	schedule *Schedule
	step     uint64
	done     [collective.Lanes]int
	replicas []int // replicas of the device; nil: unknown
	rows     []int // rows of each replica
}

// Begin returns the progress of the run with the number step.
func (s *Schedule) Begin(step uint64) Progress { return Progress{schedule: s, step: step} }

// unexpectedExchange is the error for an exchange that is not due.
type unexpectedExchange struct{ error }

// Rule returns the rule that the device breaks.
func (unexpectedExchange) Rule() string {
	return "In each lane all members come to the same tags in the same order, those of the program's " +
		"exchanges (device.proto, Tag and Exchange)."
}

// Next checks the next exchange of the run and advances. The error names the exchange of the
// device and the exchange that was due. Only this device is at fault, not the other members.
func (c *Progress) Next(tag collective.Tag, values []collective.Reduction) error {
	if err := c.next(tag, values); err != nil {
		return unexpectedExchange{err}
	}
	return nil
}

func (c *Progress) next(tag collective.Tag, values []collective.Reduction) error {
	if c.schedule == nil || tag.Lane >= collective.Lanes {
		return fmt.Errorf("exchange %.100q came in lane %d of a run that has none there", tag.Name, tag.Lane)
	}
	if tag.Step != c.step {
		return fmt.Errorf("exchange %.100q came with step %d in its tag; this is the run of step %d", tag.Name,
			tag.Step, c.step)
	}
	all := c.schedule.lanes[tag.Lane]
	at := c.done[tag.Lane]
	if err := c.checkTag(tag, all, at); err != nil {
		return err
	}
	c.done[tag.Lane]++
	return c.checkValues(all[at], tag, values)
}

// checkTag checks the position of an exchange in its lane. all are the exchanges of the lane, and at is
// the number of earlier exchanges.
func (c *Progress) checkTag(tag collective.Tag, all []expectedExchange, at int) error {
	other := 1 - tag.Lane
	others := c.schedule.lanes[other][c.done[other]:]
	belongs := len(others) > 0 && others[0].name == tag.Name
	switch {
	case at < len(all) && all[at].name == tag.Name && tag.Sequence == uint64(at):
		return nil
	case at < len(all) && all[at].name == tag.Name:
		return fmt.Errorf("exchange %.100q came with sequence %d in %v; due is sequence %d: it counts the "+
			"exchanges of the lane in the run, from 0", tag.Name, tag.Sequence, pb.Lane(tag.Lane), at)
	case belongs:
		return fmt.Errorf("exchange %.100q came in %v; it belongs in %v, since %s", tag.Name, pb.Lane(tag.Lane),
			pb.Lane(other), whyLane(other))
	case at == len(all):
		return fmt.Errorf("exchange %.100q came as number %d in %v; the function has %d there", tag.Name, at+1,
			pb.Lane(tag.Lane), len(all))
	}
	return fmt.Errorf("exchange %.100q came with sequence %d in %v; due is %q with sequence %d", tag.Name,
		tag.Sequence, pb.Lane(tag.Lane), all[at].name, at)
}

func whyLane(l collective.Lane) string {
	if l == collective.Moments {
		return "a node of the function reads a result of it"
	}
	return "no node of the function reads a result of it"
}

// checkValues checks that an exchange has the expected values.
func (c *Progress) checkValues(d expectedExchange, tag collective.Tag, values []collective.Reduction) error {
	if len(values) != len(d.values) {
		return fmt.Errorf("exchange %q came with %d values; due are %d, one for each all_reduce that follows "+
			"another", tag.Name, len(values), len(d.values))
	}
	for i, v := range values {
		want := d.values[i]
		if v.Op != want.op {
			return fmt.Errorf("exchange %q: value %d came as %v; due is %v", tag.Name, i, pb.Reduction(v.Op),
				pb.Reduction(want.op))
		}
		if !SameType(v.Result, want.kind) {
			return fmt.Errorf("exchange %q: value %d came as %v; due is %v", tag.Name, i, v.Result, want.kind)
		}
		if err := c.checkPartials(tag, i, v, want); err != nil {
			return err
		}
	}
	return nil
}

// Left is called after a run that ended without an error. It returns an error that names the
// first missing exchange, or nil if the run has made all exchanges.
func (c *Progress) Left() error {
	if c.schedule == nil {
		return nil
	}
	for lane, all := range c.schedule.lanes {
		if at := c.done[lane]; at < len(all) {
			return unexpectedExchange{fmt.Errorf("the run ended without exchange %q, which was due with "+
				"sequence %d in %v",
				all[at].name, at, pb.Lane(lane))}
		}
	}
	return nil
}
