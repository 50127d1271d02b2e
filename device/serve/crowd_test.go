package serve

import (
	"net"
	"testing"
)

// TestCrowd checks that the oldest connection of the address with the most connections is closed first.
func TestCrowd(t *testing.T) {
	c := newCrowd(nil, 3)
	add := func(from string) (*comer, *comer) {
		n := &comer{Conn: noConn{}, crowd: c, address: from}
		return n, c.add(n)
	}
	first, _ := add("a")
	host, _ := add("b")
	if _, old := add("a"); old != nil {
		t.Error("three are too many")
	}
	if _, old := add("c"); old != first {
		t.Error("another one than the oldest of a is closed")
	}
	if err := host.trust(); err != nil || c.trusted != 1 || len(c.waiting) != 2 {
		t.Errorf("%v, %d trusted, %d waiting", err, c.trusted, len(c.waiting))
	}
	if _ = host.Close(); c.trusted != 0 {
		t.Errorf("%d trusted", c.trusted)
	}
	c.trusted = maxConnections
	if last, _ := add("b"); last.trust() == nil {
		t.Error("a host too many is trusted")
	}
}

type noConn struct{ net.Conn }

func (noConn) Close() error { return nil }
