package main

import (
	"io"
	"net"
	"testing"
	"time"
)

// Bytes arrive in their order, unchanged, and not before the delay is over.
func TestSlow(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	link, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	go serve(link, echo.Addr().String(), newWay(20*time.Millisecond, 1e6), newWay(20*time.Millisecond, 1e6))
	c, err := net.Dial("tcp", link.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want := make([]byte, 100_000)
	for i := range want {
		want[i] = byte(i * i / 7)
	}
	began := time.Now()
	go c.Write(want)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("other bytes")
	}
	if took, least := time.Since(began), 140*time.Millisecond; took < least {
		t.Errorf("%v, want at least %v: 0.1 s for the bytes, and twice the delay", took, least)
	}
}
