package server

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

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
		if err := l.grow(unpacking); err != nil {
			return nil, err
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
	body, err := readAll(from, expected, most, l, times)
	if err == nil { // what comes of it may take longer; the rest of a bad one may not
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	return body, err
}

// unpacking is what it takes to unpack, beside what comes of it.
const unpacking = 48 << 10

// unpackers are the encodings of bodies. Deflate of HTTP is zlib (RFC 9110, 8.4.1.2).
var unpackers = map[string]func(io.Reader) (io.Reader, error){
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
}

// readAll reads to the end, most bytes at most; expected is -1 if nobody knows
// how many come. Each takes times its size of the lease.
func readAll(from io.Reader, expected, most int64, l *lease, times int64) ([]byte, error) {
	if expected < 0 {
		return readParts(from, most, l, times)
	}
	if err := l.grow(times * expected); err != nil {
		return nil, err
	}
	body := newBuffer(int(expected))
	_, err := io.ReadFull(from, body)
	return body, unreadable(err, most)
}

// Parts of a body whose length nobody knows, each twice the one before.
const (
	firstPart   = 64 << 10
	largestPart = 4 << 20
)

// readParts reads to the end in parts, and joins them.
func readParts(from io.Reader, most int64, l *lease, times int64) ([]byte, error) {
	var parts [][]byte
	total := 0
	for size := firstPart; ; size = min(2*size, largestPart) {
		if err := l.grow(times * int64(size)); err != nil {
			return nil, err
		}
		part := newBuffer(size)
		n, err := io.ReadFull(from, part)
		parts, total = append(parts, part[:n]), total+n
		if int64(total) > most {
			return nil, tooLarge(most)
		}
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, unreadable(err, most)
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	if times == 1 { // else there is room for what comes of it, which is made later
		if err := l.grow(int64(total)); err != nil {
			return nil, err
		}
		defer l.shrink(int64(total))
	}
	return bytes.Join(parts, nil), nil
}

func tooLarge(most int64) error {
	return protocol.Refuse(protocol.TooLarge, "the request has more than %d bytes", most)
}

// unreadable says why a body cannot be read.
func unreadable(err error, most int64) error {
	if err == nil {
		return nil
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return tooLarge(most)
	}
	return invalid("the request breaks off, or is not what its headers say: %v", err)
}
