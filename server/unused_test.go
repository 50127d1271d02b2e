package server

import (
	"context"
	"net"
	"testing"
	"time"
)

// TestUnusedConnections checks that a connection without requests does not keep the server
// from ending.
func TestUnusedConnections(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Health = "127.0.0.1:0"
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	for _, address := range []string{s.HTTP(), s.GRPC(), s.Health()} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if r := ask(t, s, "GET", "/v2/health/live", nil); r.status != 200 { // the others are accepted first
		t.Errorf("live: %d", r.status)
	}
	began := time.Now()
	stop()
	err = <-ended
	if took := time.Since(began); err != nil || took > time.Second {
		t.Errorf("the server ended after %v: %v", took, err)
	}
}
