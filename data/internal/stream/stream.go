// Package stream reads files with a context that can interrupt the reading, and makes the errors of reading
// understandable.
package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// ContextErr returns the cause of a context's end, or nil while it has not ended.
func ContextErr(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// Reader is a reader that fails when its context ends. It can stop a decoder that does not use a context, at
// the next read.
type Reader struct {
	ctx context.Context
	io.Reader
}

// NewReader returns a reader of r that fails when ctx ends.
func NewReader(ctx context.Context, r io.Reader) Reader { return Reader{ctx, r} }

func (a Reader) Read(p []byte) (int, error) {
	if err := ContextErr(a.ctx); err != nil {
		return 0, err
	}
	return a.Reader.Read(p)
}

// File is the content of a file, as a reader that fails when the context ends.
type File struct {
	Reader
	r *bytes.Reader
}

// NewFile returns a File for the content of a file.
func NewFile(ctx context.Context, file []byte) File {
	r := bytes.NewReader(file)
	return File{Reader{ctx, r}, r}
}

// ReadAt implements io.ReaderAt. Without it, the TIFF decoder would copy the whole file.
func (a File) ReadAt(p []byte, off int64) (int, error) {
	if err := ContextErr(a.ctx); err != nil {
		return 0, err
	}
	return a.r.ReadAt(p, off)
}

// CutShort returns an error that a person understands, if err means that the input ended too early. It
// returns other errors unchanged.
func CutShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is cut short: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// RecoverError turns a panic of a decoder on hostile bytes into an error.
func RecoverError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the picture is damaged: %v", p)
	}
}

// WithoutPath removes the operation and the path from an error of package os. It is used because errors of
// package data begin with the spec, which already contains the path.
func WithoutPath(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}
