package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// limits holds the exchanges of a run and the known properties of its outputs, derived from
// the program alone. Everything that a device sends is checked against it before memory is
// allocated: a plugin can be wrong, and a length that it sends must not decide how much
// this process allocates.
type limits struct {
	value    int64 // bytes of the largest value
	total    int64 // bytes of all values together
	schedule *wire.Schedule
	counts   wire.Counts // counts of the outputs
}

// limitsOf returns the limits of f, from its all-reduces and outputs.
func limitsOf(f *graph.Function) limits {
	l := limits{schedule: wire.ScheduleOf(f), counts: wire.CountsOf(f)}
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Op == graph.AllReduce {
			t := f.Values[n.Out[0]].Type
			b := wire.Bytes([]tensor.Tensor{{DType: t.DType, Shape: t.Shape}})
			l.value, l.total = max(l.value, b), l.total+b
		}
	}
	return l
}

// allocate returns the memory for the tensors of a message of the plugin. It is called
// after their types have been read and before their bytes. Tensors that do not belong to
// this call, or that have other types than its answer, are refused before memory is
// allocated for them.
func (s *session) allocate(c *call, m *pb.Message, heads []tensor.Tensor) ([]tensor.Tensor, error) {
	switch {
	case m.Call != c.body.Call:
		return nil, fmt.Errorf("%s belongs to call %d, this is %d", wire.Body(m), m.Call, c.body.Call)
	case m.GetExchange() != nil:
		return s.allocatePartials(c, m, heads)
	case len(heads) == 0:
		return nil, nil
	}
	if !slices.EqualFunc(heads, c.result, wire.SameType) {
		return nil, fmt.Errorf("%s brings %v, want %v", wire.Body(m), heads, c.result)
	}
	for i, h := range heads {
		if c.free != nil {
			heads[i] = c.free.output(h)
		} else {
			heads[i] = tensor.New(h.DType, h.Shape...)
		}
	}
	return heads, nil
}

// allocatePartials returns memory for the partial values of an exchange. It refuses more bytes than
// the exchanges of the run can have.
func (s *session) allocatePartials(c *call, m *pb.Message, heads []tensor.Tensor) ([]tensor.Tensor, error) {
	if err := s.countPartials(c, heads); err != nil {
		return nil, err
	}
	b := s.answers.get()
	c.buffers[m.Lane] = b
	return b.partials.Allocate(heads), nil
}

// countPartials counts the bytes of the partial values that have arrived in this run. It returns an
// error if they exceed the bytes that all exchanges of the run can have.
func (s *session) countPartials(c *call, partials []tensor.Tensor) error {
	if c.limits.total == 0 || s.group.Alone() || s.group.Exchange == nil {
		return errAlone
	}
	most := c.limits.total * int64(len(s.group.Exchanged()))
	n := wire.Bytes(partials)
	if n > most-c.exchangedBytes {
		return fmt.Errorf("an exchange of %d bytes after %d in the same run, at most %d can be in all",
			n, c.exchangedBytes, most)
	}
	c.exchangedBytes += n
	return nil
}

// errAlone is the error for an exchange with a device that has all replicas, or in a function
// without exchanges.
var errAlone = errors.New("the device exchanges although it has no group to exchange with")

// checkExchanged returns an error if the answer to a call comes before the host has answered
// all exchanges of the call. It also returns an error if a successful run skipped exchanges: a
// plugin that does not know Join.leaves may assume that it is alone.
func (s *session) checkExchanged(c *call, m *pb.Message) error {
	if n := c.unanswered.Load(); n > 0 {
		return fmt.Errorf("%s comes while %d exchanges are not answered", wire.Body(m), n)
	}
	done := m.GetOutcome() != nil && m.GetOutcome().Error == nil
	if !done || c.limits.total == 0 || s.group.Alone() || s.group.Exchange == nil {
		return nil
	}
	if c.exchanges > 0 {
		return c.progress.Left()
	}
	return problem.Advise("rebuild it with the present SDK", "the device ran without an exchange although it "+
		"holds replicas %v of %d; its plugin may be older than Join.leaves",
		s.group.Replicas[s.group.Rank], s.group.Leaves())
}

// exchange makes an exchange of the group on behalf of the device and sends the results to
// the device. The error is about the message that the device sent.
//
// exchange does not block. A goroutine of the session waits until all members have arrived,
// and then answers. Meanwhile the device can send the next exchange, of another lane. receive
// waits for these goroutines before a call ends.
func (s *session) exchange(ctx context.Context, c *call, lane pb.Lane, x *pb.Exchange,
	partials []tensor.Tensor) error {
	buffers := c.buffers[lane]
	tag, values, err := s.decode(c, x, partials, buffers)
	if err != nil {
		return err
	}
	c.unanswered.Add(1)
	began := time.Now()
	wait := s.group.Exchange.Start(ctx, tag, values)
	s.replying.Go(func() {
		err := wait()
		c.waited.Add(int64(time.Since(began)))
		c.unanswered.Add(-1)
		m := &pb.Message{Call: c.body.Call, Body: &pb.Message_Reduced{Reduced: &pb.Reduced{
			Error: wire.EncodeError(err), Lane: pb.Lane(tag.Lane), Sequence: tag.Sequence}}}
		if s.turns {
			m.Lane = pb.Lane(tag.Lane)
		}
		if s.answers.send(s.conn, m, values, err == nil && x.GetChunk() == nil) != nil {
			s.conn.Close() // the reader gets the error
		} else if err == nil { // after an error, other members of the group may still read the values
			s.answers.put(buffers)
		}
	})
	return nil
}

// decode decodes an exchange with values in the pool or in messages. It checks the sizes
// against the program, the replicas against the group of the device, and the tag against the
// position in the run. Each error names the received exchange and the exchange that was due.
func (s *session) decode(c *call, x *pb.Exchange, partials []tensor.Tensor, b *buffers) (
	tag collective.Tag, values []collective.Reduction, err error) {
	var results []tensor.Tensor
	if x.GetChunk() != nil {
		if partials, results, err = s.inChunk(c, x); err != nil {
			return tag, nil, err
		}
	}
	tag, values, err = wire.DecodeExchange(x, partials, c.limits.value)
	if err == nil {
		err = s.checkPartials(tag, values)
	}
	if err == nil {
		if len(s.group.Machine) == 0 { // otherwise the rows of other devices are unknown here
			c.progress.SetReplicas(s.group.Replicas[s.group.Rank], c.rows)
		}
		err = c.progress.Next(tag, values)
	}
	if err != nil {
		return tag, nil, err
	}
	if x.GetChunk() == nil {
		results = b.results.Allocate(wire.Results(values))
	}
	wire.SetResults(values, results)
	return tag, values, nil
}

// checkPartials returns an error unless the device sends values for the current group, and
// for exactly the subtrees of the canonical tree that its replicas cover. collective.Hub
// checks whether the device agrees with the other members.
func (s *session) checkPartials(tag collective.Tag, values []collective.Reduction) error {
	if tag.Generation != s.group.Generation {
		return fmt.Errorf("an exchange of generation %d, this is %d", tag.Generation, s.group.Generation)
	}
	want := collective.Cover(s.group.Leaves(), s.group.Exchanged())
	is := func(p collective.Partial, n collective.Node) bool { return p.Node == n }
	for _, v := range values {
		if !slices.EqualFunc(v.Partials, want, is) {
			return fmt.Errorf("exchange %s brings other parts than %v", tag.Name, want)
		}
	}
	return nil
}
