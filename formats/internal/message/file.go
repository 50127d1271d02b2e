package message

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// File walks messages in a file: only requested parts are read. It keeps a page of the
// file, so use it from one goroutine.
type File struct {
	src    io.ReaderAt
	page   []byte
	offset int64 // offset of page
}

// NewFile returns a File that reads src.
func NewFile(src io.ReaderAt) *File { return &File{src: src} }

// Extent is a range of bytes of a file.
type Extent struct{ At, Size int64 }

// End returns the offset after the range.
func (e Extent) End() int64 { return e.At + e.Size }

// FieldExtent is a field and its place in a file.
type FieldExtent struct {
	Number int
	Type   protowire.Type
	Bits   uint64 // value of a varint, fixed32 or fixed64 field
	Whole  Extent // tag and length included
	Body   Extent // the content of a field of bytes
}

// Want returns an error unless the field has type t.
func (p FieldExtent) Want(t protowire.Type) error {
	if err := (Field{Number: p.Number, Type: p.Type}).Want(t); err != nil {
		return fmt.Errorf("byte %d: %w", p.Whole.At, err)
	}
	return nil
}

// Walk calls visit for every field of the message in e, in its order. For an invalid
// encoding, it returns an error with the offset in the file; errors of visit are returned
// unchanged.
func (f *File) Walk(e Extent, visit func(FieldExtent) error) error {
	for at := e.At; at < e.End(); {
		p, err := f.next(at, e.End())
		if err != nil {
			return fmt.Errorf("byte %d: %w", at, err)
		}
		if err := visit(p); err != nil {
			return err
		}
		at = p.Whole.End()
	}
	return nil
}

const (
	pageSize = 64 << 10
	mostHead = 20 // bytes of a tag and a number
)

// next reads the tag of the field at an offset, and its value or length.
func (f *File) next(offset, end int64) (p FieldExtent, err error) {
	head, err := f.peek(offset, int(min(mostHead, end-offset)))
	if err != nil {
		return p, err
	}
	_, typ, tag := protowire.ConsumeTag(head)
	if tag < 0 || typ != Bytes {
		v, n, err := Next(head)
		return FieldExtent{Number: v.Number, Type: v.Type, Bits: v.Bits, Whole: Extent{offset, int64(n)}}, err
	}
	number, _, _ := protowire.ConsumeTag(head)
	length, n := protowire.ConsumeVarint(head[tag:])
	if n < 0 {
		return p, fmt.Errorf("field %d is %s", number, fault(n))
	}
	before := int64(tag + n)
	if length > uint64(end-offset-before) {
		return p, fmt.Errorf("field %d is truncated: it has %d bytes, %d are left", number, length,
			end-offset-before)
	}
	return FieldExtent{Number: int(number), Type: Bytes, Whole: Extent{offset, before + int64(length)},
		Body: Extent{offset + before, int64(length)}}, nil
}

// Read returns the bytes of e.
func (f *File) Read(e Extent) ([]byte, error) {
	if e.Size <= pageSize/2 {
		b, err := f.peek(e.At, int(e.Size))
		return append([]byte(nil), b...), err
	}
	b := make([]byte, e.Size)
	_, err := io.ReadFull(io.NewSectionReader(f.src, e.At, e.Size), b)
	return b, err
}

// Field reads the field p, whose content may have at most limit bytes.
func (f *File) Field(p FieldExtent, limit int) (Field, error) {
	v := Field{Number: p.Number, Type: p.Type, Bits: p.Bits}
	if p.Type != Bytes {
		return v, nil
	}
	if p.Body.Size > int64(limit) {
		return v, fmt.Errorf("byte %d: field %d has %d bytes; at most %d are supported", p.Whole.At, p.Number,
			p.Body.Size, limit)
	}
	var err error
	v.Bytes, err = f.Read(p.Body)
	return v, err
}

// peek returns n bytes at an offset, which are valid until the next call.
func (f *File) peek(offset int64, n int) ([]byte, error) {
	if offset < f.offset || offset+int64(n) > f.offset+int64(len(f.page)) {
		if f.page == nil {
			f.page = make([]byte, pageSize)
		}
		m, err := f.src.ReadAt(f.page[:pageSize], offset)
		f.page, f.offset = f.page[:m], offset
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
	page := f.page[offset-f.offset:]
	if len(page) < n {
		return nil, io.ErrUnexpectedEOF
	}
	return page[:n], nil
}
