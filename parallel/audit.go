package parallel

import (
	"bytes"
	"context"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// An audit repeats the runs of some replicas on another device, before the commit:
//
//	step      a: replicas 0 1   b: replica 2      each sends the sums of its replicas to the hub
//	record    the values that a sent for its replicas [0,2), and all results
//	repeat    b runs replicas 0 and 1 and gets the recorded results; its values are compared
//	differs   a device of the host counts as right; without one, a third device decides
//	          the machine of the wrong device is dropped
//
// A node of the canonical tree is a range of replicas for which a device or a machine sends one sum.
// The replicas of a node are repeated together.

// beginAudit chooses the nodes of the tree that are repeated after the next run of f, and starts to
// record their values.
func (d *Driver) beginAudit(f *graph.Function, b Batch) {
	r, h := d.group.comm.recorder, d.group.comm.pointsHub()
	if r == nil {
		return
	}
	r.Begin(nil)
	if f.Name != graph.Train || h == nil || len(h.points) < 2 || d.group.mixed {
		return
	}
	_, replicas := d.config.Audit(d.version)
	var nodes []collective.Node
	for _, ranks := range h.points {
		var all []int
		for _, rank := range ranks {
			all = append(all, d.group.members[rank].replicas...)
		}
		slices.Sort(all)
		for _, n := range collective.Cover(d.config.Replicas, all) {
			if slices.ContainsFunc(replicas, func(r int) bool { return n.From <= r && r < n.To && b.Sizes[r] > 0 }) {
				nodes = append(nodes, n)
			}
		}
	}
	r.Begin(nodes)
}

// audit repeats the nodes that beginAudit has chosen. If a device has sent wrong values, the error
// reports that this device is lost.
func (d *Driver) audit(ctx context.Context, f *graph.Function, b Batch, outs []device.Outcome) error {
	r := d.group.comm.recorder
	if r == nil || len(r.Nodes()) == 0 {
		return nil
	}
	defer r.Begin(nil)
	for _, n := range r.Nodes() {
		if err := d.auditNode(ctx, f, b, outs, n); err != nil {
			return err
		}
	}
	return d.group.join(ctx)
}

// auditNode repeats the replicas of a node on a device of another point of the hub (see pointsHub).
// It prefers a device of this machine.
func (d *Driver) auditNode(ctx context.Context, f *graph.Function, b Batch, outs []device.Outcome,
	n collective.Node) error {
	h, ms := d.group.comm.pointsHub(), d.group.members
	holds := func(m *member) bool { return slices.Contains(m.replicas, n.From) }
	suspect := slices.IndexFunc(ms, holds)
	var judges []*member // one device of each other point of the hub, those of this machine first
	for _, ranks := range h.points {
		if !slices.Contains(ranks, suspect) {
			judges = append(judges, ms[ranks[0]])
		}
	}
	slices.SortStableFunc(judges, func(a, b *member) int { return order(a.Foreign) - order(b.Foreign) })
	same, err := d.repeat(ctx, f, b, outs, n, judges[0])
	d.audited += n.To - n.From
	if err != nil || same {
		return err
	}
	liar, judge := ms[suspect], judges[0]
	switch {
	case !judge.Foreign: // a device of the host counts as right
	case !liar.Foreign:
		liar, judge = judge, liar
	case len(judges) == 1:
		step, _ := d.config.Audit(d.version)
		return problem.Advise("add cpu to the devices: the host's own device decides", "audit: %s and %s give "+
			"different bits for replica %d of step %d", liar.Name, judge.Name, n.From, step)
	default:
		if same, err = d.repeat(ctx, f, b, outs, n, judges[1]); err != nil {
			return err
		}
		if same {
			liar, judge = judge, judges[1]
		}
	}
	return d.dropLiar(n, liar, judge)
}

// order is a sort key: devices of this machine come before others.
func order(foreign bool) int {
	if foreign {
		return 1
	}
	return 0
}

// dropLiar drops the devices on the machine of liar, a device that sent wrong bits, and returns the
// error that drops liar itself. None of these devices is opened again.
func (d *Driver) dropLiar(n collective.Node, liar, judge *member) error {
	step, _ := d.config.Audit(d.version)
	machine := device.LinkOf(liar.Device).Machine
	where := liar.Name
	if machine != "" {
		where = "machine " + machine
	}
	why := func(m *member) error {
		return &lost{m, device.Errorf(m.Name, "Audit", device.Unsupported,
			"%s gives other bits for replica %d of step %d than %s: it is not used any more", where, n.From, step,
			judge.Name)}
	}
	for _, m := range d.group.members {
		if m != liar && machine != "" && device.LinkOf(m.Device).Machine == machine {
			if err := d.recovery.drop(why(m)); err != nil {
				return err
			}
		}
	}
	return why(liar)
}

// repeat runs the replicas of a node on m, and reports whether all bits equal the record.
func (d *Driver) repeat(ctx context.Context, f *graph.Function, b Batch, outs []device.Outcome,
	n collective.Node, m *member) (same bool, err error) {
	var replicas []int
	for r := n.From; r < n.To; r++ {
		replicas = append(replicas, r)
	}
	x, comm := d.group.comm.recorder.Repeat(), &d.group.comm
	comm.generation++
	g := device.Group{Generation: comm.generation, Level: device.Stream, Replicas: [][]int{replicas},
		Tree: comm.replicas, Exchange: x}
	step, rows := b.On(replicas, f, d.group.runs), 0
	for _, of := range step.Rows {
		rows += of
	}
	c := m.capacity
	c.Rows, c.Replicas = max(c.Rows, rows), max(c.Replicas, len(replicas))
	var out device.Outcome
	err = d.group.timeouts.call(m, func() (err error) {
		if c != m.capacity {
			if err = m.exe.Grow(ctx, c); err != nil {
				return err
			}
			m.capacity = c
		}
		if err = m.Device.Join(ctx, g); err == nil {
			out, err = m.exe.Run(ctx, step)
		}
		return err
	})
	if err != nil {
		d.group.stale = true
		return false, m.named(err)
	}
	return !x.Differs() && d.sameOutputs(f, outs, out, replicas), nil
}

// sameOutputs reports whether the outputs of the repeated replicas equal the outputs of the step.
func (d *Driver) sameOutputs(f *graph.Function, outs []device.Outcome, again device.Outcome,
	replicas []int) bool {
	i := 0
	for _, o := range f.Outputs {
		if o.Keep {
			continue
		}
		for at, r := range replicas {
			for rank, m := range d.group.members {
				was := slices.Index(m.replicas, r)
				if was < 0 || f.Values[o.Value].Type.Kind != graph.Replica {
					continue
				}
				before := outs[rank].Outputs[i].Rows(was, was+1)
				if !bytes.Equal(before.Bytes, again.Outputs[i].Rows(at, at+1).Bytes) {
					return false
				}
			}
		}
		i++
	}
	return true
}
