package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
)

// Codec encodes messages for gRPC like gRPC's protobuf codec, but copies the bytes of tensors only once
// on each side. The sender copies them from the tensor to a buffer of the connection, and the receiver
// from buffers to the tensor. gRPC's codec makes two more copies in the receiver, and allocates memory
// for each message.
type Codec struct{}

// incoming is a received message. data has the bytes of the message's field data, which is empty in the
// message itself.
type incoming struct {
	message pb.Message
	data    mem.BufferSlice
}

// dataField is the number of the field data of a message.
const dataField = 3

// Name implements encoding.CodecV2.
func (Codec) Name() string { return protocodec.Name }

// Marshal implements encoding.CodecV2.
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*pb.Message)
	if !ok || len(m.Data) == 0 {
		return encoding.GetCodecV2(protocodec.Name).Marshal(v)
	}
	data := m.Data
	m.Data = nil
	head, err := proto.Marshal(m)
	if m.Data = data; err != nil {
		return nil, err
	}
	head = protowire.AppendTag(head, dataField, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(data)))
	return mem.BufferSlice{mem.SliceBuffer(head), mem.Copy(data, Pool)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (Codec) Unmarshal(in mem.BufferSlice, v any) error {
	to, ok := v.(*incoming)
	if !ok {
		return encoding.GetCodecV2(protocodec.Name).Unmarshal(in, v)
	}
	rest, data, err := cutData(in)
	if err == nil {
		err = proto.Unmarshal(rest, &to.message)
	}
	if err != nil {
		data.Free()
		return err
	}
	to.data = data
	return nil
}

// cutData splits an encoded message. It returns all fields except data, and the bytes of data, which the
// caller must free. If the field data occurs more than once, the last value counts.
func cutData(in mem.BufferSlice) (rest []byte, data mem.BufferSlice, err error) {
	for r := (fieldReader{in: in}); ; {
		tag, err := binary.ReadUvarint(&r)
		if errors.Is(err, io.EOF) {
			return rest, data, nil
		}
		if err == nil {
			if number, kind := protowire.DecodeTag(tag); number == dataField && kind == protowire.BytesType {
				data.Free()
				data, err = r.buffers()
			} else {
				rest, err = r.appendField(protowire.AppendVarint(rest, tag), kind)
			}
		}
		if err != nil {
			return nil, data, fmt.Errorf("message is not protobuf: %w", err)
		}
	}
}

// fieldReader reads the fields of a message from the buffers that hold it.
type fieldReader struct {
	in mem.BufferSlice
	at int // position in the first buffer
}

// ReadByte implements io.ByteReader.
func (r *fieldReader) ReadByte() (byte, error) {
	for ; len(r.in) > 0; r.in, r.at = r.in[1:], 0 {
		if b := r.in[0].ReadOnlyData(); r.at < len(b) {
			r.at++
			return b[r.at-1], nil
		}
	}
	return 0, io.EOF
}

// take calls visit for the parts of the buffers that hold the next n bytes.
func (r *fieldReader) take(n uint64, visit func(b mem.Buffer, from, to int)) error {
	for n > 0 {
		if len(r.in) == 0 {
			return io.ErrUnexpectedEOF
		}
		b := r.in[0]
		k := int(min(n, uint64(b.Len()-r.at)))
		if k > 0 {
			visit(b, r.at, r.at+k)
		}
		n, r.at = n-uint64(k), r.at+k
		if r.at == b.Len() {
			r.in, r.at = r.in[1:], 0
		}
	}
	return nil
}

// buffers reads a length, and returns that number of bytes without copying them.
func (r *fieldReader) buffers() (all mem.BufferSlice, err error) {
	n, err := r.length()
	if err != nil {
		return nil, err
	}
	err = r.take(n, func(b mem.Buffer, from, to int) { all = append(all, b.Slice(from, to)) })
	return all, err
}

// appendField appends the value of a field, with its length if it has one.
func (r *fieldReader) appendField(to []byte, kind protowire.Type) ([]byte, error) {
	var n uint64
	var err error
	switch kind {
	case protowire.VarintType:
		v, err := r.length()
		return protowire.AppendVarint(to, v), err
	case protowire.Fixed32Type:
		n = 4
	case protowire.Fixed64Type:
		n = 8
	case protowire.BytesType:
		n, err = r.length()
		to = protowire.AppendVarint(to, n)
	default:
		err = fmt.Errorf("field of type %d", kind)
	}
	if err != nil {
		return nil, err
	}
	err = r.take(n, func(b mem.Buffer, from, end int) { to = append(to, b.ReadOnlyData()[from:end]...) })
	return to, err
}

// length reads a length. It is an error if the message ends before it.
func (r *fieldReader) length() (uint64, error) {
	n, err := binary.ReadUvarint(r)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
