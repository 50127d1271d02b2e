package wire

import (
	"fmt"

	"google.golang.org/grpc/mem"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// Stream is either side of the gRPC stream of a session, with Codec as its codec.
type Stream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// NewStream returns a connection of level stream/1. Close calls end, which must make a Recv
// in progress return.
func NewStream(s Stream, end func()) Conn { return &stream{s, end} }

type stream struct {
	stream Stream
	end    func()
}

func (s *stream) Close() error {
	s.end()
	return nil
}

// Send sends the first ChunkBytes of the tensors in the message m, and the rest in
// messages that follow it.
func (s *stream) Send(m *pb.Message, tensors []tensor.Tensor) error {
	attach(m, tensors)
	c := chunker{stream: s.stream, message: m, capacity: ChunkBytes}
	for _, t := range tensors {
		if err := c.add(t.Bytes); err != nil {
			return err
		}
	}
	return c.flush()
}

// chunker splits tensors into messages.
type chunker struct {
	stream   Stream
	message  *pb.Message
	capacity int
}

func (c *chunker) add(b []byte) error {
	for len(b) > c.capacity {
		first, rest := b[:c.capacity], b[c.capacity:]
		c.put(first)
		b = rest
		if err := c.flush(); err != nil {
			return err
		}
	}
	c.put(b)
	return nil
}

// put appends b to the message; the first piece is not copied.
func (c *chunker) put(b []byte) {
	if len(c.message.Data) == 0 {
		c.message.Data = b[:len(b):len(b)]
	} else {
		c.message.Data = append(c.message.Data, b...)
	}
	c.capacity -= len(b)
}

func (c *chunker) flush() error {
	err := c.stream.SendMsg(c.message)
	c.message, c.capacity = &pb.Message{Call: c.message.Call}, ChunkBytes
	return err
}

// Recv reads a message and the chunks that belong to it.
func (s *stream) Recv(allocate Allocator) (*pb.Message, []tensor.Tensor, error) {
	var in incoming
	if err := s.stream.RecvMsg(&in); err != nil {
		return nil, nil, err
	}
	m := &in.message
	dst, err := targets(m, allocate)
	if err != nil {
		in.data.Free()
		return nil, nil, err
	}
	f := newFiller(dst)
	if err := f.take(in.data); err != nil {
		return nil, nil, err
	}
	for f.left > 0 {
		if err := s.chunk(f); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", Body(m), err)
		}
	}
	return m, dst, nil
}

func (s *stream) chunk(f *filler) error {
	var in incoming
	if err := s.stream.RecvMsg(&in); err != nil {
		return err
	}
	if c := &in.message; c.Body != nil || len(c.Tensors) > 0 || len(in.data) == 0 {
		in.data.Free()
		return fmt.Errorf("%d bytes are missing and %s comes instead", f.left, Body(c))
	}
	return f.take(in.data)
}

// take adds the bytes of buffers and frees them.
func (f *filler) take(data mem.BufferSlice) (err error) {
	defer data.Free()
	for _, b := range data {
		if _, err = f.Write(b.ReadOnlyData()); err != nil {
			return err
		}
	}
	return nil
}
