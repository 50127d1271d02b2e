package serialize

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// twoInputs returns a template with two inputs.
func twoInputs(t *testing.T) *models.Model {
	t.Helper()
	g := &graph.Graph{Name: "two"}
	b := graph.NewBuilder("main", &g.State)
	x := b.Input("inputs", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{5}})
	slice := func(name string, begin, end int) graph.Value {
		return b.Op(graph.Slice, name, []graph.Value{x}, "begin", []int{begin}, "end", []int{end})
	}
	b.Output("y", b.Op(graph.Mul, "y", []graph.Value{slice("a", 0, 4), slice("rate", 4, 5)}), false)
	var err error
	if g.Main, err = b.Function(); err != nil {
		t.Fatal(err)
	}
	return &models.Model{Architecture: "two", Graph: g, State: map[string]tensor.Tensor{}, Fields: []models.Field{
		{Name: "a", DType: tensor.F32, Shape: []int{2, 2}}, {Name: "rate", DType: tensor.I64}}}
}

// A template with several inputs has version 2, which older readers refuse; all others keep 1.
func TestSeveralInputs(t *testing.T) {
	m, path := twoInputs(t), filepath.Join(t.TempDir(), "m.bnm")
	if _, err := WriteModel(path, m); err != nil {
		t.Fatal(err)
	}
	if v := binary.LittleEndian.Uint32(read(t, path)[magicSize:]); v != 2 {
		t.Errorf("version %d, want 2", v)
	}
	got, err := ReadModel(path)
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("read %+v (%v), wrote %+v", got, err, m)
	}
	var b bytes.Buffer
	if err := EncodeModel(&b, tinyModel(t)); err != nil {
		t.Fatal(err)
	}
	if v := binary.LittleEndian.Uint32(b.Bytes()[magicSize:]); v != 1 {
		t.Errorf("one input has version %d, want 1", v)
	}
}

// Inputs that do not fill the input of the graph are refused when they are read.
func TestSeveralInputsHostile(t *testing.T) {
	for want, inputs := range map[string][]inputField{
		"its inputs have 3 numbers": {{"a", "f32", list[int]{2}}, {"b", "f32", nil}},
		`input "a": `:               {{"a", "f31", list[int]{4}}, {"b", "f32", nil}},
		"two inputs are called":     {{"a", "f32", list[int]{4}}, {"a", "f32", nil}},
	} {
		m := twoInputs(t)
		write, err := container(Template, &header{Architecture: "two", Graph: string(m.Graph.Text()),
			Inputs: inputs}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := ParseModel("m", b.Bytes()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got error %v, want %q", inputs, err, want)
		}
	}
}
