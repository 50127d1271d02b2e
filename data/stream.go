package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// contextErr returns the cause of a context's end, or nil while it has not ended.
func contextErr(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// contextReader is a reader that fails when its context ends. It stops a decoder without a
// context at its next read.
type contextReader struct {
	ctx context.Context
	io.Reader
}

// newContextReader returns a reader of r that fails when ctx ends.
func newContextReader(ctx context.Context, r io.Reader) contextReader { return contextReader{ctx, r} }

func (a contextReader) Read(p []byte) (int, error) {
	if err := contextErr(a.ctx); err != nil {
		return 0, err
	}
	return a.Reader.Read(p)
}

// contextFile is a file in memory. Its reads fail when the context ends.
type contextFile struct {
	contextReader
	at *bytes.Reader
}

// withContext returns the content of a file; its reads fail when ctx ends.
func withContext(ctx context.Context, file []byte) contextFile {
	r := bytes.NewReader(file)
	return contextFile{contextReader{ctx, r}, r}
}

// ReadAt implements io.ReaderAt for the TIFF decoder, which otherwise reads the whole file
// into memory.
func (a contextFile) ReadAt(p []byte, off int64) (int, error) {
	if err := contextErr(a.ctx); err != nil {
		return 0, err
	}
	return a.at.ReadAt(p, off)
}

// cutShort returns an error for input that ended too early, in words that a person
// understands.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is cut short: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// recoverError turns a panic of a decoder on hostile bytes into an error.
func recoverError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the picture is damaged: %v", p)
	}
}

// plain removes the operation and the path from an error of package os: errors of package data
// begin with the spec, which contains the path.
func plain(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}
