package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
)

// asker requests the prediction of one row. Several goroutines may use it.
type asker interface {
	// ask returns the outputs. The error is busy if the server rejects the request because its queue is full.
	ask() ([]byte, error)
	close()
}

// busy is the error of a request that the server rejects because of its load.
var busy = fmt.Errorf("busy")

// overHTTP sends requests by HTTP/1.1. The bytes of the request are made once, and sent for every request.
type overHTTP struct {
	dial
	address string
	request []byte
	skip    bool // the answer has JSON in front of the outputs
	idle    connections[*connection]
}

type connection struct {
	net.Conn
	r *bufio.Reader
}

// newHTTP returns a client that sends a body by POST.
func newHTTP(s *server, d dial, body []byte, headers string) *overHTTP {
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\n%sContent-Length: %d\r\n\r\n", s.url, s.http, headers,
		len(body))
	return &overHTTP{dial: d, address: s.http, request: append([]byte(head), body...), skip: headers != ""}
}

func (h *overHTTP) ask() ([]byte, error) {
	c, err := h.idle.get(h.connect)
	if err != nil {
		return nil, err
	}
	out, err := h.askOn(c)
	if err != nil && err != busy {
		c.Close()
		return nil, err
	}
	h.idle.put(c)
	return out, err
}

func (h *overHTTP) connect() (*connection, error) {
	c, err := h.dial(h.address)
	if err != nil {
		return nil, err
	}
	return &connection{c, bufio.NewReader(c)}, nil
}

func (h *overHTTP) close() { h.idle.close() }

func (h *overHTTP) askOn(c *connection) ([]byte, error) {
	if _, err := c.Write(h.request); err != nil {
		return nil, err
	}
	r, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return nil, err
	case r.StatusCode == http.StatusTooManyRequests:
		return nil, busy
	case r.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %.200s", r.Status, body)
	}
	if h.skip {
		var n int
		if _, err := fmt.Sscan(r.Header.Get("Inference-Header-Content-Length"), &n); err == nil {
			body = body[n:]
		}
	}
	return bytes.Clone(body), nil
}
