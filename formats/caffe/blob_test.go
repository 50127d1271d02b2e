package caffe

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bnctl/bnctl/formats/internal/message"
	"github.com/bnctl/bnctl/tensor"
)

// encode returns a blob of the elements v, in fields of floats or of doubles,
// packed in pieces of random lengths and one by one. Fields that say nothing
// lie between some of them.
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
		case 0: // packed, also as nothing
			n := width * r.IntN(len(all)/width+1)
			out = protowire.AppendBytes(protowire.AppendTag(out, field, protowire.BytesType), all[:n])
			all = all[n:]
		case 1: // a number of single ones
			for n := r.IntN(len(all)/width + 1); n > 0; n-- {
				out = append(protowire.AppendTag(out, field, single), all[:width]...)
				all = all[width:]
			}
		case 2: // a field that is not read
			out = protowire.AppendVarint(protowire.AppendTag(out, 20, protowire.VarintType), r.Uint64())
		}
	}
	return out
}

// TestElements: however its elements are encoded, a blob has them, in order.
func TestElements(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, 4096, 4097, 30000} {
		for i := range 12 {
			want := tensor.New(tensor.F32, n)
			for k := range want.F32() {
				want.F32()[k] = float32(r.NormFloat64())
			}
			before := bytes.Repeat([]byte{0x08, 1}, r.IntN(3*n)) // so that elements lie anywhere
			b := append(before, encode(want.F32(), i%2 == 1, r)...)
			src := bytes.NewReader(b)
			d := &decoder{src: src, file: message.NewFile(src)}
			body := message.Extent{At: int64(len(before)), Size: int64(len(b) - len(before))}
			got, err := d.blob(message.Part{Number: 7, Type: message.Bytes, Whole: body, Body: body})
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

// TestSettingsLarge: what is read into memory beside names is bounded.
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
