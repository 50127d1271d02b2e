package server

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
)

// maxMessageBytes is the largest length that the prefix of a message can hold.
const maxMessageBytes = math.MaxUint32

// The numbers of the message fields with the raw elements of tensors.
const (
	rawInputs  = protowire.Number(7) // raw_input_contents of ModelInferRequest
	rawOutputs = protowire.Number(6) // raw_output_contents of ModelInferResponse
)

// unmarshal parses a message. The elements of tensors share memory with b.
func unmarshal(b []byte, m proto.Message) error {
	in, ok := m.(*pb.ModelInferRequest)
	if !ok {
		return proto.Unmarshal(b, m)
	}
	rest, raw := splitRaw(b)
	if err := proto.Unmarshal(rest, in); err != nil {
		return err
	}
	in.RawInputContents = raw
	return nil
}

// splitRaw separates the raw_input_contents of a ModelInferRequest from its other fields, which it returns in
// rest. raw shares memory with b. Malformed input is also returned in rest.
func splitRaw(b []byte) (rest []byte, raw [][]byte) {
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

// marshal encodes a message as several slices, so that the elements of tensors are not copied.
func marshal(m proto.Message) (chunks [][]byte, err error) {
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
		chunks, b = append(chunks, b, elements), nil
	}
	if b != nil {
		chunks = append(chunks, b)
	}
	return chunks, nil
}

// Estimated memory of a decoded field of each kind, in bytes. Fields may be elements of slices, which
// grow by doubling.
const (
	messageBytes = 256
	stringBytes  = 64
	numberBytes  = 16
)

// decodedBytes returns an upper bound for the memory of a decoded message, without the raw elements of
// tensors. A message of many tiny fields needs far more memory than its encoding: two encoded bytes may
// become an input.
func decodedBytes(b []byte, d protoreflect.MessageDescriptor) (total int64) {
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
			total += 2 * int64(n+size) // the decoded message keeps unknown fields
		case kind != protowire.BytesType:
			total += numberBytes
		case f.Message() != nil:
			inside, _ := protowire.ConsumeBytes(value)
			total += messageBytes + decodedBytes(inside, f.Message())
		case f.Kind() == protoreflect.StringKind:
			total += stringBytes + int64(size)
		case f.Kind() == protoreflect.BytesKind && number == rawInputs:
			total += stringBytes
		case f.Kind() == protoreflect.BytesKind:
			total += stringBytes + int64(size)
		default: // packed numbers: a varint of one byte becomes a number of eight bytes
			total += numberBytes * int64(size)
		}
	}
	return total
}
