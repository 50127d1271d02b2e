package shm

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// pair returns both sides of a connection over one segment. The segment is mapped twice,
// as in two processes. The host waits by reading from a pipe.
func pair(t testing.TB) (host, guest *Conn) {
	t.Helper()
	f, err := New(Bytes)
	if errors.Is(err, Unsupported) {
		t.Skip("this system has no shared memory of this kind")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Reserve(f, Bytes); err != nil {
		t.Fatal(err)
	}
	side := func(open func([]byte, *os.File) (*Conn, error), end *os.File) *Conn {
		b, err := Map(f, Bytes)
		if err != nil {
			t.Fatal(err)
		}
		c, err := open(b, end)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return side(Host, read), side(Guest, write)
}

func TestBytesArriveInOrder(t *testing.T) {
	host, guest := pair(t)
	r := rand.New(rand.NewPCG(1, 2))
	want := make([]byte, 3*RingBytes+12345) // more than the ring holds
	for i := range want {
		want[i] = byte(r.Uint32())
	}
	sent := make(chan error, 1)
	go func() {
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1+r.IntN(RingBytes))
			if _, err := host.Write(rest[:n]); err != nil {
				sent <- err
				return
			}
			rest = rest[n:]
		}
		sent <- host.Flush()
	}()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(guest, got); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("other bytes arrived than were sent")
	}
}

// TestAwait checks that Await returns when bytes arrive, and in time if there are no bytes.
func TestAwait(t *testing.T) {
	host, guest := pair(t)
	began, n := time.Now(), 0
	for ; time.Since(began) < 10*time.Millisecond; n++ {
		if guest.Await(10 * time.Millisecond) {
			t.Fatal("there are bytes that nobody has written")
		}
	}
	if n > 50 { // a signal sometimes ends an Await early
		t.Errorf("10 ms took %d sleeps of 10 ms", n)
	}
	go func() {
		time.Sleep(20 * time.Millisecond)
		_, _ = host.Write([]byte("x"))
		_ = host.Flush()
	}()
	for began = time.Now(); !guest.Await(time.Minute); { // signals of Go end a sleep early
		if time.Since(began) > 30*time.Second {
			t.Fatal("bytes wake nobody")
		}
	}
	if !guest.Await(0) {
		t.Error("nothing is there, but nobody has read")
	}
	if err := guest.Close(); err != nil || guest.Await(time.Minute) {
		t.Errorf("closed: %v, and there are bytes", err)
	}
}

// TestMessagesIntoAnEmptyRing checks that messages of any size arrive whole, whether or not the
// previous message has been read. Writing into an empty ring begins at the start of the memory.
func TestMessagesIntoAnEmptyRing(t *testing.T) {
	host, guest := pair(t)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		want := make([]byte, 1+r.IntN(RingBytes/8))
		for k := range want {
			want[k] = byte(i + k*k>>8)
		}
		cut := r.IntN(len(want)) // the first part may be read before the rest is written
		got := make([]byte, len(want))
		for _, part := range [][2]int{{0, cut}, {cut, len(want)}} {
			if _, err := host.Write(want[part[0]:part[1]]); err != nil {
				t.Fatal(err)
			}
			if err := host.Flush(); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				if _, err := io.ReadFull(guest, got[part[0]:part[1]]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if i%2 == 1 {
			if _, err := io.ReadFull(guest, got); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("message %d of %d bytes, cut at %d: other bytes arrived than were sent", i, len(want), cut)
		}
		if i%2 == 0 && guest.in.origin.Load() != guest.in.pos-uint64(len(want)-cut) {
			t.Fatalf("message %d: the ring was empty and did not begin again", i)
		}
	}
}

// TestListening checks that a host that waits by a pipe receives every message, whenever it is sent.
func TestListening(t *testing.T) {
	host, guest := pair(t)
	r := rand.New(rand.NewPCG(5, 6))
	const messages = 3000
	go func() {
		for i := range messages {
			for range r.IntN(3000) * (i % 3) { // by now the host may be reading from the pipe, or not yet
				runtime.Gosched()
			}
			guest.Write([]byte{byte(i), byte(i >> 8)})
			guest.Flush()
		}
	}()
	for i := range messages {
		p := make([]byte, 2)
		if _, err := io.ReadFull(host, p); err != nil {
			t.Fatal(err)
		}
		if got := int(p[0]) | int(p[1])<<8; got != i {
			t.Fatalf("message %d came as number %d", got, i)
		}
	}
}

func TestCloseWakesReaderAndWriter(t *testing.T) {
	for name, block := range map[string]func(*Conn) error{
		"Read":  func(c *Conn) error { _, err := c.Read(make([]byte, 1)); return err },
		"Write": func(c *Conn) error { _, err := c.Write(make([]byte, RingBytes+1)); return err },
	} {
		host, _ := pair(t)
		done := make(chan error, 1)
		go func() { done <- block(host) }()
		time.Sleep(5 * time.Millisecond)
		host.Close()
		select {
		case err := <-done:
			if !errors.Is(err, Closed) {
				t.Errorf("%s after Close: %v, want %v", name, err, Closed)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s hangs after Close", name)
		}
	}
}

func TestForeignCounters(t *testing.T) {
	host, guest := pair(t)
	guest.out.written.Store(1 << 40)
	if _, err := host.Read(make([]byte, 8)); err == nil || !strings.Contains(err.Error(), "says that it holds") {
		t.Errorf("Read from a ring that claims 1 TiB: %v", err)
	}
	host.Write(make([]byte, 8))
	host.Flush()
	host.out.origin.Store(1<<63 + 5) // any origin is reduced to a place in the memory
	if n, err := guest.Read(make([]byte, 8)); n == 0 || err != nil {
		t.Errorf("Read from a ring with an origin that cannot be: %d bytes, %v", n, err)
	}
	guest.in.read.Store(77) // more than was written
	_, err := host.Write(make([]byte, 8))
	if err == nil || !strings.Contains(err.Error(), "says that it holds") {
		t.Errorf("Write to a ring of which more was read than written: %v", err)
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	for name, a := range map[string]WaitPolicy{"spin": WaitSpin, "nap": WaitNap, "sleep": WaitSleep} {
		b.Run(name, func(b *testing.B) {
			host, guest := pair(b)
			host.SetWaitPolicy(a, a)
			go func() {
				p := make([]byte, 64)
				for {
					if _, err := io.ReadFull(guest, p); err != nil {
						return
					}
					guest.Write(p)
					guest.Flush()
				}
			}()
			p := make([]byte, 64)
			for b.Loop() {
				host.Write(p)
				host.Flush()
				if _, err := io.ReadFull(host, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCopy(b *testing.B) {
	host, guest := pair(b)
	p, q := make([]byte, 8<<20), make([]byte, 8<<20)
	b.SetBytes(int64(len(p)))
	go func() {
		for {
			if _, err := guest.Write(p); err != nil {
				return
			}
			guest.Flush()
		}
	}()
	for b.Loop() {
		if _, err := io.ReadFull(host, q); err != nil {
			b.Fatal(err)
		}
	}
}
