package caffe

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/formats/internal/message"
	"github.com/bnctl/bnctl/tensor"
)

// blob is BlobProto: weights, still encoded.
type blob struct {
	shape  []int
	chunks [][]byte // of floats, or of doubles
	double bool
	loose  []byte // floats that were not packed
}

// maxChunks is how many pieces the elements of a blob may come in; Caffe writes one.
const maxChunks = 1024

func parseBlob(f message.Field) (blob, error) {
	var b blob
	if err := f.Want(message.Bytes); err != nil {
		return b, err
	}
	var old [4]int
	err := message.Walk(f.Bytes, func(f message.Field) (err error) {
		switch {
		case f.Number >= 1 && f.Number <= 4:
			if f.Bits > math.MaxInt32 {
				return fmt.Errorf("a blob has a length of %d", int64(f.Bits))
			}
			old[f.Number-1] = int(f.Bits)
		case f.Number == 5 && f.Type == message.Fixed32:
			b.loose = binary.LittleEndian.AppendUint32(b.loose, uint32(f.Bits))
		case f.Number == 5 || f.Number == 8:
			err = f.Want(message.Bytes)
			if b.chunks, b.double = append(b.chunks, f.Bytes), f.Number == 8; len(b.chunks) > maxChunks {
				return fmt.Errorf("a blob in more than %d pieces", maxChunks)
			}
		case f.Number == 7:
			b.shape, err = parseShape(f.Bytes)
		}
		return err
	})
	if err != nil {
		return b, err
	}
	if b.shape == nil && old != [4]int{} {
		b.shape = old[:]
	}
	return b, b.check()
}

// parseShape reads BlobShape: dim = 1.
func parseShape(p []byte) ([]int, error) {
	shape := []int{}
	err := message.Walk(p, func(f message.Field) (err error) {
		if f.Number == 1 {
			shape, err = appendDims(shape, f, tensor.MaxRank)
		}
		return err
	})
	return shape, err
}

func appendDims(dims []int, f message.Field, limit int) ([]int, error) {
	values, err := f.Varints(limit)
	for _, v := range values {
		if v > math.MaxInt32 || len(dims) == limit {
			return nil, fmt.Errorf("field %d: length %d, or more than %d of them", f.Number, int64(v), limit)
		}
		dims = append(dims, int(v))
	}
	return dims, err
}

func (b *blob) width() int {
	if b.double {
		return 8
	}
	return 4
}

// check compares the number of elements with the shape.
func (b *blob) check() error {
	have := len(b.loose)
	for _, c := range b.chunks {
		have += len(c)
	}
	d := tensor.F32
	if b.double {
		d = tensor.F64
	}
	want, err := tensor.Size(d, b.shape)
	if err != nil {
		return err
	}
	if b.double && len(b.loose) > 0 || have != want {
		return fmt.Errorf("a blob of shape %v has %d bytes of elements, want %d", b.shape, have, want)
	}
	return nil
}

// load returns the elements as f32 in the given shape.
func (b *blob) load(shape ...int) (tensor.Tensor, error) {
	have, err1 := tensor.Size(tensor.F32, b.shape)
	want, err2 := tensor.Size(tensor.F32, shape)
	if err1 != nil || err2 != nil || have != want {
		return tensor.Tensor{}, fmt.Errorf("a blob of shape %v, want %v", b.shape, shape)
	}
	out := tensor.New(tensor.F32, shape...)
	dst := out.F32()[:0]
	for _, c := range append([][]byte{b.loose}, b.chunks...) {
		for ; len(c) >= b.width(); c = c[b.width():] {
			if b.double {
				dst = append(dst, float32(math.Float64frombits(binary.LittleEndian.Uint64(c))))
			} else {
				dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(c)))
			}
		}
	}
	return out, nil
}
