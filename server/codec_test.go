package server

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/tensor"
)

// FuzzCodec checks that unmarshal reads any message as the protocol buffers library does.
func FuzzCodec(f *testing.F) {
	big := tensor.New(tensor.U8, 5, 64, 64, 1)
	for i := range big.Bytes {
		big.Bytes[i] = byte(i * i)
	}
	call := inMessage(big, true)
	call.Id, call.RawInputContents = "7", append(call.RawInputContents, nil, []byte{1})
	whole, err := proto.Marshal(call)
	if err != nil {
		f.Fatal(err)
	}
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 5)
	for _, b := range [][]byte{
		whole, append(whole, whole...), append(unknown, whole...), whole[:len(whole)-1], whole[1:],
		append(whole, unknown...), append(whole, 7<<3|5, 0, 0, 0, 0), append(whole, 0x80),
		append(whole, 7<<3|2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want, got := &pb.ModelInferRequest{}, &pb.ModelInferRequest{}
		no, err := proto.Unmarshal(b, want), unmarshal(b, got)
		if (no == nil) != (err == nil) {
			t.Fatalf("%d bytes: %v, want %v", len(b), err, no)
		}
		if no == nil && !proto.Equal(got, want) {
			t.Errorf("%d bytes are another message", len(b))
		}
	})
}

// TestBuffers checks that memory of answered requests is used again, and that two requests never use the same
// memory at once.
func TestBuffers(t *testing.T) {
	for range 100 {
		a, b := newBuffer(1<<20), newBuffer(1<<20)
		if len(a) != 1<<20 || &a[0] == &b[0] {
			t.Fatal("one memory for two requests")
		}
		recycleBuffer(a[:7])
		if c := newBuffer(2 << 20); len(c) != 2<<20 {
			t.Errorf("%d bytes", len(c))
		}
		recycleBuffer(b)
	}
}
