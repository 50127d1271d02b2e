package wire

import (
	"encoding/binary"
	"fmt"
	"io"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
	"google.golang.org/protobuf/proto"
)

// Pipe is a bidirectional connection of bytes through shared memory. Flush makes written
// bytes visible to the other side.
type Pipe interface {
	io.ReadWriteCloser
	Flush() error
}

// NewPipe returns a connection of level shm/1 over p. A message is sent as a
// record: the length of the encoded message as 4 bytes, little endian; the
// encoded message; the bytes of its tensors without gaps.
func NewPipe(p Pipe) Conn { return &pipe{pipe: p} }

type pipe struct {
	pipe    Pipe
	out, in []byte
}

func (p *pipe) Close() error { return p.pipe.Close() }

func (p *pipe) Send(m *pb.Message, tensors []tensor.Tensor) error {
	attach(m, tensors)
	b, err := proto.MarshalOptions{}.MarshalAppend(append(p.out[:0], 0, 0, 0, 0), m)
	if err != nil {
		return err
	}
	p.out = b
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	if _, err := p.pipe.Write(b); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := p.pipe.Write(t.Bytes); err != nil {
			return err
		}
	}
	return p.pipe.Flush()
}

func (p *pipe) Recv(allocate Allocator) (*pb.Message, []tensor.Tensor, error) {
	m, err := p.message()
	if err != nil {
		return nil, nil, err
	}
	dst, err := targets(m, allocate)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range dst {
		if _, err := io.ReadFull(p.pipe, t.Bytes); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", Body(m), err)
		}
	}
	return m, dst, nil
}

func (p *pipe) message() (*pb.Message, error) {
	var length [4]byte
	if _, err := io.ReadFull(p.pipe, length[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > MaxBody {
		return nil, fmt.Errorf("record of %d bytes without its tensors, at most %d are allowed", n, MaxBody)
	}
	if int(n) > cap(p.in) {
		p.in = make([]byte, n)
	}
	b := p.in[:n]
	if _, err := io.ReadFull(p.pipe, b); err != nil {
		return nil, err
	}
	m := &pb.Message{}
	return m, proto.Unmarshal(b, m)
}
