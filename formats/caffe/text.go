package caffe

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/bnctl/bnctl/formats/internal/message"
)

// maxText is the length limit for a description in text, in bytes: a layer needs a few
// hundred.
const maxText = 1 << 20

var beginsText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(?:\s*#[^\n]*\n|\s+)*(?:name|input|input_dim|input_shape|force_backward|state|layers?)\s*[:{]`)
})

// SniffText reports whether a file that starts with head may be the description of a
// network in text, like deploy.prototxt.
func SniffText(head []byte) bool {
	if beginsText().Match(head) {
		return true
	}
	only := bytes.TrimSpace(head) // the part examined may consist of comments
	return bytes.HasPrefix(only, []byte("#")) && bytes.Contains(head, []byte("caffe"))
}

// parseText reads a description in text.
func parseText(text []byte) (*net, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("a description of %d bytes; at most %d are supported", len(text), maxText)
	}
	md, err := netDescriptor()
	if err != nil {
		return nil, err
	}
	m := dynamicpb.NewMessage(md)
	if err := (prototext.UnmarshalOptions{}).Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("the description in text: %s", unreadable(err))
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	src := bytes.NewReader(b)
	d := &decoder{src: src, file: message.NewFile(src), net: net{phase: test}}
	return d.read(int64(len(b)))
}

// atLine finds the place and the reason in an error of package prototext.
var atLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(line (\d+):\d+\): (.*)$`) })

// unreadable returns an explanation of a parse error in the terms of the file. An unknown
// field belongs to a fork of Caffe, like prior_box_param of SSD.
func unreadable(err error) string {
	m := atLine().FindStringSubmatch(err.Error())
	if m == nil {
		return strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), " \u00a0")
	}
	if field, ok := strings.CutPrefix(m[2], "unknown field: "); ok {
		return fmt.Sprintf("line %s: %s is not one of Caffe's fields that bnctl knows", m[1], field)
	}
	return fmt.Sprintf("line %s: %s", m[1], m[2])
}

// netDescriptor returns the descriptor of NetParameter in schema.
var netDescriptor = sync.OnceValues(func() (protoreflect.MessageDescriptor, error) {
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("caffe.proto"), Package: proto.String("caffe"),
		Syntax: proto.String("proto2")}
	messages, enums := parsed()
	for _, e := range enums {
		d := &descriptorpb.EnumDescriptorProto{Name: proto.String(e.name)}
		for _, v := range e.values {
			d.Value = append(d.Value, &descriptorpb.EnumValueDescriptorProto{Name: proto.String(v.name),
				Number: proto.Int32(int32(v.number))})
		}
		// In protobuf the values of an enum are names in the scope around the enum, so each enum
		// gets a message of its own as its scope.
		file.MessageType = append(file.MessageType, &descriptorpb.DescriptorProto{
			Name: proto.String("Of" + e.name), EnumType: []*descriptorpb.EnumDescriptorProto{d}})
	}
	for _, m := range messages {
		d := &descriptorpb.DescriptorProto{Name: proto.String(m.name)}
		for _, f := range m.fields {
			d.Field = append(d.Field, f.descriptor())
		}
		file.MessageType = append(file.MessageType, d)
	}
	d, err := protodesc.NewFile(file, new(protoregistry.Files))
	if err != nil {
		return nil, err
	}
	return d.Messages().ByName("NetParameter"), nil
})

// scalars gives the types of fields other than messages and enums.
var scalars = map[string]descriptorpb.FieldDescriptorProto_Type{
	"uint32": descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	"int32":  descriptorpb.FieldDescriptorProto_TYPE_INT32,
	"int64":  descriptorpb.FieldDescriptorProto_TYPE_INT64,
	"bool":   descriptorpb.FieldDescriptorProto_TYPE_BOOL,
	"float":  descriptorpb.FieldDescriptorProto_TYPE_FLOAT,
	"string": descriptorpb.FieldDescriptorProto_TYPE_STRING,
}

func (f *protoField) descriptor() *descriptorpb.FieldDescriptorProto {
	d := &descriptorpb.FieldDescriptorProto{Name: proto.String(f.name), Number: proto.Int32(int32(f.number)),
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	if f.repeated {
		d.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	}
	_, enums := parsed()
	isEnum := slices.ContainsFunc(enums, func(e protoEnum) bool { return e.name == f.kind })
	switch t, ok := scalars[f.kind]; {
	case ok:
		d.Type = t.Enum()
	case isEnum:
		d.Type = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum()
		d.TypeName = proto.String(".caffe.Of" + f.kind + "." + f.kind)
	default:
		d.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
		d.TypeName = proto.String(".caffe." + f.kind)
	}
	return d
}
