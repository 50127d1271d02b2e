package modelfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bnctl/bnctl/models"
)

// field is a field of a message of protobuf: text or a message, or a number.
func field[T int | string](number protowire.Number, v T) string {
	switch v := any(v).(type) {
	case string:
		return string(protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), []byte(v)))
	case int:
		return string(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(v)))
	}
	panic("no field")
}

// openGraph writes an ONNX file of one convolution of pictures with this number of
// channels. It leaves their height and width open: see onnx.proto for the numbers of the
// fields.
func openGraph(t *testing.T, channels int) string {
	t.Helper()
	node := func(op string, in ...string) string {
		n := field(4, op) + field(2, op)
		for _, name := range in {
			n = field(1, name) + n
		}
		return field(1, n)
	}
	value := func(dims ...string) string {
		shape := ""
		for _, d := range dims {
			shape += field(1, d)
		}
		return field(2, field(1, field(1, 1)+field(2, shape)))
	}
	weight := ""
	for _, n := range []int{2, channels, 1, 1} {
		weight += field(1, n)
	}
	weight += field(2, 1) + field(8, "w") + field(9, strings.Repeat("\x00\x00\x80\x3f", 2*channels))
	graph := node("Conv", "w", "x") + node("GlobalAveragePool", "Conv") + node("Flatten", "GlobalAveragePool") +
		field(2, "open") + field(5, weight) +
		field(11, field(1, "x")+value(field(2, "n"), field(1, channels), field(2, "h"), field(2, "w"))) +
		field(12, field(1, "Flatten")+value(field(2, "n"), field(1, 2)))
	path := filepath.Join(t.TempDir(), "open.onnx")
	text := field(1, 8) + field(8, field(2, 13)) + field(7, graph)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpenSize: the requested size replaces the size that the graph in a file leaves open.
func TestOpenSize(t *testing.T) {
	for _, channels := range []int{1, 3} {
		path := openGraph(t, channels)
		m, err := Open(path, Options{Size: models.Size{Height: 7, Width: 9}, Preprocess: Preprocess{Name: "raw"}})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := m.Size(); got != (models.Size{Height: 7, Width: 9, Channels: channels}) {
			t.Errorf("%d channels: %v", channels, got)
		}
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "is open") {
			t.Errorf("without a size: %v", err)
		}
	}
	_, err := Open(openGraph(t, 2), Options{Size: models.Size{Height: 7, Width: 9}})
	if err == nil || !strings.Contains(err.Error(), "say it with input 2,224,224") {
		t.Errorf("neither grey nor colours: %v", err)
	}
}
