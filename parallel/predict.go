package parallel

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/internal/placement"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// Predictions need no exchange: rows are divided evenly among the members, and each runs
// its share. If the devices accept runs ahead, two predictions may be in progress, so that
// a device has its next rows when it is done:
//
//	call 1    copy in | run | copy out
//	call 2              copy in | run | copy out
//
// The group does not change while a prediction is in progress: a recovery waits until all of them
// have ended (over).

// Rows returns the maximum number of rows that Predict runs at once.
func (d *Driver) Rows() int {
	perMember := d.group.members[0].capacity.Rows
	for _, m := range d.group.members {
		perMember = min(perMember, m.capacity.Rows)
	}
	return perMember * len(d.group.members)
}

// Predict runs the function graph.Predict on rows of x, shared among the devices, and
// returns its outputs in order. A row's outputs depend neither on the other rows nor on the
// device. After an error that wraps NoDevices the driver is unusable.
//
// Without peers several goroutines may call Predict at once, while no other method is
// called. If Ahead is true, the devices already have the rows of the next call when one
// ends.
//
// With peers all ranks call Predict with the same rows. Each rank needs only its share
// (OwnRows), and all ranks get all outputs.
func (d *Driver) Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	if d.ranks != nil {
		return d.predictOverRanks(ctx, x)
	}
	return d.predictHere(ctx, graph.Predict, []tensor.Tensor{x})
}

// PredictInputs is Predict for a function of the program, without peers. All inputs and outputs of the
// function are rows. Calls of several functions may be in progress at once.
func (d *Driver) PredictInputs(ctx context.Context, function string, inputs []tensor.Tensor) (
	[]tensor.Tensor, error) {
	return d.predictHere(ctx, function, inputs)
}

// Reuse declares that these outputs of a Predict are no longer read. Later calls may then
// reuse their memory.
func (d *Driver) Reuse(outputs []tensor.Tensor) {
	d.inFlight.mu.Lock()
	var x device.Executable
	if len(d.group.members) == 1 && d.ranks == nil {
		x = d.group.members[0].exe
	}
	d.inFlight.mu.Unlock()
	if r, ok := x.(device.Reuser); ok {
		r.Reuse(outputs)
	}
}

// Ahead reports whether a call of Predict reaches the devices while another call is in
// progress.
func (d *Driver) Ahead() bool {
	d.inFlight.mu.Lock()
	defer d.inFlight.mu.Unlock()
	return d.ranks == nil && d.group.members.ahead()
}

// predictHere does the same as Predict, for a function with any number of inputs of rows.
func (d *Driver) predictHere(ctx context.Context, function string, inputs []tensor.Tensor) (
	[]tensor.Tensor, error) {
	var chunks [][]tensor.Tensor
	rows := inputs[0].Shape[0]
	for from := 0; from < rows; {
		p, err := d.beginPrediction(ctx, inputs, from)
		if err == nil {
			p.function = function
			err = d.group.eachAfter(p.earlier, func(rank int, m *member) error { return p.run(ctx, rank, m) })
			if err == nil {
				err = d.checkOutputs(ctx, p)
			}
			err = d.endPrediction(ctx, p, err)
		}
		if err == again {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, o := range p.outs {
			chunks = append(chunks, o.Outputs)
		}
		from = p.end
	}
	d.inFlight.mu.Lock()
	d.predicted += rows
	d.inFlight.mu.Unlock()
	return step.JoinRows(chunks), nil
}

// beginPrediction prepares at most Rows rows of inputs, starting at first, with an even
// share for every member.
func (d *Driver) beginPrediction(ctx context.Context, inputs []tensor.Tensor, first int) (
	*prediction, error) {
	d.inFlight.mu.Lock()
	defer d.inFlight.mu.Unlock()
	if len(d.group.members) == 0 {
		return nil, d.recovered(ctx, NoDevices)
	}
	if d.group.stale || d.recovery.reopener.hasPending() || !d.group.members.ahead() {
		d.inFlight.over()
		if err := d.recovery.ready(ctx); err != nil {
			return nil, d.recovered(ctx, err)
		}
	}
	n := len(d.group.members)
	p := &prediction{earlier: d.inFlight.count, end: min(first+d.Rows(), inputs[0].Shape[0]),
		outs: make([]device.Outcome, n)}
	for _, perMember := range placement.Split(p.end-first, n) {
		p.inputs = append(p.inputs, rowsOfAll(inputs, first, first+perMember))
		first += perMember
	}
	p.last = d.predicted+p.end == d.config.Samples
	d.group.runs++
	p.number = d.group.runs
	d.inFlight.count++
	return p, nil
}

// profile runs the function on the first member only and requests the time of its nodes.
func (d *Driver) profile(ctx context.Context, inputs []tensor.Tensor) (o device.Outcome, err error) {
	if len(d.group.members) == 0 {
		return o, NoDevices
	}
	m := d.group.members[0]
	d.group.runs++
	err = d.group.timeouts.behind(m, 0, d.group.timeouts.minimum, func() (err error) {
		o, err = m.exe.Run(ctx, device.Step{Function: graph.Predict, Number: d.group.runs,
			Rows: []int{inputs[0].Shape[0]}, Inputs: inputs, Profile: true})
		return err
	})
	return o, err
}

// endPrediction records that a prediction has ended with err. It returns again if the
// prediction must be repeated.
func (d *Driver) endPrediction(ctx context.Context, p *prediction, err error) error {
	d.inFlight.mu.Lock()
	defer d.inFlight.mu.Unlock()
	if d.inFlight.count--; d.inFlight.count == 0 {
		d.inFlight.ended.Broadcast()
	}
	took := time.Duration(0)
	for rank, m := range d.group.members {
		if p.outs[rank].Outputs != nil {
			m.steps++
		}
		took = max(took, p.outs[rank].Took)
	}
	d.computed += took
	if err == nil {
		d.recovery.progressed()
		return nil
	}
	d.inFlight.over()
	return d.recovered(ctx, err)
}

// recovered lets the group recover from err, and returns again if it has. If several
// predictions lost the same member, the first one recovers.
func (d *Driver) recovered(ctx context.Context, err error) error {
	var l *lost
	if errors.As(err, &l) && !slices.Contains(d.group.members, l.member) {
		return again
	}
	if err := d.recovery.after(ctx, err); err != nil {
		return err
	}
	return again
}
