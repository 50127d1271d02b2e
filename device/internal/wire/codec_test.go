package wire

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
)

// FuzzCodec decodes any bytes, in buffers of any size, and compares the message with the result of
// package proto.
func FuzzCodec(f *testing.F) {
	whole, err := proto.Marshal(&pb.Message{Call: 300, Data: bytes.Repeat([]byte{1, 2, 3}, 1000),
		Tensors: []*pb.Tensor{{Dtype: pb.DType_DTYPE_F32, Shape: []int64{750}}},
		Body:    &pb.Message_Write{Write: &pb.Write{State: "w"}}})
	if err != nil {
		f.Fatal(err)
	}
	again := protowire.AppendBytes(protowire.AppendTag(whole, dataField, protowire.BytesType), []byte("again"))
	unknown := protowire.AppendFixed64(protowire.AppendTag(nil, 999, protowire.Fixed64Type), 5)
	unknown = protowire.AppendFixed32(protowire.AppendTag(unknown, 998, protowire.Fixed32Type), 5)
	for _, in := range [][]byte{nil, whole, again, unknown, whole[:len(whole)-1], whole[:2], {0x1a},
		{0x1a, 0xff}, {0x1b}, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}} {
		for _, n := range []uint16{1, 7, 2000, 1 << 15} {
			f.Add(in, n)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		var got incoming
		var want pb.Message
		all := inBuffers(in, max(int(size), 1))
		wrong, bad := Codec{}.Unmarshal(all, &got), proto.Unmarshal(in, &want)
		if bad == nil && wrong != nil && !hasGroup(in) || bad != nil && wrong == nil {
			t.Fatalf("%x: %v, want %v", in, wrong, bad)
		}
		if wrong != nil {
			return
		}
		got.message.Data = got.data.Materialize()
		got.data.Free()
		if len(got.message.Data) == 0 {
			got.message.Data, want.Data = nil, nil
		}
		if !proto.Equal(&got.message, &want) {
			t.Errorf("%x: %v, want %v", in, &got.message, &want)
		}
	})
}

// hasGroup reports whether an encoded message has a group, a form of proto2 that Codec refuses.
func hasGroup(in []byte) bool {
	for len(in) > 0 {
		number, kind, n := protowire.ConsumeField(in)
		if kind == protowire.StartGroupType || number == 0 && n > 0 {
			return true
		}
		if n < 0 {
			return false
		}
		in = in[n:]
	}
	return false
}

// TestCodecEncodes compares the encoding with package proto's, because plugins may use any protobuf
// library.
func TestCodecEncodes(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 10, 1<<10 + 1, 100_000, ChunkBytes} {
		m := &pb.Message{Call: 9, Data: filled(n).Bytes, Body: &pb.Message_Run{Run: &pb.Run{}}}
		all, err := Codec{}.Marshal(m)
		if err != nil || len(m.Data) != n {
			t.Fatalf("%d bytes: %v, %d bytes are left", n, err, len(m.Data))
		}
		got := &pb.Message{}
		if err := proto.Unmarshal(all.Materialize(), got); err != nil || !proto.Equal(got, m) {
			t.Errorf("%d bytes: %v, or another message", n, err)
		}
		all.Free()
	}
}
