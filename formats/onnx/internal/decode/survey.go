package decode

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A protobuf message can use far more memory than it has bytes: an empty message in a list has two
// bytes in the file, and hundreds when decoded. So the file is surveyed before it is decoded.

// kind is a kind of fields. It determines the memory that a decoded field uses.
type kind int

const (
	bytesField   kind = iota // the same number of bytes as in the file
	stringField              // the same number of bytes, and a header for each string
	numberField              // 8 bytes for each number, packed or not
	messageField             // the memory of a message, which is surveyed too
)

// field describes a field of a message that is decoded.
type field struct {
	kind   kind
	fields fields
}

// fields describes the fields of a message by number; others are discarded.
type fields map[protowire.Number]field

var (
	text    = field{kind: stringField}
	raw     = field{kind: bytesField}
	numeric = field{kind: numberField}

	entryMessage  = fields{1: text, 2: text}
	tensorMessage = fields{1: numeric, 4: raw, 5: numeric, 7: numeric, 8: text, 9: raw, 10: raw, 11: numeric,
		13: list(entryMessage)}
	attributeMessage = fields{1: text, 4: raw, 5: list(tensorMessage), 7: raw, 8: numeric, 21: text}
	nodeMessage      = fields{1: text, 2: text, 3: text, 4: text, 5: list(attributeMessage), 7: text, 8: text}
	dimMessage       = fields{1: numeric, 2: text}
	shapeMessage     = fields{1: list(dimMessage)}
	arrayMessage     = fields{1: numeric, 2: list(shapeMessage)}
	typeMessage      = fields{1: list(arrayMessage)}
	valueMessage     = fields{1: text, 2: list(typeMessage)}
	graphMessage     = fields{1: list(nodeMessage), 2: text, 5: list(tensorMessage),
		11: list(valueMessage), 12: list(valueMessage)}
	functionMessage = fields{1: text, 4: text, 5: text, 6: text, 7: list(nodeMessage), 9: list(entryMessage),
		10: text, 11: list(attributeMessage), 13: text}
	modelMessage = fields{2: text, 3: text, 7: list(graphMessage), 8: list(entryMessage),
		14: list(entryMessage), 25: list(functionMessage)}
)

func init() { attributeMessage[6] = list(graphMessage) } // the branches of If

// maxDepth bounds the nesting of messages.
const maxDepth = 64

func list(m fields) field { return field{messageField, m} }

// messageCost is an upper bound of the memory of a decoded message in addition to its
// fields, in bytes. It holds for all structs of onnxpb and includes the entry in a list and
// the list's growth.
const messageCost = 320

// survey returns an upper bound of the memory that a message needs when decoded. It visits each message
// once for each message around it, at most maxDepth times.
func survey(b []byte, m fields, base int) (cost int, err error) { return surveyed(b, m, base, 0) }

func surveyed(b []byte, m fields, base, depth int) (cost int, err error) {
	if depth > maxDepth {
		return 0, fmt.Errorf("offset %d: messages lie more than %d deep in each other", base, maxDepth)
	}
	cost = messageCost
	for at := 0; at < len(b); {
		number, wire, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return 0, fmt.Errorf("offset %d: %w", base+at, protowire.ParseError(n))
		}
		at += n
		size := protowire.ConsumeFieldValue(number, wire, b[at:])
		if size < 0 {
			return 0, fmt.Errorf("offset %d: field %d: %w", base+at, number, protowire.ParseError(size))
		}
		f, known := m[number]
		if known {
			c, err := f.cost(wire, b[at:at+size], base+at, depth)
			if err != nil {
				return 0, err
			}
			cost += c
		}
		at += size
	}
	return cost, nil
}

// cost returns the memory of one occurrence of a field.
func (f field) cost(wire protowire.Type, b []byte, base, depth int) (int, error) {
	if wire != protowire.BytesType {
		return 16, nil // one number, which may make its list grow
	}
	body, _ := protowire.ConsumeBytes(b)
	switch f.kind {
	case messageField:
		return surveyed(body, f.fields, base+len(b)-len(body), depth+1)
	case stringField:
		return 48 + len(body), nil
	case numberField:
		return 8 * len(body), nil // a packed number has at least one byte
	}
	return len(body), nil
}
