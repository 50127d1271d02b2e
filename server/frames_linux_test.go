package server

import (
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// TestControlFloods checks that a connection that floods the server with control frames is cut off, with and
// without TLS.
func TestControlFloods(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Security.Certificate, o.Security.Key, _ = certificate(t, time.Now().Add(time.Hour))
	encrypted := start(t, o)
	plain := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	for name, dial := range map[string]func() (net.Conn, [][2]string, error){
		"gRPC": func() (net.Conn, [][2]string, error) {
			c, err := net.Dial("tcp", plain.GRPC())
			return c, asCall, err
		},
		"HTTP/2 with TLS": func() (net.Conn, [][2]string, error) {
			c, err := tls.Dial("tcp", encrypted.HTTP(), unverified("h2"))
			return c, asInference, err
		},
	} {
		for kind, flood := range map[string]func(p *framedPeer) error{
			"ping":       func(p *framedPeer) error { return p.f.WritePing(false, [8]byte{}) },
			"settings":   func(p *framedPeer) error { return p.f.WriteSettings() },
			"empty data": func(p *framedPeer) error { return p.f.WriteData(1, false, nil) },
			"window":     func(p *framedPeer) error { return p.f.WriteWindowUpdate(0, 1) },
			"unknown":    func(p *framedPeer) error { return p.f.WriteRawFrame(0x77, 0, 0, nil) },
			"priority": func(p *framedPeer) error {
				return p.f.WritePriority(1, http2.PriorityParam{StreamDep: 3})
			},
			"reset": func(p *framedPeer) error {
				return p.f.WriteRSTStream(p.call(false, nil), http2.ErrCodeCancel)
			},
		} {
			c, headers, err := dial()
			if err != nil {
				t.Fatal(name, err)
			}
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			p := newFramedPeer(c, headers)
			p.call(false, nil)
			sent := 0
			for ; sent < 100_000 && err == nil; sent++ {
				err = flood(p)
			}
			if e, ok := err.(net.Error); err == nil || ok && e.Timeout() {
				t.Errorf("%s: %s: %d frames are taken, %v", name, kind, sent, err)
			}
			c.Close()
		}
	}
	if r := ask(t, plain, "GET", "/v2/health/ready", nil); r.status != 200 {
		t.Errorf("after the floods: %d", r.status)
	}
}

// TestFrameCountOfOrdinaryTraffic checks that the frames of ordinary clients do not count as a flood, however
// many bytes each read returns.
func TestFrameCountOfOrdinaryTraffic(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	here, there := net.Pipe()
	go func() {
		f := http2.NewFramer(there, nil)
		_, _ = io.WriteString(there, http2.ClientPreface)
		_ = f.WriteSettings()
		for i := range uint32(5000) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: make([]byte, 30),
				EndHeaders: true})
			_ = f.WriteData(2*i+1, true, make([]byte, random.IntN(500)+1))
			if i%8 == 0 {
				_ = f.WritePing(false, [8]byte{})
			}
		}
		there.Close()
	}()
	c := &framedConn{Conn: here}
	for total := 0; ; {
		n, err := c.Read(make([]byte, 1+random.IntN(700)))
		if total += n; err == io.EOF {
			if total < 5000*9 || c.have != 0 || c.remaining != 0 {
				t.Errorf("%d bytes; in the middle of a frame: %d, %d", total, c.have, c.remaining)
			}
			return
		}
		if err != nil {
			t.Fatalf("after %d bytes: %v", total, err)
		}
	}
}
