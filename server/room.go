package server

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/server/protocol"
)

// room is the bytes that requests under way may take together.
type room struct {
	limit int64
	taken atomic.Int64
}

// lease is the bytes that one request takes.
type lease struct {
	*room
	held int64
}

// grow takes more bytes, unless there is no room for them: now, or however long
// the client waits.
func (l *lease) grow(n int64) error {
	if l.held+n > l.limit {
		return protocol.Refuse(protocol.TooLarge, "the request takes %d MiB of memory or more; all requests "+
			"together may take %d MiB", (l.held+n)>>20, l.limit>>20)
	}
	if l.taken.Add(n) > l.limit {
		l.taken.Add(-n)
		return protocol.Refuse(protocol.Busy, "requests under way take all of %d MiB; try again",
			l.limit>>20)
	}
	l.held += n
	return nil
}

// end gives all bytes back.
func (l *lease) end() { l.taken.Add(-l.held) }

// A body has to come at this pace, after a while; so has an answer to be taken.
const (
	slowest         = 64 << 10 // bytes a second
	defaultPatience = 10 * time.Second
)

// due returns the time by which a peer must have sent or received that number
// of bytes.
func (s *Server) due(bytes int64) time.Time {
	return time.Now().Add(s.o.patience + time.Duration(bytes)*time.Second/slowest)
}

// body reads a request as a whole, unpacked. Room for it is taken before it is
// read, and double that where it is numbers in JSON, of which tensors are made.
func (s *Server) body(w http.ResponseWriter, r *http.Request, l *lease) ([]byte, error) {
	most := int64(s.o.Request)
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	var from io.Reader = http.MaxBytesReader(w, r.Body, most)
	expected := r.ContentLength
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		unpack := unpackers[encoding]
		if unpack == nil {
			return nil, protocol.Refuse(http.StatusUnsupportedMediaType, "bodies are not taken in the encoding %.40q",
				encoding)
		}
		z, err := unpack(from)
		if err != nil {
			return nil, unreadable(err, most)
		}
		from, expected = z, -1
	}
	times := int64(1)
	if r.Header.Get(jsonLength) == "" {
		times = 3
	}
	body, err := readAll(from, expected, most, func(n int64) error { return l.grow(times * n) })
	if err == nil { // what comes of it may take longer; the rest of a bad one may not
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	return body, err
}

// unpackers are the encodings of bodies. Deflate of HTTP is zlib (RFC 9110, 8.4.1.2).
var unpackers = map[string]func(io.Reader) (io.Reader, error){
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
}

// readAll reads to the end, most bytes at most; expected is -1 if nobody knows
// how many come.
func readAll(from io.Reader, expected, most int64, grow func(n int64) error) ([]byte, error) {
	const first = 64 << 10
	size := expected
	if size < 0 {
		size = first
	}
	if err := grow(size); err != nil {
		return nil, err
	}
	body := newBuffer(int(size))
	for n := 0; ; {
		k, err := io.ReadFull(from, body[n:])
		if n += k; err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) && expected < 0 {
			return body[:n], nil
		}
		if err != nil {
			return nil, unreadable(err, most)
		}
		if expected >= 0 {
			return body, nil
		}
		if int64(n) >= most {
			return nil, tooLarge(most)
		}
		more := min(int64(n), most-int64(n)) + 1
		if err := grow(more); err != nil {
			return nil, err
		}
		body = append(body, make([]byte, more)...)
	}
}

func tooLarge(most int64) error {
	return protocol.Refuse(protocol.TooLarge, "the request has more than %d bytes", most)
}

// unreadable says why a body cannot be read.
func unreadable(err error, most int64) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return tooLarge(most)
	}
	return invalid("the request breaks off, or is not what its headers say: %v", err)
}
