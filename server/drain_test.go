package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// keptOpen is a connection of HTTP/1.1 that a client keeps open.
type keptOpen struct {
	net.Conn
	r *bufio.Reader
}

func keepOpen(t *testing.T, s *Server) *keptOpen {
	t.Helper()
	c, err := net.Dial("tcp", s.HTTP())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return &keptOpen{c, bufio.NewReader(c)}
}

// infer sends an inference request, and returns the status of the answer and whether the answer closes the
// connection.
func (k *keptOpen) infer(body []byte) (status int, closes bool, err error) {
	fmt.Fprintf(k, "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\n%s: 0\r\nContent-Length: %d\r\n\r\n%s",
		jsonLength, len(body), body)
	r, err := http.ReadResponse(k.r, nil)
	if err != nil {
		return 0, false, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(r.Body)
	return r.StatusCode, r.Close, err
}

// TestDrainAnswersOpenConnections checks that requests that arrive after the end of Serve's context are not
// cut off, on open and on new connections. They are answered with 503, and with the header that closes the
// connection. With DrainDelay, they are answered normally until the delay is over.
func TestDrainAnswersOpenConnections(t *testing.T) {
	for _, delay := range []time.Duration{0, 300 * time.Millisecond} {
		o := on("ref", write(t, newModel(t, 1), "m.bnm"))
		o.DrainDelay = delay
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx) }()
		x := pictures(rand.New(rand.NewPCG(1, 1)), 1).Bytes
		var open []*keptOpen
		for range 4 {
			k := keepOpen(t, s)
			if status, closes, err := k.infer(x); status != 200 || closes || err != nil {
				t.Fatal(status, closes, err)
			}
			open = append(open, k)
		}
		stop()
		for !s.leaving.Load() {
			time.Sleep(time.Millisecond)
		}
		if r := ask(t, s, "GET", "/v2/health/ready", nil); r.status != 503 {
			t.Errorf("delay %v: ready: %d", delay, r.status)
		}
		if delay > 0 {
			if status, _, err := open[0].infer(x); status != 200 || err != nil {
				t.Errorf("before the end of the delay: %d, %v", status, err)
			}
		}
		for !s.draining.Load() {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(150 * time.Millisecond)
		for i, k := range append(open, keepOpen(t, s)) {
			if status, closes, err := k.infer(x); status != 503 || !closes || err != nil {
				t.Errorf("delay %v, connection %d: %d, closes %v, %v", delay, i, status, closes, err)
			}
		}
		http.DefaultClient.CloseIdleConnections()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(drainTime):
			t.Error("Serve does not end")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDrainAnswersFirstRequests checks the first request on a connection that a client opened in advance,
// when the server shuts down. It must be answered with 503, not cut off, even if no other connection is open.
func TestDrainAnswersFirstRequests(t *testing.T) {
	s, err := Open(t.Context(), on("ref", write(t, newModel(t, 1), "m.bnm")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1).Bytes
	var open []*keptOpen
	for range 4 {
		open = append(open, keepOpen(t, s))
	}
	for s.budget.conns.count() < len(open) { // wait until the server has accepted the connections
		time.Sleep(time.Millisecond)
	}
	stop()
	for !s.draining.Load() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	for i, k := range open {
		if status, closes, err := k.infer(x); status != 503 || !closes || err != nil {
			t.Errorf("connection %d: %d, closes %v, %v", i, status, closes, err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestDrainEndsWithOpenConnections checks that Serve ends although clients keep connections open.
func TestDrainEndsWithOpenConnections(t *testing.T) {
	s, err := Open(t.Context(), on("ref", write(t, newModel(t, 1), "m.bnm")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	k := keepOpen(t, s)
	if status, _, err := k.infer(pictures(rand.New(rand.NewPCG(1, 1)), 1).Bytes); status != 200 || err != nil {
		t.Fatal(status, err)
	}
	keepOpen(t, s) // a connection that never sends a request
	stop()
	began := time.Now()
	if err := <-ended; err != nil || time.Since(began) > drainTime {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if err := s.Close(); err != nil && !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}
