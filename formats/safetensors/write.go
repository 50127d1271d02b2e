package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

const alignment = 8 // alignment of the first element in the file

// Write writes tensors in their order, types and shapes, and the names of classes, if there
// are any, as metadata. In the file, elements of wider types come first, so that all are
// aligned. One tensor at a time is in memory.
func Write(w io.Writer, tensors []foreign.Tensor, labels ...string) error {
	if err := foreign.CheckNames(tensors); err != nil {
		return err
	}
	stored := slices.Clone(tensors)
	slices.SortStableFunc(stored, func(a, b foreign.Tensor) int {
		return cmp.Compare(b.DType.Size(), a.DType.Size())
	})
	head, err := encodeHeader(tensors, offsets(stored), labels)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	var buf []byte
	for _, t := range stored {
		n := t.Size()
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		if err := t.ReadInto(buf[:n]); err != nil {
			return err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

// offsets returns the offset of each tensor's first element, by the name of the tensor.
func offsets(stored []foreign.Tensor) map[string]int64 {
	at, next := map[string]int64{}, int64(0)
	for _, t := range stored {
		at[t.Name] = next
		next += int64(t.Size())
	}
	return at
}

// encodeHeader returns length and JSON, padded with spaces.
func encodeHeader(tensors []foreign.Tensor, offsets map[string]int64, labels []string) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, lengthSize))
	metadata := map[string]string{"format": "pt"}
	if len(labels) > 0 {
		metadata[foreign.LabelKey] = foreign.LabelText(labels)
	}
	free, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, `{"__metadata__":%s`, free)
	for _, t := range tensors {
		name, err := json.Marshal(t.Name)
		if err != nil {
			return nil, err
		}
		shape, err := json.Marshal(append([]int{}, t.Shape...))
		if err != nil {
			return nil, err
		}
		begin := offsets[t.Name]
		fmt.Fprintf(&b, `,%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`,
			name, names[t.DType], shape, begin, begin+int64(t.Size()))
	}
	b.WriteByte('}')
	for b.Len()%alignment != 0 {
		b.WriteByte(' ')
	}
	binary.LittleEndian.PutUint64(b.Bytes(), uint64(b.Len()-lengthSize))
	return b.Bytes(), nil
}
