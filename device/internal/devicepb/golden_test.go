package devicepb_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
)

var update = flag.Bool("update", false, "add what is new in device.proto to the golden")

const golden = "testdata/v1.txt"

// TestNothingBreaks compares device.proto with the version that plugins were built with.
// Version 1 of the protocol may grow, but nothing may be changed or removed: the name,
// number, type, cardinality or oneof of a field, a value of an enum, or a method. A
// change like that needs a new version, device/proto/device/v2.
func TestNothingBreaks(t *testing.T) {
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	was := strings.Split(strings.TrimSpace(string(b)), "\n")
	is := describe(pb.File_bnctl_device_v1_device_proto)
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("breaking: device.proto has no longer\n\t%s\nPlugins that were built with it would misread "+
				"messages or be misread. Put it back as it was, and add what is new at the end; what cannot be "+
				"an addition is version 2, in a folder of its own.", line)
		}
	}
	added := slices.DeleteFunc(slices.Clone(is), func(line string) bool { return slices.Contains(was, line) })
	switch {
	case len(added) == 0 || t.Failed():
	case *update:
		if err := os.WriteFile(golden, []byte(strings.Join(is, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("new in device.proto:\n\t%s\nOnce it is released it stays for good. If plugins that do not know "+
			"it keep working, say so by: go test ./device/internal/devicepb -run TestNothingBreaks -update",
			strings.Join(added, "\n\t"))
	}
}

// describe lists the parts of the protocol that plugins depend on, one per line, in the
// order of the file.
func describe(f protoreflect.FileDescriptor) []string {
	out := []string{"package " + string(f.Package()) + " " + f.Syntax().String()}
	each(f.Services(), func(s protoreflect.ServiceDescriptor) {
		each(s.Methods(), func(m protoreflect.MethodDescriptor) {
			out = append(out, fmt.Sprintf("rpc %s.%s(%s%s) %s%s", s.Name(), m.Name(),
				stream(m.IsStreamingClient()), m.Input().Name(), stream(m.IsStreamingServer()), m.Output().Name()))
		})
	})
	each(f.Enums(), func(e protoreflect.EnumDescriptor) {
		each(e.Values(), func(v protoreflect.EnumValueDescriptor) {
			out = append(out, fmt.Sprintf("enum %s %s = %d", e.Name(), v.Name(), v.Number()))
		})
	})
	each(f.Messages(), func(m protoreflect.MessageDescriptor) {
		out = append(out, "message "+string(m.Name()))
		each(m.Fields(), func(f protoreflect.FieldDescriptor) { out = append(out, field(m, f)) })
	})
	return out
}

// field describes everything about a field that affects its encoding.
func field(m protoreflect.MessageDescriptor, f protoreflect.FieldDescriptor) string {
	kind := f.Kind().String()
	switch {
	case f.Message() != nil:
		kind = string(f.Message().Name())
	case f.Enum() != nil:
		kind = string(f.Enum().Name())
	}
	line := fmt.Sprintf("field %s.%s = %d %v %s", m.Name(), f.Name(), f.Number(), f.Cardinality(), kind)
	if f.IsPacked() {
		line += " packed"
	}
	if o := f.ContainingOneof(); o != nil {
		line += " oneof " + string(o.Name())
	}
	return line
}

func stream(is bool) string {
	if is {
		return "stream "
	}
	return ""
}

// each calls f with each of a list of descriptors.
func each[D any](list interface {
	Len() int
	Get(int) D
}, f func(D)) {
	for i := range list.Len() {
		f(list.Get(i))
	}
}
