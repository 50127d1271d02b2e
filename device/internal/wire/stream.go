package wire

import (
	"fmt"
	"sync"

	"google.golang.org/grpc/mem"

	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// Stream is either side of the gRPC stream of a session, with Codec as its codec.
type Stream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// NewStream returns a connection of level stream/1. Close calls end, which must make a Recv
// in progress return. One goroutine may send messages of the lane of gradients (pb.Message.Lane) while
// another one sends other messages. The messages are then sent in turns, a chunk at a time.
func NewStream(s Stream, end func()) Conn { return &stream{stream: s, end: end} }

type stream struct {
	stream  Stream
	end     func()
	turns   turns
	partial [collective.Lanes]*incomplete // messages of which chunks are missing
}

// incomplete is a message of which chunks are missing.
type incomplete struct {
	message *pb.Message
	dst     []tensor.Tensor
	filler  *filler
}

func (s *stream) Close() error {
	s.end()
	return nil
}

// Send sends the first ChunkBytes of the tensors in the message m, and the rest in
// messages that follow it. Messages of gradients are cut into smaller chunks, because messages of the
// other lane wait for the end of a chunk.
func (s *stream) Send(m *pb.Message, tensors []tensor.Tensor) error {
	attach(m, tensors)
	c := chunker{stream: s, message: m, size: ChunkBytes}
	if m.Lane == pb.Lane_LANE_GRADIENTS {
		c.size = gradientChunk
	}
	c.capacity = c.size
	for _, t := range tensors {
		if err := c.add(t.Bytes); err != nil {
			return err
		}
	}
	return c.flush()
}

// gradientChunk is the maximum number of tensor bytes of a message in the lane of gradients.
const gradientChunk = 256 << 10

// chunker splits tensors into messages of at most size bytes.
type chunker struct {
	stream         *stream
	message        *pb.Message
	size, capacity int
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
	lane := c.message.Lane
	c.stream.turns.take(lane)
	err := c.stream.stream.SendMsg(c.message)
	c.stream.turns.release(lane)
	c.message, c.capacity = &pb.Message{Call: c.message.Call, Lane: lane}, c.size
	return err
}

// turns makes senders of the two lanes send one message at a time. Gradients wait for all other messages.
type turns struct {
	mu      sync.Mutex
	changed sync.Cond
	busy    bool // a message is being sent
	urgent  int  // messages of the other lane that are being sent, or wait
}

func (t *turns) take(lane pb.Lane) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed.L == nil {
		t.changed.L = &t.mu
	}
	last := lane == pb.Lane_LANE_GRADIENTS
	if !last {
		t.urgent++
	}
	for t.busy || last && t.urgent > 0 {
		t.changed.Wait()
	}
	t.busy = true
}

func (t *turns) release(lane pb.Lane) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy = false
	if lane != pb.Lane_LANE_GRADIENTS {
		t.urgent--
	}
	t.changed.Broadcast()
}

// Recv reads messages until one of them is complete.
func (s *stream) Recv(allocate Allocator) (*pb.Message, []tensor.Tensor, error) {
	for {
		in := &incoming{}
		if err := s.stream.RecvMsg(in); err != nil {
			return nil, nil, s.missing(err)
		}
		lane := in.message.Lane
		if lane < 0 || lane >= collective.Lanes {
			in.data.Free()
			return nil, nil, fmt.Errorf("%s in lane %d, there are %d", Body(&in.message), lane, collective.Lanes)
		}
		p := s.partial[lane]
		if p == nil {
			dst, err := targets(&in.message, allocate)
			if err != nil {
				in.data.Free()
				return nil, nil, err
			}
			p = &incomplete{&in.message, dst, newFiller(dst)}
			s.partial[lane] = p
		} else if c := &in.message; c.Body != nil || len(c.Tensors) > 0 || len(in.data) == 0 {
			in.data.Free()
			return nil, nil, fmt.Errorf("%s: %d bytes are missing and %s comes instead", Body(p.message),
				p.filler.left, Body(c))
		}
		if err := p.filler.take(in.data); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", Body(p.message), err)
		}
		if p.filler.left == 0 {
			s.partial[lane] = nil
			return p.message, p.dst, nil
		}
	}
}

// missing adds the name of an incomplete message to the error of a connection.
func (s *stream) missing(err error) error {
	for _, p := range s.partial {
		if p != nil {
			return fmt.Errorf("%s: %w", Body(p.message), err)
		}
	}
	return err
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
