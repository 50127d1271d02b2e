package server

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/tensor"
)

// waysOfFrames returns the attacks over gRPC and over HTTP/2. HTTP/2 without gRPC needs TLS.
func waysOfFrames() []way {
	grpc := func(name string, connections int, attack func(p *framedPeer)) way {
		return way{name, "gRPC", func(v *victim) {
			v.each(connections, v.GRPC, func(c net.Conn) { attack(newFramedPeer(c, asCall)) })
		}}
	}
	http := func(name string, connections int, attack func(p *framedPeer)) way {
		return way{name, "HTTP/2", func(v *victim) {
			v.each(connections, v.HTTP, func(c net.Conn) {
				end := time.Now().Add(6 * time.Second)
				sealed := tls.Client(c.(*tls.Conn).NetConn(), unverified("h2"))
				_ = sealed.SetDeadline(end)
				attack(newFramedPeer(sealed, asInference))
			})
		}}
	}
	packed, small := zipped(48<<20), bytes.Repeat([]byte{5<<3 | 2, 0}, 2<<20) // small: many empty inputs
	return []way{
		grpc("headers that unpack to much", 4, func(p *framedPeer) {
			for range 100 {
				p.call(false, func() []byte { return append(p.long(3000), bytes.Repeat([]byte{0xbe}, 4050)...) })
			}
		}),
		grpc("headers within the limit", 20, func(p *framedPeer) {
			for range 200 {
				p.call(false, func() []byte { return append(p.long(100), bytes.Repeat([]byte{0xbe}, 80)...) })
			}
		}),
		grpc("continuation frames", 50, func(p *framedPeer) {
			p.headers(1, false, false, append(p.base(), p.long(3000)...))
			for range 1000 {
				_ = p.f.WriteContinuation(1, false, bytes.Repeat([]byte{0xbe}, 100))
			}
		}),
		grpc("open calls", 40, func(p *framedPeer) {
			for range 1000 {
				p.call(false, nil)
			}
		}),
		grpc("bodies that stop", 10, func(p *framedPeer) {
			for range 100 {
				p.data(p.call(false, nil), append(prefixed(false, 48<<20), make([]byte, 1<<20)...))
			}
		}),
		grpc("large bodies", 4, func(p *framedPeer) {
			for range 20 {
				p.data(p.call(false, nil), append(prefixed(false, 60<<20), make([]byte, 50<<20)...))
			}
		}),
		grpc("packed bodies", 10, func(p *framedPeer) {
			for range 50 {
				p.data(p.call(true, nil), append(prefixed(true, len(packed)), packed...))
			}
		}),
		grpc("messages of small messages", 10, func(p *framedPeer) {
			for range 5 {
				p.data(p.call(false, nil), append(prefixed(false, len(small)), small...))
			}
		}),
		grpc("answers that are not read", 10, func(p *framedPeer) {
			for range 250 {
				p.data(p.call(false, nil), rowsMessage(20))
				time.Sleep(10 * time.Millisecond) // until earlier rows are computed: the queue is limited
			}
		}),
		grpc("trailers", 20, func(p *framedPeer) {
			for range 100 {
				id := p.call(false, nil)
				p.data(id, prefixed(false, 100))
				p.headers(id, true, true, append(p.long(3000), bytes.Repeat([]byte{0xbe}, 4050)...))
			}
		}),
		grpc("calls that are taken back", 10, func(p *framedPeer) {
			for range 20_000 {
				_ = p.f.WriteRSTStream(p.call(false, nil), http2.ErrCodeCancel)
			}
		}),
		grpc("pings", 20, func(p *framedPeer) {
			for range 100_000 {
				_ = p.f.WritePing(false, [8]byte{})
			}
		}),
		grpc("settings", 20, func(p *framedPeer) {
			for range 100_000 {
				_ = p.f.WriteSettings()
			}
		}),
		grpc("idle connections", 3000, func(p *framedPeer) {}),
		{"unused connections", "gRPC", func(v *victim) { v.all(3000, v.GRPC, "") }},
		http("headers that unpack to much", 4, func(p *framedPeer) {
			for range 100 {
				p.call(false, func() []byte { return append(p.long(3000), bytes.Repeat([]byte{0xbe}, 4050)...) })
			}
		}),
		http("headers within the limit", 20, func(p *framedPeer) {
			for range 200 {
				p.call(false, func() []byte { return append(p.long(100), bytes.Repeat([]byte{0xbe}, 400)...) })
			}
		}),
		http("continuation frames", 50, func(p *framedPeer) {
			p.headers(1, false, false, append(p.base(), p.long(3000)...))
			for range 1000 {
				_ = p.f.WriteContinuation(1, false, bytes.Repeat([]byte{0xbe}, 100))
			}
		}),
		http("open requests", 40, func(p *framedPeer) {
			for range 1000 {
				p.call(false, nil)
			}
		}),
		http("large bodies", 4, func(p *framedPeer) {
			for range 20 {
				p.data(p.call(false, nil), make([]byte, 50<<20))
			}
		}),
		http("answers that are not read", 10, func(p *framedPeer) {
			for range 250 {
				id := p.call(false, nil)
				p.data(id, make([]byte, 20*784))
				_ = p.f.WriteData(id, true, nil)
				time.Sleep(10 * time.Millisecond)
			}
		}),
		http("pings", 20, func(p *framedPeer) {
			for range 100_000 {
				_ = p.f.WritePing(false, [8]byte{})
			}
		}),
	}
}

// framedPeer is a peer that uses HTTP/2 and reads no answers: it announces a flow-control window of 0.
type framedPeer struct {
	f     *http2.Framer
	asks  [][2]string // the headers of a request
	last  uint32
	block bytes.Buffer
	pack  *hpack.Encoder
	mu    sync.Mutex
	more  sync.Cond
	all   int64            // bytes that may be sent on the connection
	first int64            // bytes that may be sent on a new stream
	each  map[uint32]int64 // bytes that may be sent on each stream
	over  bool
}

// The headers of an inference request over gRPC, and over HTTP/2.
var (
	asCall = [][2]string{{":method", "POST"}, {":scheme", "http"},
		{":path", "/inference.GRPCInferenceService/ModelInfer"}, {":authority", "localhost"},
		{"content-type", "application/grpc"}, {"te", "trailers"}}
	asInference = [][2]string{{":method", "POST"}, {":scheme", "https"}, {":path", "/v2/models/m/infer"},
		{":authority", "localhost"}, {strings.ToLower(jsonLength), "0"}}
)

func newFramedPeer(c net.Conn, asks [][2]string) *framedPeer {
	p := &framedPeer{f: http2.NewFramer(c, c), asks: asks, all: 65535, first: 65535, each: map[uint32]int64{}}
	p.more.L = &p.mu
	p.pack = hpack.NewEncoder(&p.block)
	_, _ = io.WriteString(c, http2.ClientPreface)
	_ = p.f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	got := make(chan bool)
	go p.read(got)
	select {
	case <-got:
	case <-time.After(3 * time.Second):
	}
	return p
}

// read reads frames, and records updates of flow-control windows. It answers no frame.
func (p *framedPeer) read(got chan bool) {
	for first := true; ; {
		f, err := p.f.ReadFrame()
		p.mu.Lock()
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
				p.first = int64(v)
			}
			if first {
				close(got)
				first = false
			}
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				p.all += int64(f.Increment)
			} else {
				p.each[f.StreamID] += int64(f.Increment)
			}
		case *http2.RSTStreamFrame:
			p.each[f.StreamID] = -1 << 40
		}
		p.over = err != nil
		p.more.Broadcast()
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// field encodes a header field. If kept is true, the other side adds it to its table of headers.
func (p *framedPeer) field(name, value string, kept bool) []byte {
	p.block.Reset()
	_ = p.pack.WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: !kept})
	return bytes.Clone(p.block.Bytes())
}

func (p *framedPeer) base() (b []byte) {
	for _, f := range p.asks {
		b = append(b, p.field(f[0], f[1], false)...)
	}
	return b
}

// long encodes a header field of about n bytes. The server adds it to its table of headers as the newest
// entry, so that the byte 0xbe then encodes the same field again.
func (p *framedPeer) long(n int) []byte { return p.field("a-bin", strings.Repeat("QUFB", n/3), true) }

func (p *framedPeer) headers(id uint32, last, end bool, block []byte) {
	for first := true; first || len(block) > 0; first = false {
		n := min(len(block), 16<<10)
		done := end && n == len(block)
		if first {
			_ = p.f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:n], EndStream: last,
				EndHeaders: done})
		} else {
			_ = p.f.WriteContinuation(id, done, block[:n])
		}
		block = block[n:]
	}
}

// call begins a call, and returns the number of its stream. more returns additional headers.
func (p *framedPeer) call(packed bool, more func() []byte) uint32 {
	p.last += 2
	block := p.base()
	if packed {
		block = append(block, p.field("grpc-encoding", "gzip", false)...)
	}
	if more != nil {
		block = append(block, more()...)
	}
	p.headers(p.last-1, false, true, block)
	return p.last - 1
}

// data sends bytes as far as the flow-control windows permit. It gives up after half a second.
func (p *framedPeer) data(id uint32, b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.each[id] += p.first
	late := false
	timer := time.AfterFunc(500*time.Millisecond, func() {
		p.mu.Lock()
		late = true
		p.more.Broadcast()
		p.mu.Unlock()
	})
	defer timer.Stop()
	for len(b) > 0 && !p.over && !late && p.each[id] >= 0 {
		n := min(int64(len(b)), 16<<10, p.all, p.each[id])
		if n <= 0 {
			p.more.Wait()
			continue
		}
		p.all, p.each[id] = p.all-n, p.each[id]-n
		part := b[:n]
		b = b[n:]
		p.mu.Unlock()
		_ = p.f.WriteData(id, false, part)
		p.mu.Lock()
	}
}

// prefixed returns the prefix of a gRPC message of n bytes.
func prefixed(packed bool, n int) []byte {
	b := make([]byte, prefixBytes)
	if packed {
		b[0] = 1
	}
	binary.BigEndian.PutUint32(b[1:], uint32(n))
	return b
}

// rowsMessage returns the message of an inference request with rows.
func rowsMessage(n int) []byte {
	b, err := proto.Marshal(inMessage(tensor.New(tensor.U8, n, 28, 28, 1), true))
	if err != nil {
		panic(err)
	}
	return append(prefixed(false, len(b)), b...)
}
