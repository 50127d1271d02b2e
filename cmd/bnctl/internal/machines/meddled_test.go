package machines

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// meddler is a relay for connections. After it is armed, it lets some bytes of one connection and direction
// pass, and then changes the next piece. It does this once.
type meddler struct {
	change   func(piece []byte) []byte
	after    int64
	backward bool // change pieces that come from the machine
	armed    atomic.Bool

	mu   sync.Mutex
	done bool
}

// copy forwards the bytes of one direction.
func (m *meddler) copy(to io.Writer, from io.Reader, backward bool) {
	buffer, passed := make([]byte, 32<<10), int64(0)
	for {
		n, err := from.Read(buffer)
		piece := buffer[:n]
		m.mu.Lock()
		if backward == m.backward && passed >= m.after && !m.done && n > 0 {
			piece, m.done = m.change(piece), true
		}
		m.mu.Unlock()
		if m.armed.Load() {
			passed += int64(n)
		}
		if _, e := to.Write(piece); e != nil || err != nil {
			return
		}
	}
}

// listen returns an address. The meddler forwards connections to this address to a machine.
func (m *meddler) listen(t *testing.T, machine string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", machine)
			if err != nil {
				client.Close()
				return
			}
			for _, way := range []bool{false, true} {
				to, from := server, client
				if way {
					to, from = client, server
				}
				go func() {
					m.copy(to, from, way)
					client.Close()
					server.Close()
				}()
			}
		}
	}()
	return l.Addr().String()
}

// Frames of a run are sent again, shortened, left out or changed between host and machine, in either
// direction. The device is then lost. No wrong byte is used, and the template equals the template of an
// undisturbed run.
func TestMeddledFrames(t *testing.T) {
	r := recipe.Default("mlp-bn")
	r.Epochs, r.Batch, r.Replicas, r.Seed = 4, 16, 2, 3
	want := trainOn(t, fleet.Options{Devices: "ref"}, "glyphs:32", r, train.Config{})
	keys := newKeys(t)
	machine := start(t, "127.0.0.1:0", keys, "ref")
	for what, change := range map[string]func([]byte) []byte{
		"sent again": func(b []byte) []byte { return append(b[:len(b):len(b)], b...) },
		"shortened":  func(b []byte) []byte { return b[:len(b)-1] },
		"left out":   func(b []byte) []byte { return nil },
		"changed": func(b []byte) []byte {
			b[len(b)/2] ^= 1
			return b
		},
	} {
		for _, backward := range []bool{false, true} {
			m := &meddler{change: change, after: 64 << 10, backward: backward}
			o := host(keys, "ref,tls://"+m.listen(t, machine.address)+"/*")
			lost := 0
			got := trainOn(t, o, "glyphs:32", r, train.Config{Events: func(e train.Event) {
				switch e.(type) {
				case train.Stepped:
					m.armed.Store(true) // only now, because opening a device sends a varying number of bytes
				case train.DeviceLost:
					lost++
				}
			}})
			equal(t, what, got, want)
			if m.mu.Lock(); !m.done || lost == 0 {
				t.Errorf("%s, from the machine %v: happened %v, %d devices lost", what, backward, m.done, lost)
			}
			m.mu.Unlock()
		}
	}
}
