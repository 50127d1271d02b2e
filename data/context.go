package data

import (
	"bytes"
	"context"
	"io"
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

// eachRow calls f for rows 0 to h-1 of a picture, until the context ends.
func eachRow(ctx context.Context, h int, f func(y int)) error {
	for y := range h {
		if err := contextErr(ctx); err != nil {
			return err
		}
		f(y)
	}
	return nil
}
