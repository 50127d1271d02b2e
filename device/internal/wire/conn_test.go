package wire

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// queue is a Stream that returns the messages sent to it, with their contents at the time of SendMsg. A
// message arrives in buffers of 1,000 bytes, so that fields may begin in one buffer and end in another.
type queue struct{ messages [][]byte }

func (q *queue) SendMsg(m any) error {
	all, err := Codec{}.Marshal(m)
	if err == nil {
		q.messages = append(q.messages, all.Materialize())
		all.Free()
	}
	return err
}

func (q *queue) RecvMsg(m any) error {
	if len(q.messages) == 0 {
		return io.EOF
	}
	all := inBuffers(q.messages[0], 1000)
	defer all.Free()
	q.messages = q.messages[1:]
	return Codec{}.Unmarshal(all, m)
}

// inBuffers returns bytes in buffers of n bytes.
func inBuffers(b []byte, n int) (all mem.BufferSlice) {
	for part := range slices.Chunk(b, n) {
		all = append(all, mem.NewBuffer(&part, mem.NopBufferPool{}))
	}
	return all
}

// queued returns a queue of messages.
func queued(messages ...*pb.Message) *queue {
	q := &queue{}
	for _, m := range messages {
		_ = q.SendMsg(m) // the messages of the tests can be encoded
	}
	return q
}

// buffer is a Pipe that returns the bytes written to it.
type buffer struct{ bytes.Buffer }

func (b *buffer) Close() error { return nil }
func (b *buffer) Flush() error { return nil }

// anywhere returns an Allocator that allocates new memory for every tensor, up to a limit.
func anywhere(limit int64) Allocator {
	return func(m *pb.Message, heads []tensor.Tensor) ([]tensor.Tensor, error) {
		if Bytes(heads) > limit {
			return nil, io.ErrShortBuffer
		}
		return new(Arena).Allocate(heads), nil
	}
}

func filled(shape ...int) tensor.Tensor {
	t := tensor.New(tensor.U8, shape...)
	for i := range t.Bytes {
		t.Bytes[i] = byte(i * 7 >> 3)
	}
	return t
}

func TestMessagesArrive(t *testing.T) {
	for name, c := range map[string]Conn{
		"stream": NewStream(&queue{}, func() {}),
		"pipe":   NewPipe(&buffer{}),
	} {
		for _, tensors := range [][]tensor.Tensor{
			nil,
			{filled(3), filled(0, 5), filled()},
			{filled(ChunkBytes - 1), filled(2)},
			{filled(ChunkBytes)},
			{filled(2, ChunkBytes), filled(1)},
			{filled(100), filled(3*ChunkBytes + 5), filled(0), filled(77)},
		} {
			m := &pb.Message{Call: 7, Body: &pb.Message_Write{Write: &pb.Write{State: "w"}}}
			if err := c.Send(m, tensors); err != nil {
				t.Fatal(err)
			}
			got, out, err := c.Recv(anywhere(1 << 30))
			if err != nil || got.Call != 7 || got.GetWrite().GetState() != "w" || len(out) != len(tensors) {
				t.Fatalf("%s: %v arrives with %d of %d tensors, %v", name, got, len(out), len(tensors), err)
			}
			for i := range out {
				if !tensor.Equal(out[i], tensors[i]) {
					t.Errorf("%s: tensor %d, %v, arrives with other bytes", name, i, tensors[i])
				}
			}
		}
	}
}

// TestChunks checks the limit of the size of messages, which plugins rely on.
func TestChunks(t *testing.T) {
	q := &queue{}
	c := NewStream(q, func() {})
	m := &pb.Message{Body: &pb.Message_Run{Run: &pb.Run{}}}
	if err := c.Send(m, []tensor.Tensor{filled(9), filled(5 * ChunkBytes)}); err != nil {
		t.Fatal(err)
	}
	for i, b := range q.messages {
		m := &pb.Message{}
		if err := proto.Unmarshal(b, m); err != nil {
			t.Fatal(err)
		}
		if len(m.Data) > ChunkBytes || (i == 0) != (m.Body != nil) || i > 0 && len(m.Tensors) > 0 {
			t.Errorf("message %d has %d bytes, %d headers, body %v", i, len(m.Data), len(m.Tensors), m.Body)
		}
	}
}

func TestForeignMessages(t *testing.T) {
	data := func(n int) *pb.Message { return &pb.Message{Data: make([]byte, n)} }
	head := func(shape ...int64) *pb.Message {
		return &pb.Message{Tensors: []*pb.Tensor{{Dtype: pb.DType_DTYPE_U8, Shape: shape}}}
	}
	tests := []struct {
		name     string
		messages []*pb.Message
		want     string
	}{
		{"too much", []*pb.Message{{Data: make([]byte, 3)}}, "3 bytes more"},
		{"chunk too large", []*pb.Message{head(4), data(5)}, "1 bytes more"},
		{"nothing comes", []*pb.Message{head(4), data(0)}, "4 bytes are missing"},
		{"something else comes", []*pb.Message{head(4), head(4)}, "4 bytes are missing"},
		{"another lane", []*pb.Message{{Lane: 2}}, "in lane 2"},
		{"the same lane", []*pb.Message{{Lane: 1, Tensors: head(4).Tensors}, {Lane: 1, Tensors: head(4).Tensors}}, "4 bytes are missing"},
		{"the end comes", []*pb.Message{head(4)}, "EOF"},
		{"above the limit", []*pb.Message{head(1 << 40)}, "short buffer"},
		{"overflow", []*pb.Message{head(1<<40, 1<<40)}, "too large"},
		{"negative", []*pb.Message{head(-1)}, "negative"},
		{"rank", []*pb.Message{head(1, 1, 1, 1, 1, 1, 1, 1, 1)}, "9 axes"},
		{"type", []*pb.Message{{Tensors: []*pb.Tensor{{Dtype: 99}}}}, "unknown tensor type"},
		{"no header", []*pb.Message{{Tensors: []*pb.Tensor{nil}}}, "unknown tensor type"},
	}
	for _, test := range tests {
		_, _, err := NewStream(queued(test.messages...), func() {}).Recv(anywhere(1 << 20))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", test.name, err, test.want)
		}
	}
}

func TestForeignExchanges(t *testing.T) {
	f32 := func(shape ...int64) *pb.Tensor { return &pb.Tensor{Dtype: pb.DType_DTYPE_F32, Shape: shape} }
	f64 := func(shape ...int64) *pb.Tensor { return &pb.Tensor{Dtype: pb.DType_DTYPE_F64, Shape: shape} }
	i32 := &pb.Tensor{Dtype: pb.DType_DTYPE_I32}
	part := []*pb.Part{{From: 0, To: 1}}
	tests := []struct {
		name  string
		value *pb.Value
		parts []tensor.Tensor
	}{
		{"no such reduction", &pb.Value{Op: 9, Result: f32(2)}, nil},
		{"moments in f32", &pb.Value{Op: pb.Reduction_REDUCTION_MERGE_MOMENTS, Result: f32(3)}, nil},
		{"moments of even length", &pb.Value{Op: pb.Reduction_REDUCTION_MERGE_MOMENTS, Result: f64(4)}, nil},
		{"sum of integers", &pb.Value{Op: pb.Reduction_REDUCTION_SUM, Result: i32}, nil},
		{"too large", &pb.Value{Op: pb.Reduction_REDUCTION_SUM, Result: f32(1 << 20)}, nil},
		{"no result", &pb.Value{Op: pb.Reduction_REDUCTION_SUM}, nil},
		{"part is missing", &pb.Value{Op: pb.Reduction_REDUCTION_SUM, Result: f32(2), Parts: part}, nil},
		{"part of another size", &pb.Value{Op: pb.Reduction_REDUCTION_SUM, Result: f32(2), Parts: part},
			[]tensor.Tensor{tensor.New(tensor.F32, 3)}},
		{"part of another type", &pb.Value{Op: pb.Reduction_REDUCTION_SUM, Result: f32(2), Parts: part},
			[]tensor.Tensor{tensor.New(tensor.F64, 1)}},
		{"tensor of no part", &pb.Value{Op: pb.Reduction_REDUCTION_SUM, Result: f32(2)},
			[]tensor.Tensor{tensor.New(tensor.F32, 2)}},
	}
	for _, test := range tests {
		x := &pb.Exchange{Values: []*pb.Value{test.value}}
		if _, _, err := DecodeExchange(x, test.parts, 1<<16); err == nil {
			t.Errorf("%s: no error", test.name)
		}
	}
}

// FuzzPipe reads records from a peer that sends any bytes.
func FuzzPipe(f *testing.F) {
	b := &buffer{}
	x, parts := EncodeExchange(collective.Tag{Name: "m"}, []collective.Reduction{{
		Op:       collective.Sum,
		Partials: []collective.Partial{{Node: collective.Node{From: 0, To: 1}, Value: tensor.New(tensor.F32, 4)}},
		Result:   tensor.New(tensor.F32, 4),
	}})
	if err := NewPipe(b).Send(&pb.Message{Body: &pb.Message_Exchange{Exchange: x}}, parts); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		c := NewPipe(&buffer{*bytes.NewBuffer(in)})
		for {
			m, out, err := c.Recv(anywhere(1 << 16))
			if err != nil {
				return
			}
			if x := m.GetExchange(); x != nil {
				_, _, _ = DecodeExchange(x, out, 1<<16)
			}
		}
	})
}
