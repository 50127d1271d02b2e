package caffe

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bnctl/bnctl/formats/internal/message"
	"github.com/bnctl/bnctl/tensor"
)

// encode returns a blob of the elements v, in fields of floats or of doubles, packed in
// pieces of random lengths and one by one, with unrelated fields between some of them.
func encode(v []float32, double bool, r *rand.Rand) []byte {
	field, single, width := protowire.Number(fieldFloats), protowire.Fixed32Type, 4
	if double {
		field, single, width = fieldDoubles, protowire.Fixed64Type, 8
	}
	var all []byte
	for _, x := range v {
		if double {
			all = binary.LittleEndian.AppendUint64(all, math.Float64bits(float64(x)))
		} else {
			all = binary.LittleEndian.AppendUint32(all, math.Float32bits(x))
		}
	}
	shape := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(len(v)))
	out := protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), shape)
	for len(all) > 0 {
		switch r.IntN(3) {
		case 0: // a packed field, which may be empty
			n := width * r.IntN(len(all)/width+1)
			out = protowire.AppendBytes(protowire.AppendTag(out, field, protowire.BytesType), all[:n])
			all = all[n:]
		case 1: // several elements, each in a field of its own
			for n := r.IntN(len(all)/width + 1); n > 0; n-- {
				out = append(protowire.AppendTag(out, field, single), all[:width]...)
				all = all[width:]
			}
		case 2: // a field that the reader ignores
			out = protowire.AppendVarint(protowire.AppendTag(out, 20, protowire.VarintType), r.Uint64())
		}
	}
	return out
}

// TestElements checks that a blob has all elements in order, for every encoding of the
// elements.
func TestElements(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, 4096, 4097, 30000} {
		for i := range 12 {
			want := tensor.New(tensor.F32, n)
			for k := range want.F32() {
				want.F32()[k] = float32(r.NormFloat64())
			}
			before := bytes.Repeat([]byte{0x08, 1}, r.IntN(3*n)) // so that elements have any alignment
			b := append(before, encode(want.F32(), i%2 == 1, r)...)
			src := bytes.NewReader(b)
			d := &decoder{src: src, file: message.NewFile(src)}
			body := message.Extent{At: int64(len(before)), Size: int64(len(b) - len(before))}
			got, err := d.blob(message.FieldExtent{Number: 7, Type: message.Bytes, Whole: body, Body: body})
			if err != nil {
				t.Fatal(err)
			}
			v, err := got.load(n)
			if err != nil || !tensor.Equal(v, want) {
				t.Errorf("%d elements in %d chunks, variant %d: %v, or they differ", n, len(got.chunks), i, err)
			}
		}
	}
}

// TestSettingsLarge checks the limit on settings, which are read into memory.
func TestSettingsLarge(t *testing.T) {
	message := func(field protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), body)
	}
	b := message(100, message(106, make([]byte, maxSettings+1)))
	const want = `layer 0 "": byte 5: field 106 has 1048577 bytes; at most 1048576 are supported`
	if got := outcome(b); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// fieldsOf returns a message of numbers and of bytes, in the order of their fields.
func fieldsOf(fields map[protowire.Number]any) (b []byte) {
	for _, number := range slices.Sorted(maps.Keys(fields)) {
		switch v := fields[number].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(v))
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
		}
	}
	return b
}

// TestShapes: a blob has its explicit shape, or the four lengths of old files.
func TestShapes(t *testing.T) {
	elements := make([]byte, 4*6)
	shape := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 6)
	for _, c := range []struct {
		fields map[protowire.Number]any
		want   []int
	}{
		{map[protowire.Number]any{fieldFloats: elements, 7: shape}, []int{6}},
		{map[protowire.Number]any{fieldFloats: elements, 7: shape, 1: 1, 2: 1, 3: 2, 4: 3}, []int{6}},
		{map[protowire.Number]any{fieldFloats: elements, 1: 1, 2: 1, 3: 2, 4: 3}, []int{1, 1, 2, 3}},
		{map[protowire.Number]any{}, nil},
	} {
		b := fieldsOf(c.fields)
		d := &decoder{src: bytes.NewReader(b), file: message.NewFile(bytes.NewReader(b))}
		body := message.Extent{Size: int64(len(b))}
		got, err := d.blob(message.FieldExtent{Number: 7, Type: message.Bytes, Whole: body, Body: body})
		if !slices.Equal(got.shape, c.want) {
			t.Errorf("%v: shape %v, %v, want %v", c.fields, got.shape, err, c.want)
		}
	}
}

// TestOldForks: a field that is absent from Caffe's first format, or has another type
// there, belongs to a fork, which may compute something else.
func TestOldForks(t *testing.T) {
	const relu, reluSettings = 18, 30
	for _, c := range []struct {
		number protowire.Number
		value  any
		fork   bool
	}{{reluSettings, []byte{}, false}, {reluSettings, 1, true}, {777, []byte{}, true}, {777, 1, true}} {
		layer := fieldsOf(map[protowire.Number]any{2: []byte("x"), 3: []byte("y"), 4: []byte("a"), 5: relu,
			c.number: c.value})
		shape := fieldsOf(map[protowire.Number]any{1: []byte{1, 2, 3, 3}})
		got := outcome(fieldsOf(map[protowire.Number]any{2: layer, 3: []byte("x"), 8: shape}))
		if strings.Contains(got, "a fork of Caffe") != c.fork {
			t.Errorf("field %d of %v: %s", c.number, c.value, got)
		}
	}
}
