package data

import (
	"bytes"
	"context"
	"io"
)

// ended returns why a context has ended; nil while it has not.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// attended is a reader whose reading ends with a context: so do decoders that know
// none, at the next bytes that they take.
type attended struct {
	ctx context.Context
	io.Reader
}

func (a attended) Read(p []byte) (int, error) {
	if err := ended(a.ctx); err != nil {
		return 0, err
	}
	return a.Reader.Read(p)
}

// attendedFile is a file in memory whose reading ends with a context.
type attendedFile struct {
	attended
	at *bytes.Reader
}

func attend(ctx context.Context, file []byte) attendedFile {
	r := bytes.NewReader(file)
	return attendedFile{attended{ctx, r}, r}
}

// ReadAt is there for TIFF, whose decoder makes a copy of what has none.
func (a attendedFile) ReadAt(p []byte, off int64) (int, error) {
	if err := ended(a.ctx); err != nil {
		return 0, err
	}
	return a.at.ReadAt(p, off)
}

// eachRow calls f for rows 0 to h-1 of a picture, until the context ends.
func eachRow(ctx context.Context, h int, f func(y int)) error {
	for y := range h {
		if err := ended(ctx); err != nil {
			return err
		}
		f(y)
	}
	return nil
}
