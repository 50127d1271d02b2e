package server

import (
	"encoding/binary"
	"io"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
)

// codec reads messages as that of gRPC does, but copies the elements of tensors
// once instead of thrice: from the frames that they came in to where they stay.
type codec struct{ encoding.CodecV2 }

// newCodec returns one for protocol buffers.
func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

// Unmarshal implements encoding.CodecV2. What it does not read itself, and what
// is wrong, is the other's.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(*pb.ModelInferRequest)
	if !ok || data.Len() < leastKept {
		return c.CodecV2.Unmarshal(data, v)
	}
	rest, raw, err := apart(data)
	if err == nil {
		err = proto.Unmarshal(rest, in)
	}
	if err != nil {
		return c.CodecV2.Unmarshal(data, v)
	}
	in.RawInputContents = raw
	return nil
}

// rawContents is the tag of raw_input_contents in ModelInferRequest, all of
// whose fields are of this kind.
var rawContents = protowire.EncodeTag(7, protowire.BytesType)

// apart returns a ModelInferRequest without its raw_input_contents, and those.
func apart(data mem.BufferSlice) (rest []byte, raw [][]byte, err error) {
	r := data.Reader()
	defer r.Close()
	for r.Remaining() > 0 {
		tag, err := binary.ReadUvarint(r)
		if err != nil {
			return nil, nil, err
		}
		size, err := binary.ReadUvarint(r)
		if err != nil || tag&7 != uint64(protowire.BytesType) || size > uint64(r.Remaining()) {
			return nil, nil, io.ErrUnexpectedEOF
		}
		if tag == rawContents {
			b := newBuffer(int(size))
			if _, err := io.ReadFull(r, b); err != nil {
				return nil, nil, err
			}
			raw = append(raw, b)
			continue
		}
		rest = protowire.AppendVarint(protowire.AppendVarint(rest, tag), size)
		from := len(rest)
		rest = append(rest, make([]byte, size)...)
		if _, err := io.ReadFull(r, rest[from:]); err != nil {
			return nil, nil, err
		}
	}
	return rest, raw, nil
}
