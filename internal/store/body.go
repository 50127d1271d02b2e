package store

import (
	"context"
	"errors"
	"io"
	"time"
)

// body is the content of an object from an offset on.
type body struct {
	io.ReadCloser
	start int64 // first offset of the content: a server may ignore the requested one
}

// errCut is the error of a connection that ends before the end of the file.
var errCut = errors.New("the connection ended before the file did")

// errStalled is the cause of a context that has ended because a server sent nothing.
var errStalled = errors.New("stalled")

// patient is a reader that cancels its request if no byte arrives for some time.
type patient struct {
	r     io.Reader
	timer *time.Timer
	limit time.Duration
}

// newPatient returns a context for a request, and a function that makes the reader of its body. stop
// releases both.
func (s *Store) newPatient(ctx context.Context) (inner context.Context, read func(io.Reader) io.Reader,
	stop func()) {
	inner, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(time.Hour, func() { cancel(errStalled) })
	timer.Stop()
	read = func(r io.Reader) io.Reader {
		timer.Reset(s.o.Timeout)
		return &patient{r, timer, s.o.Timeout}
	}
	return inner, read, func() {
		timer.Stop()
		cancel(nil)
	}
}

// Read implements io.Reader.
func (p *patient) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.timer.Reset(p.limit)
	return n, err
}
