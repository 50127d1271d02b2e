package server

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"time"
)

// Types and sizes of the frames of HTTP/2 (RFC 9113, 6).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameHeaderBytes  = 9
	frameWindowUpdate = 0x8
	prefaceBytes      = 24
)

// Limits for control frames of HTTP/2: frames that cost the server work but request nothing. These are pings,
// settings, priorities, resets and empty data frames. A connection may send controlBurst of them at once, and
// controlRate per second on average. A window update counts as a control frame only if there is more than one
// for each controlShare bytes that the server has sent.
const (
	controlBurst = 2000
	controlRate  = 500 // a second
	controlShare = 256
)

// errFlood is the error for a connection that the server cuts off.
var errFlood = errors.New("too many control frames of HTTP/2")

// framedConn counts the frames that arrive on a connection of HTTP/2, in plain text, and cuts off a
// connection that floods the server with control frames. It passes other protocols through.
type framedConn struct {
	net.Conn
	tracked *trackedConn
	written atomic.Int64 // bytes that the server has sent

	// Only the goroutine that reads uses the fields below.
	read      int64                  // bytes, up to the end of the preface
	plain     bool                   // the connection does not use HTTP/2
	header    [frameHeaderBytes]byte // header of the frame that is arriving
	have      int                    // bytes of header that have arrived
	remaining int                    // bytes of the frame's payload that have not arrived yet
	excess    float64                // number of control frames, minus controlRate for each second
	last      time.Time              // time of the last change of excess
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Read implements net.Conn.
func (c *framedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	var record tls.RecordHeaderError
	if errors.As(err, &record) && record.Conn != nil &&
		slices.Contains(methods, string(record.RecordHeader[:])) {
		_, _ = io.WriteString(record.Conn, unencryptedAnswer)
	}
	if !c.plain && !c.count(b[:n]) {
		_ = c.Close()
		return 0, errFlood
	}
	return n, err
}

// unencryptedAnswer is the answer to an unencrypted request on a port with TLS.
const unencryptedAnswer = "HTTP/1.0 400 Bad Request\r\n\r\nthis server wants https://\n"

// methods are the first five bytes that an unencrypted request may have.
var methods = []string{"GET /", "HEAD ", "POST ", "PUT /", "OPTIO"}

// Write implements net.Conn.
func (c *framedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// count counts the frames in received bytes, and reports whether the connection may stay open.
func (c *framedConn) count(b []byte) bool {
	for len(b) > 0 {
		switch {
		case c.read < prefaceBytes:
			if b[0] != preface[c.read] {
				c.plain = true
				return true
			}
			c.read++
			b = b[1:]
		case c.remaining > 0:
			n := min(c.remaining, len(b))
			c.remaining -= n
			b = b[n:]
		default:
			n := copy(c.header[c.have:], b)
			c.have += n
			if b = b[n:]; c.have == frameHeaderBytes {
				c.have = 0
				if !c.frame() {
					return false
				}
			}
		}
	}
	return true
}

// frame checks the header of a frame, and reports whether the connection may stay open.
func (c *framedConn) frame() bool {
	c.remaining = int(binary.BigEndian.Uint32(c.header[:4]) >> 8)
	switch kind := c.header[3]; {
	case kind == frameHeaders, kind == frameData && c.remaining > 0:
		return true
	case kind == frameWindowUpdate && c.written.Add(-controlShare) >= 0:
		return true
	case kind == frameWindowUpdate:
		c.written.Add(controlShare)
	}
	now := time.Now()
	if !c.last.IsZero() {
		c.excess = max(0, c.excess-now.Sub(c.last).Seconds()*controlRate)
	}
	c.last = now
	c.excess++
	return c.excess <= controlBurst
}
