package remote

import (
	"context"
	"errors"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

// maxPipelined is the maximum number of writes without an answer. Their answers fit into the buffers of
// the connection, so that the two sides never wait for each other while both write.
const maxPipelined = 64

// Write implements device.Executable. For a tensor in a mapped file the plugin receives the
// file and the position, so that the bytes are not copied.
func (x *executable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	return x.WriteAll(ctx, []string{name}, map[string]tensor.Tensor{name: t})
}

// WriteAll implements device.Executable. It sends several writes before it waits for answers,
// up to the number that the plugin permits. Therefore a model of some hundred small tensors is
// written in a few round trips instead of one for each tensor.
func (x *executable) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	most := 1
	if x.session.pipelinesWrites {
		most = maxPipelined
	}
	return x.session.peer.command.counter.measured(func() (waits int, err error) {
		for ; len(names) > 0; waits++ {
			n := min(most, len(names))
			if err := x.writeSome(ctx, names[:n], state); err != nil {
				return waits, err
			}
			names = names[n:]
		}
		return waits, nil
	})
}

// writeSome sends the tensors of names and then receives all answers. If a plugin cannot open
// the file of a tensor, its answer is an error of kind Unavailable, and writeSome sends the
// bytes instead.
func (x *executable) writeSome(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	calls := make([]*call, len(names))
	for i, name := range names {
		calls[i] = x.writeCall(name, state[name], x.session.fileParts)
	}
	if err := x.session.doAll(ctx, calls...); err != nil {
		return err
	}
	for i, c := range calls {
		m := c.answer
		err := x.session.answer(c.name, m.GetDone() != nil, m.GetDone().GetError(), m)
		if errors.Is(err, device.Unavailable) &&
			len(c.tensors) == 0 { // the plugin runs as another user, or in a VM
			c = x.writeCall(names[i], state[names[i]], false)
			err = x.session.callDone(ctx, c.name, c.body, c.tensors...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeCall returns the call that writes a tensor. If fileParts is true and the tensor is a range of a
// file, the call sends the range instead of the bytes.
func (x *executable) writeCall(name string, t tensor.Tensor, fileParts bool) *call {
	in := &pb.Write{Executable: x.number, State: name}
	c := &call{name: "Write " + name, body: &pb.Message{Body: &pb.Message_Write{Write: in}}}
	if fileParts {
		in.Part = wire.EncodeFilePart(t)
	}
	if in.Part == nil {
		c.tensors = []tensor.Tensor{t}
	}
	return c
}
