package caffe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/internal/message"
	"github.com/bnctl/bnctl/tensor"
)

// blob is a message BlobProto, which has one array of weights. The elements stay in the
// file.
type blob struct {
	src    io.ReaderAt
	shape  []int
	chunks []chunk
	double bool // elements are float64, otherwise float32
}

// chunk is a run of count elements of a file at intervals of step bytes. Packed elements
// are contiguous. Other elements each follow a tag of protobuf.
type chunk struct{ at, count, step int64 }

// Numbers of the fields of BlobProto that have the elements.
const (
	fieldFloats  = 5
	fieldDoubles = 8
)

// maxChunks limits the number of pieces in which a file stores the elements of a blob.
// Caffe writes one.
const maxChunks = 1024

func (d *decoder) blob(p message.FieldExtent) (blob, error) {
	b := blob{src: d.src}
	if err := p.Want(message.Bytes); err != nil {
		return b, err
	}
	var old [4]int
	err := d.file.Walk(p.Body, func(p message.FieldExtent) error {
		switch {
		case p.Number >= 1 && p.Number <= 4:
			if p.Bits > math.MaxInt32 {
				return fmt.Errorf("a length of %d", int64(p.Bits))
			}
			old[p.Number-1] = int(p.Bits)
		case p.Number == fieldFloats || p.Number == fieldDoubles:
			return b.elements(p)
		case p.Number == 7:
			f, err := d.load(p)
			if err != nil {
				return err
			}
			if b.shape, err = parseShape(f.Bytes); err != nil {
				return fmt.Errorf("its shape: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return b, err
	}
	if b.shape == nil && old != [4]int{} {
		b.shape = old[:]
	}
	return b, b.check()
}

// elements adds the elements in a field of the blob: a single one, or packed ones.
func (b *blob) elements(p message.FieldExtent) error {
	double := p.Number == fieldDoubles
	if len(b.chunks) > 0 && double != b.double {
		return errors.New("both floats and doubles")
	}
	b.double = double
	c := chunk{at: p.Body.At, count: p.Body.Size / b.width(), step: b.width()}
	switch {
	case p.Type == message.Fixed32 && !double, p.Type == message.Fixed64 && double:
		c = chunk{at: p.Whole.End() - b.width(), count: 1, step: p.Whole.Size}
	case p.Type != message.Bytes:
		return p.Want(message.Bytes)
	case c.count*c.step != p.Body.Size:
		return fmt.Errorf("a piece of %d bytes, elements have %d", p.Body.Size, c.step)
	case c.count == 0:
		return nil
	}
	if n := len(b.chunks); n > 0 {
		last := &b.chunks[n-1]
		if last.step == c.step && last.at+last.count*last.step == c.at {
			last.count += c.count
			return nil
		}
	}
	if b.chunks = append(b.chunks, c); len(b.chunks) > maxChunks {
		return fmt.Errorf("elements in more than %d pieces", maxChunks)
	}
	return nil
}

// parseShape reads a message BlobShape: its field 1, dim, has the lengths of the axes.
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

// width returns the size of an element in the file, in bytes.
func (b *blob) width() int64 {
	if b.double {
		return 8
	}
	return 4
}

// check returns an error if the number of elements differs from the shape.
func (b *blob) check() error {
	if err := tensor.CheckShape(tensor.F32, b.shape); err != nil {
		return err
	}
	have := int64(0)
	for _, c := range b.chunks {
		have += c.count
	}
	if want := tensor.Count(b.shape); have != int64(want) {
		return fmt.Errorf("%d elements for the shape %v, want %d", have, b.shape, want)
	}
	return nil
}

// load returns the elements as f32 in the given shape.
func (b *blob) load(shape ...int) (tensor.Tensor, error) {
	if err := tensor.CheckShape(tensor.F32, shape); err != nil || tensor.Count(b.shape) != tensor.Count(shape) {
		return tensor.Tensor{}, fmt.Errorf("a blob of shape %v, want %v", b.shape, shape)
	}
	out := tensor.New(tensor.F32, shape...)
	return out, b.readInto(out.Bytes)
}

// readInto fills dst with the elements as f32.
func (b *blob) readInto(dst []byte) error {
	for _, c := range b.chunks {
		n := 4 * c.count
		if err := b.readChunk(dst[:n], c); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

// readChunk reads one run of elements: at once if they are contiguous float32, otherwise in
// pieces that are converted.
func (b *blob) readChunk(dst []byte, c chunk) error {
	if c.step == 4 {
		return foreign.ReadAt(b.src, dst, c.at)
	}
	const piece = 4096 // elements
	buffer := make([]byte, min(c.count, piece)*c.step)
	for at := int64(0); at < c.count; at += piece {
		n := min(piece, c.count-at)
		src := buffer[:(n-1)*c.step+b.width()]
		if err := foreign.ReadAt(b.src, src, c.at+at*c.step); err != nil {
			return err
		}
		for i := range n {
			b.put(dst[4*(at+i):], src[i*c.step:])
		}
	}
	return nil
}

// put writes one element as f32.
func (b *blob) put(dst, src []byte) {
	if !b.double {
		copy(dst[:4], src)
		return
	}
	v := float32(math.Float64frombits(binary.LittleEndian.Uint64(src)))
	binary.LittleEndian.PutUint32(dst, math.Float32bits(v))
}
