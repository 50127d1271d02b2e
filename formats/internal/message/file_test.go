package message

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// random returns a message with fields of all types, some larger than a page.
func random(r *rand.Rand) []byte {
	var b []byte
	for range 200 {
		n := protowire.Number(1 + r.IntN(1<<uint(1+r.IntN(20))))
		switch r.IntN(4) {
		case 0:
			b = protowire.AppendVarint(protowire.AppendTag(b, n, Varint), r.Uint64()>>uint(r.IntN(64)))
		case 1:
			b = protowire.AppendFixed32(protowire.AppendTag(b, n, Fixed32), r.Uint32())
		case 2:
			b = protowire.AppendFixed64(protowire.AppendTag(b, n, Fixed64), r.Uint64())
		case 3:
			v := bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(1<<uint(1+r.IntN(17))))
			b = protowire.AppendBytes(protowire.AppendTag(b, n, Bytes), v)
		}
	}
	return b
}

// list returns the fields of a message as reported by Walk or by File.Walk.
func list(b []byte, inFile bool) (fields []string, err error) {
	add := func(f Field) {
		fields = append(fields, fmt.Sprint(f.Number, f.Type, f.Bits, len(f.Bytes), bytes.Count(f.Bytes, []byte{1})))
	}
	if !inFile {
		return fields, Walk(b, func(f Field) error { add(f); return nil })
	}
	file := NewFile(bytes.NewReader(append([]byte("before"), b...)))
	at := int64(len("before"))
	err = file.Walk(Extent{at, int64(len(b))}, func(p FieldExtent) error {
		f, err := file.Field(p, 1<<20)
		add(f)
		if at += p.Whole.Size; p.Whole.End() != at {
			err = fmt.Errorf("a field ends at %d, want %d", p.Whole.End(), at)
		}
		return err
	})
	return fields, err
}

// TestFileWalk: a message has the same fields in a file and in memory, and truncation is
// detected in both.
func TestFileWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		b := random(r)
		for _, n := range []int{len(b), r.IntN(len(b)), r.IntN(len(b)), r.IntN(len(b))} {
			want, wantErr := list(b[:n], false)
			got, err := list(b[:n], true)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("%d bytes: %d fields, want %d, or they differ", n, len(got), len(want))
			}
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%d bytes: error %v, want %v", n, err, wantErr)
			}
		}
	}
}

// TestFileEnds checks that reading a file that has become shorter returns an error.
func TestFileEnds(t *testing.T) {
	b := protowire.AppendBytes(protowire.AppendTag(nil, 1, Bytes), make([]byte, 100_000))
	for _, n := range []int{0, 1, 3, 70_000} {
		file := NewFile(bytes.NewReader(b[:n]))
		err := file.Walk(Extent{0, int64(len(b))}, func(p FieldExtent) error {
			_, err := file.Field(p, len(b))
			return err
		})
		if err == nil {
			t.Errorf("%d bytes of %d were enough", n, len(b))
		}
	}
}
