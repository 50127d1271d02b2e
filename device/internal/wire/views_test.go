package wire

import (
	"bytes"
	"testing"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// TestViews checks that the pieces of a message are decoded as they were encoded.
func TestViews(t *testing.T) {
	all := []View{{Inline: []byte("head")}, {Pool: 2, Offset: 1 << 40, Length: 7}, {Inline: []byte{}}, {Pool: 1}}
	got, err := Views(3, 1, all).Views()
	if err != nil || len(got) != len(all) {
		t.Fatalf("%d views, %v", len(got), err)
	}
	for i, v := range all {
		if g := got[i]; g.Pool != v.Pool || g.Pool > 0 && (g.Offset != v.Offset || g.Length != v.Length) ||
			!bytes.Equal(g.Inline, v.Inline) {
			t.Errorf("view %d is %+v, want %+v", i, g, v)
		}
	}
	if f := Back(3, 1, 1<<40); f.Got() != 1<<40 {
		t.Errorf("a chunk at %d comes back", f.Got())
	}
}

// FuzzViews checks that any bytes decode to views or an error, and that a view never has
// bytes that were not in the input.
func FuzzViews(f *testing.F) {
	f.Add(Views(0, 0, []View{{Inline: []byte("head")}, {Pool: 2, Offset: 64, Length: 128}}).Content)
	f.Add(make([]byte, ViewHeader+1))
	f.Fuzz(func(t *testing.T, b []byte) {
		views, err := Frame{Content: b}.Views()
		n := 0
		for _, v := range views {
			n += ViewHeader + len(v.Inline)
			if v.Offset < 0 || v.Length < 0 || v.Pool == 0 && int64(len(v.Inline)) != v.Length {
				t.Errorf("%+v", v)
			}
		}
		if err == nil && n != len(b) {
			t.Errorf("%d bytes were read as %d", len(b), n)
		}
	})
}

// TestInChunk checks that both sides find the values of an exchange at the same places, that the
// result of a value has the memory of its first partial value, and that a shorter chunk is refused.
func TestInChunk(t *testing.T) {
	number := func(n int) tensor.Tensor { return tensor.New(tensor.F32, n) }
	values := []collective.Reduction{
		{Op: collective.Sum, Result: number(3),
			Partials: []collective.Partial{{Value: number(3)}, {}, {Value: number(3)}}},
		{Op: collective.Sum, Result: number(17), Partials: []collective.Partial{{}}},
		{Op: collective.Sum, Result: number(1), Partials: []collective.Partial{{Value: number(1)}}}}
	x, sent := EncodeExchange(collective.Tag{}, values)
	n, err := SizeOfChunk(x)
	if want := 64 + 64 + 128 + 64; err != nil || n != want {
		t.Fatalf("a chunk of %d bytes, %v, want %d", n, err, want)
	}
	chunk := make([]byte, n)
	parts, results, err := InChunk(chunk, x)
	if err != nil || len(parts) != len(sent) || len(results) != len(values) {
		t.Fatalf("%d parts and %d results: %v", len(parts), len(results), err)
	}
	for i, at := range []int{0, 64, 256} {
		if parts[i].Bytes[0] = byte(i + 1); chunk[at] != byte(i+1) {
			t.Errorf("part %d is not at %d", i, at)
		}
	}
	for i, at := range []int{0, 128, 256} {
		results[i].Bytes[0] = byte(i + 7)
		if chunk[at] != byte(i+7) || len(results[i].Bytes) != len(values[i].Result.Bytes) {
			t.Errorf("result %d is not at %d", i, at)
		}
	}
	if _, _, err := InChunk(chunk[:n-1], x); err == nil {
		t.Error("a chunk that is too short was taken")
	}
}
