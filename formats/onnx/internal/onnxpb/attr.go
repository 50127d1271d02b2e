package onnxpb

import (
	"google.golang.org/protobuf/proto"
)

// IntAttr returns an attribute with one integer.
func IntAttr(name string, v int) *AttributeProto {
	return &AttributeProto{Name: name, Type: AttributeProto_INT, I: proto.Int64(int64(v))}
}

// FloatAttr returns an attribute with one number.
func FloatAttr(name string, v float64) *AttributeProto {
	return &AttributeProto{Name: name, Type: AttributeProto_FLOAT, F: proto.Float32(float32(v))}
}

// TextAttr returns an attribute with a text.
func TextAttr(name, v string) *AttributeProto {
	return &AttributeProto{Name: name, Type: AttributeProto_STRING, S: []byte(v)}
}

// IntsAttr returns an attribute with a list of integers.
func IntsAttr(name string, l ...int) *AttributeProto {
	a := &AttributeProto{Name: name, Type: AttributeProto_INTS}
	for _, n := range l {
		a.Ints = append(a.Ints, int64(n))
	}
	return a
}
