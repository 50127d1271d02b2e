package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/awake"
	"github.com/bnctl/bnctl/tensor"
)

// remoteDevice is a device in a plugin process. Each method is one call of the session, and converts
// between the types of package device and the messages of device.proto. Rules of the contract are left
// to the plugin, with one exception: a program that is invalid for every device is not sent.
type remoteDevice struct {
	info    device.Info
	session *session
}

// Info implements device.Device. The first of Levels is the session's level.
func (d *remoteDevice) Info() device.Info { return d.info }

// Load implements device.Device.
func (d *remoteDevice) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	const name = "Load"
	err := device.CheckProgram(d.info.Name, p)
	if err != nil && !errors.Is(err, device.Unsupported) { // a plugin of a later release may support the program
		return nil, err
	}
	b, err := wire.EncodeProgram(p)
	if err != nil {
		return nil, device.Errorf(d.info.Name, name, device.Invalid, "%w", err)
	}
	m := &pb.Message{Body: &pb.Message_Load{Load: &pb.Load{Capacity: wire.EncodeCapacity(c)}}}
	m, _, err = d.session.do(ctx, &call{name: name, body: m, tensors: []tensor.Tensor{tensor.Of(b, len(b))}})
	if err != nil {
		return nil, err
	}
	l := m.GetLoaded()
	if err := d.session.answer(name, l != nil, l.GetError(), m); err != nil {
		return nil, err
	}
	return newExecutable(d.session, p, l), nil
}

// Join implements device.Device. The device exchanges data with the other members in shared memory, or
// through g.Exchange. The session calls g.Exchange in this process for each exchange that the device sends.
func (d *remoteDevice) Join(ctx context.Context, g device.Group) error {
	if g.Rank < 0 || g.Rank >= len(g.Replicas) {
		return device.Errorf(d.info.Name, "Join", device.Invalid, "rank %d of %d members", g.Rank, len(g.Replicas))
	}
	in := wire.EncodeGroup(g)
	in.Pool = d.session.offerPool(g)
	m := &pb.Message{Body: &pb.Message_Join{Join: in}}
	if err := d.session.callDone(ctx, "Join", m); err != nil {
		return err
	}
	d.session.mu.Lock()
	defer d.session.mu.Unlock()
	d.session.group = g
	return nil
}

// Close implements device.Device: it frees the device and ends its process.
func (d *remoteDevice) Close() error {
	d.session.close()
	return nil
}

// close ends the session once. It requests that the device free its resources, and then ends
// the process. It first ends a call in progress by its context, because the device reads Close
// only after the call.
func (s *session) close() {
	s.once.Do(func() {
		s.closing.Store(true)
		if s.order.busy() {
			s.end() // ends the call in progress
		}
		if !s.peer.dead() {
			ctx, cancel := awake.WithTimeout(context.Background(), 2*time.Second)
			_, _ = s.peer.rpc.Close(ctx, &pb.CloseRequest{})
			cancel()
		}
		s.end()
		s.peer.end()
		s.watchers.Wait()
		s.dropPool()
		s.threads(0)
	})
}

// callDone makes a call with the answer Done, without a tensor.
func (s *session) callDone(ctx context.Context, name string, m *pb.Message, in ...tensor.Tensor) error {
	m, _, err := s.do(ctx, &call{name: name, body: m, tensors: in})
	if err != nil {
		return err
	}
	return s.answer(name, m.GetDone() != nil, m.GetDone().GetError(), m)
}

// answered is like answer, for a call that returns tensors if it succeeds. came is the number of received
// tensors. A wrong number is an error, and ends the device.
func (s *session) answered(c *call, right bool, e *pb.Error, m *pb.Message, came int) error {
	if right && e == nil && came != len(c.result) {
		return s.wrong(c.name, fmt.Errorf("%s has no error and comes with %d tensors, want %v", wire.Body(m), came,
			c.result))
	}
	return s.answer(c.name, right, e, m)
}

// answer returns the device's error in an answer. If right is false, the answer does not belong to
// the call, and answer returns an error that reports this.
func (s *session) answer(name string, right bool, e *pb.Error, m *pb.Message) error {
	if !right {
		return s.wrong(name, fmt.Errorf("it answers with %s", wire.Body(m)))
	}
	return wire.DecodeError(s.name, name, e)
}

// wrong ends a device that gave an impossible answer, and returns the reason why the device is lost.
// The device is ended at once, because its further results cannot be trusted.
func (s *session) wrong(name string, err error) error {
	s.peer.process.kill()
	return s.loss.record(device.Errorf(s.name, name, device.Lost, "the plugin broke the protocol: %w", err))
}
