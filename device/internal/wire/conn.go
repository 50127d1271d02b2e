package wire

import (
	"fmt"
	"io"
	"math"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// Conn moves the messages of a session. One goroutine at a time may send, and one may receive; only a
// connection of NewStream has another rule. Any goroutine may call Close, which ends a Send or Recv in
// progress.
type Conn interface {
	// Send sends m with the tensors; their bytes may be overwritten when it returns.
	Send(m *pb.Message, tensors []tensor.Tensor) error
	// Recv returns the next message. Before it reads the tensors of the message, it calls allocate
	// with their heads. A head has the type and shape of a tensor, which have been checked; their
	// total size has not. The tensors that allocate returns must have the same number and sizes. After
	// an error the connection cannot be used any more.
	Recv(allocate Allocator) (*pb.Message, []tensor.Tensor, error)
	// Close ends the connection. Closing twice is legal.
	Close() error
}

// Allocator returns memory for the tensors of a message.
type Allocator func(m *pb.Message, heads []tensor.Tensor) ([]tensor.Tensor, error)

// Body names the body of a message.
func Body(m *pb.Message) string {
	if m.GetBody() == nil {
		return "a message without a body"
	}
	name := fmt.Sprintf("%T", m.GetBody())
	return name[len("*devicepb.Message_"):]
}

// Bytes returns the total size of the tensors in bytes, or the maximum int64 if the size is larger.
func Bytes(heads []tensor.Tensor) int64 {
	var total int64
	for _, h := range heads {
		n := int64(h.Count()) * int64(h.DType.Size())
		if total > math.MaxInt64/2-n {
			return math.MaxInt64
		}
		total += n
	}
	return total
}

// targets calls allocate for the tensors of m and checks the result.
func targets(m *pb.Message, allocate Allocator) ([]tensor.Tensor, error) {
	heads, err := headers(m.Tensors)
	if err != nil {
		return nil, err
	}
	dst, err := allocate(m, heads)
	if err != nil {
		return nil, err
	}
	if len(dst) != len(heads) {
		return nil, fmt.Errorf("%s came with %d tensors, want %d", Body(m), len(heads), len(dst))
	}
	for i, h := range heads {
		if len(dst[i].Bytes) != h.Count()*h.DType.Size() {
			return nil, fmt.Errorf("%s: tensor %d is %v, want %v", Body(m), i, h, dst[i])
		}
	}
	return dst, nil
}

// attach adds the headers of tensors to m.
func attach(m *pb.Message, tensors []tensor.Tensor) {
	m.Tensors = m.Tensors[:0]
	for _, t := range tensors {
		m.Tensors = append(m.Tensors, header(t))
	}
}

// filler fills tensors with bytes that arrive in pieces.
type filler struct {
	dst  []tensor.Tensor
	at   int // offset in the first of dst
	left int64
}

func newFiller(dst []tensor.Tensor) *filler { return &filler{dst: dst, left: Bytes(dst)} }

// Write adds the next piece. More bytes than the tensors hold are an error.
func (f *filler) Write(p []byte) (int, error) {
	if int64(len(p)) > f.left {
		return 0, fmt.Errorf("message with %d bytes more than its tensors take", int64(len(p))-f.left)
	}
	f.left -= int64(len(p))
	n := len(p)
	for len(p) > 0 {
		k := copy(f.dst[0].Bytes[f.at:], p)
		p, f.at = p[k:], f.at+k
		if f.at == len(f.dst[0].Bytes) {
			f.dst, f.at = f.dst[1:], 0
		}
	}
	return n, nil
}

var _ io.Writer = (*filler)(nil)
