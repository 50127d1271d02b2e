package serve

import (
	"fmt"

	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// newHost returns a host for bnctl at the other end of the rings. pool is the path of the memory to
// receive into, or "" without memory.
func newHost(pipe *shm.Conn, pool string) *host {
	h := &host{pipe: pipe}
	if pool == "" {
		return h
	}
	if p, err := shm.OpenPool(pool); err == nil { // without the pool all messages are copied
		h.pools = []*shm.Pool{p}
	}
	return h
}

// addPool maps the memory with the path in a frame, and reports to bnctl whether that was possible.
func (h *host) addPool(f wire.Frame) {
	answer := wire.Frame{Kind: wire.FramePool, Peer: f.Peer}
	p, err := shm.OpenPool(string(f.Content))
	if err == nil {
		err = p.Close() // the memory stays mapped
	}
	if err == nil && f.Peer != len(h.pools)+1 {
		err = fmt.Errorf("pool %d follows on %d", f.Peer, len(h.pools))
	}
	if h.pools = append(h.pools, p); err != nil {
		answer.Content = []byte(err.Error())
	}
	_ = wire.WriteFrame(h.pipe, answer)
}

// pieces returns the pieces of a message that bnctl lends.
func (h *host) pieces(f wire.Frame) ([][]byte, error) {
	views, err := f.Views()
	var all [][]byte
	for _, v := range views {
		b, ok := v.Inline, true
		if v.Pool > 0 {
			if ok = int(v.Pool) <= len(h.pools) && h.pools[v.Pool-1] != nil; ok {
				b, ok = h.pools[v.Pool-1].At(v.Offset, v.Length)
			}
		}
		if !ok {
			return nil, fmt.Errorf("bnctl lends %d bytes at %d of pool %d: there is none", v.Length, v.Offset, v.Pool)
		}
		all = append(all, b)
	}
	return all, err
}

// release frees the memory of a message that bnctl has received.
func (h *host) release(f wire.Frame) {
	if len(h.pools) > 0 {
		h.pools[0].Free(int(f.Got()))
	}
}

// Alloc implements Host.
func (h *host) Alloc(n int) []byte {
	if len(h.pools) > 0 {
		if b := h.pools[0].Alloc(n); b != nil {
			return b
		}
	}
	return make([]byte, n)
}

// WholeMessage implements Host.
func (h *host) WholeMessage(rank int, lane uint8, message []byte) {
	if len(h.pools) > 0 {
		if at, ok := h.pools[0].Offset(message); ok {
			v := wire.View{Pool: 1, Offset: int64(at), Length: int64(len(message))}
			_ = wire.WriteFrame(h.pipe, wire.Views(rank, lane, []wire.View{v}))
			return
		}
	}
	for len(message) > MaxContent {
		h.Message(rank, lane, message[:MaxContent], true)
		message = message[MaxContent:]
	}
	h.Message(rank, lane, message, false)
}

// Sent implements Host.
func (h *host) Sent(rank int, lane uint8) { _ = wire.WriteFrame(h.pipe, wire.Back(rank, lane, 0)) }
