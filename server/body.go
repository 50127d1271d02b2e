package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// minBytesPerSecond is the slowest allowed rate for receiving a body or reading a response,
// after defaultPatience.
const (
	minBytesPerSecond = 64 << 10 // bytes a second
	defaultPatience   = 10 * time.Second
)

// deadline returns the time until which a peer may take to send or receive the given number of bytes.
func (s *Server) deadline(bytes int64) time.Time {
	return time.Now().Add(s.o.patience + time.Duration(bytes)*time.Second/minBytesPerSecond)
}

// body reads the whole body of a request and decompresses it. It first reserves memory. For a body with
// numbers in JSON this is three times the size of the body, because the numbers are converted to tensors.
func (s *Server) body(w http.ResponseWriter, r *http.Request, res *reservation) ([]byte, error) {
	limit := int64(s.o.Request)
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	var from io.Reader = http.MaxBytesReader(w, r.Body, limit)
	expected := r.ContentLength
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		if err := res.grow(decompressorBytes); err != nil {
			return nil, err
		}
		z, err := newDecompressor(encoding, from)
		if err != nil {
			return nil, unreadable(err, limit)
		}
		from, expected = z, -1
	}
	times := int64(1)
	if r.Header.Get(jsonLength) == "" {
		times = 3
	}
	body, err := readAll(from, expected, limit, res, times)
	if err == nil { // the deadline for reading must not end the computation
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	return body, err
}

// readAll reads to the end, at most limit bytes. expected is the length, or -1 if it is unknown.
// times is the number of bytes of memory that readAll reserves for each byte.
func readAll(r io.Reader, expected, limit int64, res *reservation, times int64) ([]byte, error) {
	if expected < 0 {
		return readChunks(r, limit, res, times)
	}
	if err := res.grow(times * expected); err != nil {
		return nil, err
	}
	body := newBuffer(int(expected))
	_, err := io.ReadFull(r, body)
	return body, unreadable(err, limit)
}

// Sizes in bytes of the chunks in which a body of unknown length is read. Each chunk is twice as large as the
// one before.
const (
	firstChunk = 64 << 10
	maxChunk   = 4 << 20
)

// readChunks reads to the end in chunks, and joins them.
func readChunks(r io.Reader, limit int64, res *reservation, times int64) ([]byte, error) {
	var chunks [][]byte
	total := 0
	for size := firstChunk; ; size = min(2*size, maxChunk) {
		if err := res.grow(times * int64(size)); err != nil {
			return nil, err
		}
		chunk := newBuffer(size)
		n, err := readChunk(r, chunk)
		chunks, total = append(chunks, chunk[:n]), total+n
		if int64(total) > limit {
			return nil, tooLarge(limit)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, unreadable(err, limit)
		}
	}
	if len(chunks) == 1 {
		return chunks[0], nil
	}
	if times == 1 { // otherwise use the memory that is reserved for the tensors: these are made later
		if err := res.grow(int64(total)); err != nil {
			return nil, err
		}
		defer res.shrink(int64(total))
	}
	return bytes.Join(chunks, nil), nil
}

// readChunk fills b, unless the reader ends first. It returns io.EOF at the regular end of the reader, and
// io.ErrUnexpectedEOF if a compressed or chunked body is cut off. io.ReadFull would return
// io.ErrUnexpectedEOF in both cases.
func readChunk(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var more int
		more, err = r.Read(b[n:])
		n += more
	}
	return n, err
}

func tooLarge(limit int64) error {
	return protocol.Refuse(protocol.TooLarge, "the request has more than %d bytes", limit)
}

// unreadable returns the error for a body that cannot be read.
func unreadable(err error, limit int64) error {
	if err == nil {
		return nil
	}
	var large *http.MaxBytesError
	var refused *protocol.Refusal
	if errors.As(err, &refused) {
		return err
	}
	if errors.As(err, &large) {
		return tooLarge(limit)
	}
	return invalid("the request breaks off, or does not match its headers: %v", err)
}
