package machines

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device/machine"
	"github.com/bnctl/bnctl/fleet"
)

// tapped starts a relay to an address, and keeps the bytes that the client sends through it. The relay ends
// the connection when the client has sent cut bytes; 0: never.
func tapped(t *testing.T, to string, cut int64) (address string, sent func() []byte) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	var kept bytes.Buffer
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				return
			}
			go func() {
				_, _ = io.Copy(client, server)
				client.Close()
			}()
			go func() {
				defer server.Close()
				defer client.Close()
				from := io.Reader(client)
				if cut > 0 {
					from = io.LimitReader(client, cut)
				}
				_, _ = io.Copy(server, io.TeeReader(from, writer(func(b []byte) {
					mu.Lock()
					defer mu.Unlock()
					kept.Write(b)
				})))
			}()
		}
	}()
	return l.Addr().String(), func() []byte {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(kept.Bytes())
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

// works checks that a trusted host can open a device of a machine.
func (m *served) works(t *testing.T) {
	t.Helper()
	for range 100 { // an earlier connection may still use the device
		f, err := fleet.Open(t.Context(), host(m.keys, "tls://"+m.address+"/*"))
		if err == nil {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			return
		}
		if !strings.Contains(err.Error(), "in use") {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the device stays in use")
}

// If the bytes that a host has sent are recorded and sent again, they open no device, because each connection
// has new keys. The machine must continue to serve.
func TestReplayedConnections(t *testing.T) {
	m := start(t, "127.0.0.1:0", newKeys(t), "ref")
	address, sent := tapped(t, m.address, 0)
	f, err := fleet.Open(t.Context(), host(m.keys, "tls://"+address+"/*"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	recorded := sent()
	if len(recorded) < 1000 {
		t.Fatalf("%d bytes were recorded", len(recorded))
	}
	c, err := net.Dial("tcp", m.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	_, err = c.Write(recorded) // the machine may end the connection before it has read everything
	if err == nil {
		_, err = io.Copy(io.Discard, c)
	}
	if err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the machine keeps a replayed connection open: %v", err)
	}
	m.works(t)
	m.mu.Lock()
	defer m.mu.Unlock()
	if all := strings.Join(m.notes, "\n"); !strings.Contains(all, "is refused") {
		t.Errorf("the machine notes %q", all)
	}
}

// A connection may end after any number of bytes. This is an error on the host, and the machine continues to
// serve.
func TestTruncatedConnections(t *testing.T) {
	m := start(t, "127.0.0.1:0", newKeys(t), "ref")
	whole := int64(0)
	for _, cut := range []int64{0, 1, 5, 300, 1200, 1600, 2000, 2400} {
		address, sent := tapped(t, m.address, cut)
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		f, err := fleet.Open(ctx, host(m.keys, "tls://"+address+"/*"))
		switch {
		case cut == 0 && err != nil:
			t.Fatal(err)
		case cut == 0:
			whole = int64(len(sent()))
		case cut < whole && err == nil:
			t.Errorf("cut after %d of %d bytes: the device opens", cut, whole)
		}
		if err == nil {
			_ = f.Close() // the device is lost, because its connection was cut
		}
		stop()
		m.works(t)
	}
}

// Many connections that send nothing, and many with a wrong authority, must neither keep a trusted host from
// connecting nor fill the memory.
func TestFloodOfHandshakes(t *testing.T) {
	// If a flood comes from the address of the host, it may keep the host from connecting (docs/machines.md). So
	// the strangers use another address.
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the addresses 127.0.0.2 and so on")
	}
	strangers := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	m := start(t, "127.0.0.1:0", newKeys(t), "ref")
	m.works(t)
	stranger, err := machine.Open(filepath.Join(newKeys(t), "host"), machine.Host)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ctx, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	for i := range 400 {
		flood.Go(func() {
			for ctx.Err() == nil {
				c, err := strangers.Dial("tcp", m.address)
				if err != nil {
					time.Sleep(10 * time.Millisecond)
					continue
				}
				_ = c.SetDeadline(time.Now().Add(15 * time.Second))
				if i%8 == 0 {
					s := tls.Client(c, stranger.Config())
					_ = s.HandshakeContext(ctx)
				} else {
					end := context.AfterFunc(ctx, func() { c.Close() })
					_, _ = c.Read(make([]byte, 1))
					end()
				}
				c.Close()
			}
		})
	}
	time.Sleep(time.Second)
	began := time.Now()
	m.works(t)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	stop()
	flood.Wait()
	t.Logf("a host was served after %v", took)
	if took > 8*time.Second { // a handshake may last ten seconds
		t.Errorf("a trusted host waited %v", took)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 256<<20 {
		t.Errorf("the memory has grown by %d MiB", grown>>20)
	}
}

// Machines and hosts print no part of a private key, whatever fails.
func TestNoKeysInMessages(t *testing.T) {
	m := start(t, "127.0.0.1:0", newKeys(t), "ref")
	others := newKeys(t)
	_, err := fleet.Open(t.Context(), host(others, "tls://"+m.address+"/*"))
	if err == nil {
		t.Fatal("a stranger is served")
	}
	m.works(t)
	m.mu.Lock()
	text := strings.Join(m.notes, "\n") + err.Error()
	m.mu.Unlock()
	for _, folder := range []string{m.keys, others} {
		for _, name := range []string{"host/tls.key", "device/tls.key", "authority/ca.key"} {
			key, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(key)) {
				if line = strings.TrimSpace(line); strings.Contains(text, line) {
					t.Errorf("a message has a line of %s", name)
				}
			}
		}
	}
}
