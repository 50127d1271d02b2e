package server

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
)

// mostMessage is what the length of a message can say.
const mostMessage = math.MaxUint32

// The numbers of the elements of tensors in messages.
const (
	rawInputs  = protowire.Number(7) // raw_input_contents of ModelInferRequest
	rawOutputs = protowire.Number(6) // raw_output_contents of ModelInferResponse
)

// unmarshal reads a message. The elements of tensors stay where they are in b.
func unmarshal(b []byte, m proto.Message) error {
	in, ok := m.(*pb.ModelInferRequest)
	if !ok {
		return proto.Unmarshal(b, m)
	}
	rest, raw := apart(b)
	if err := proto.Unmarshal(rest, in); err != nil {
		return err
	}
	in.RawInputContents = raw
	return nil
}

// apart returns a ModelInferRequest without its raw_input_contents, and those,
// which share memory with b. What is wrong stays in the rest.
func apart(b []byte) (rest []byte, raw [][]byte) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return append(rest, b...), raw
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return append(rest, b...), raw
		}
		if number == rawInputs && kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b[n:])
			raw = append(raw, v[:len(v):len(v)])
		} else {
			rest = append(rest, b[:n+size]...)
		}
		b = b[n+size:]
	}
	return rest, raw
}

// marshal writes a message, in parts. The elements of tensors stay where they are.
func marshal(m proto.Message) (parts [][]byte, err error) {
	out, ok := m.(*pb.ModelInferResponse)
	if !ok {
		b, err := proto.Marshal(m)
		return [][]byte{b}, err
	}
	raw := out.RawOutputContents
	out.RawOutputContents = nil
	b, err := proto.Marshal(out)
	if err != nil {
		return nil, err
	}
	for _, elements := range raw {
		b = protowire.AppendTag(b, rawOutputs, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(len(elements)))
		parts, b = append(parts, b, elements), nil
	}
	if b != nil {
		parts = append(parts, b)
	}
	return parts, nil
}

// What protocol buffers make of a field, in bytes: a message, a string or bytes
// among others, and a number among others, in memory that doubles.
const (
	aMessage = 256
	aString  = 64
	aNumber  = 16
)

// becomes returns how many bytes a message takes once it is read, the elements
// of tensors apart: two bytes may become an input. It is no less than that.
func becomes(b []byte, d protoreflect.MessageDescriptor) (total int64) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return total
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return total
		}
		value := b[n : n+size]
		b = b[n+size:]
		switch f := d.Fields().ByNumber(number); {
		case f == nil:
			total += 2 * int64(n+size) // kept as it is
		case kind != protowire.BytesType:
			total += aNumber
		case f.Message() != nil:
			inside, _ := protowire.ConsumeBytes(value)
			total += aMessage + becomes(inside, f.Message())
		case f.Kind() == protoreflect.StringKind:
			total += aString + int64(size)
		case f.Kind() == protoreflect.BytesKind && number == rawInputs:
			total += aString
		case f.Kind() == protoreflect.BytesKind:
			total += aString + int64(size)
		default: // packed numbers: those of one byte become eight
			total += aNumber * int64(size)
		}
	}
	return total
}
