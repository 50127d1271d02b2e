// Package message walks encoded protobuf messages, for readers that need only a few fields,
// without generated code and without copying.
package message

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field is a field of a message.
type Field struct {
	Number int
	Type   protowire.Type
	Bits   uint64 // value of a varint, fixed32 or fixed64 field
	Bytes  []byte // value of a field of bytes: text, a message or packed numbers
}

// Types of fields in the encoding of protobuf.
const (
	Varint  = protowire.VarintType
	Fixed32 = protowire.Fixed32Type
	Fixed64 = protowire.Fixed64Type
	Bytes   = protowire.BytesType
)

// Walk calls visit for every field of the message b, in its order. Errors
// name the offset in b.
func Walk(b []byte, visit func(Field) error) error {
	for at := 0; at < len(b); {
		f, n, err := Next(b[at:])
		if err == nil {
			err = visit(f)
		}
		if err != nil {
			return fmt.Errorf("byte %d: %w", at, err)
		}
		at += n
	}
	return nil
}

// Next reads the field at the front of b and returns its length.
func Next(b []byte) (Field, int, error) {
	num, typ, head := protowire.ConsumeTag(b)
	if head < 0 {
		return Field{}, 0, fmt.Errorf("the tag of a field is %s", fault(head))
	}
	f, n := Field{Number: int(num), Type: typ}, 0
	switch typ {
	case Varint:
		f.Bits, n = protowire.ConsumeVarint(b[head:])
	case Fixed32:
		var v uint32
		v, n = protowire.ConsumeFixed32(b[head:])
		f.Bits = uint64(v)
	case Fixed64:
		f.Bits, n = protowire.ConsumeFixed64(b[head:])
	case Bytes:
		f.Bytes, n = protowire.ConsumeBytes(b[head:])
	default:
		return f, 0, fmt.Errorf("field %d is a group, which is not supported", num)
	}
	if n < 0 {
		return f, 0, fmt.Errorf("field %d is %s", num, fault(n))
	}
	return f, head + n, nil
}

// fault returns a text for an error code of protowire; protowire's texts vary from build to
// build.
func fault(code int) string {
	if errors.Is(protowire.ParseError(code), io.ErrUnexpectedEOF) {
		return "truncated"
	}
	return "not valid"
}

// Want returns an error unless the field has type t.
func (f Field) Want(t protowire.Type) error {
	if f.Type != t {
		return fmt.Errorf("field %d has wire type %d, want %d", f.Number, f.Type, t)
	}
	return nil
}

// Varints returns the values of a repeated field of varints: one, or packed.
// At most limit are returned.
func (f Field) Varints(limit int) ([]uint64, error) {
	if f.Type == Varint {
		return []uint64{f.Bits}, nil
	}
	if err := f.Want(Bytes); err != nil {
		return nil, err
	}
	var out []uint64
	for b := f.Bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, fmt.Errorf("field %d is %s", f.Number, fault(n))
		}
		if out = append(out, v); len(out) > limit {
			return nil, fmt.Errorf("field %d has more than %d values", f.Number, limit)
		}
		b = b[n:]
	}
	return out, nil
}
