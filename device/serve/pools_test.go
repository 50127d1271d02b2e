//go:build linux

package serve

import (
	"bytes"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// idle is an endpoint that only records the messages to send.
type idle struct{ sent [][]byte }

func (*idle) Rank() int                                   { return 0 }
func (*idle) Size() int                                   { return 2 }
func (*idle) About() string                               { return "" }
func (*idle) Send(int, uint8, []byte, bool)               {}
func (s *idle) SendWhole(_ int, _ uint8, pieces [][]byte) { s.sent = pieces }
func (*idle) Await(int, uint8, uint64)                    {}
func (*idle) Abort(string)                                {}
func (*idle) Leave()                                      {}
func (*idle) Close()                                      {}

// bench is a host, and bnctl at the other end of its rings.
type bench struct {
	host  *host
	bnctl *shm.Conn
	pool  *shm.Pool // memory to receive into
}

func newBench(t *testing.T) bench {
	pool, err := shm.NewPool()
	if err != nil {
		t.Fatal(err)
	}
	f, err := shm.New(shm.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	var maps [2][]byte
	for i := range maps {
		if maps[i], err = shm.Map(f, shm.Bytes); err != nil {
			t.Fatal(err)
		}
	}
	bnctl, err := shm.Host(maps[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := shm.Guest(maps[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, close := range []func() error{bnctl.Close, guest.Close, f.Close, pool.Drop} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
	})
	return bench{newHost(guest, pool.Path()), bnctl, pool}
}

// write writes a frame of bnctl, which the host carries out.
func (b bench) write(s Endpoint, f wire.Frame) error {
	if err := wire.WriteFrame(b.bnctl, f); err != nil {
		return err
	}
	_, err := b.host.Poll(s, 0)
	return err
}

// read reads a frame of the host.
func (b bench) read(t *testing.T) wire.Frame {
	f, err := wire.ReadFrame(b.bnctl, func(_ wire.Frame, n int) ([]byte, error) { return make([]byte, n), nil })
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLentMessages checks that the endpoint sends from memory that bnctl has named, and
// that bnctl is notified when the memory is free again.
func TestLentMessages(t *testing.T) {
	b, s := newBench(t), &idle{}
	lent, err := shm.NewPool()
	if err != nil {
		t.Fatal(err)
	}
	values := lent.Alloc(100)
	copy(values, "values")
	if err := b.write(s, wire.Frame{Kind: wire.FramePool, Peer: 2, Content: []byte(lent.Path())}); err != nil {
		t.Fatal(err)
	}
	if f := b.read(t); f.Kind != wire.FramePool || f.Peer != 2 || len(f.Content) > 0 {
		t.Errorf("a pool was answered by %+v: %s", f, f.Content)
	}
	m := []wire.View{{Inline: []byte("head")}, {Pool: 2, Offset: 0, Length: 6}}
	if err := b.write(s, wire.Views(1, 1, m)); err != nil {
		t.Fatal(err)
	}
	if got := slices.Concat(s.sent...); string(got) != "headvalues" {
		t.Errorf("%q is to be sent", got)
	}
	b.host.Sent(1, 1)
	if f := b.read(t); f.Kind != wire.FrameBack || f.Peer != 1 || f.Lane != 1 {
		t.Errorf("memory comes back by %+v", f)
	}
	if err := lent.Drop(); err != nil {
		t.Error(err)
	}
	if err := b.write(s, wire.Frame{Kind: wire.FramePool, Peer: 3, Content: []byte("/nowhere")}); err != nil {
		t.Fatal(err)
	}
	if f := b.read(t); f.Kind != wire.FramePool || f.Peer != 3 || len(f.Content) == 0 {
		t.Errorf("a pool that is not there was answered by %+v", f)
	}
	for _, v := range []wire.View{{Pool: 3, Length: 1}, {Pool: 4, Length: 1},
		{Pool: 1, Offset: shm.PoolBytes, Length: 1}} {
		if err := b.write(s, wire.Views(1, 1, []wire.View{v})); err == nil {
			t.Errorf("%+v was sent", v)
		}
	}
}

// TestReceivedMessages checks that a message is received into the memory that bnctl offers, and
// stays there until bnctl releases it. Without free memory, the message is sent in parts.
func TestReceivedMessages(t *testing.T) {
	b := newBench(t)
	want := bytes.Repeat([]byte("gradient"), MaxContent/4)
	give := func() (at int) {
		m := b.host.Alloc(len(want))
		copy(m, want)
		at, _ = b.host.pools[0].Offset(m)
		b.host.WholeMessage(1, 0, m)
		return at
	}
	at := give()
	f := b.read(t)
	views, err := f.Views()
	if f.Kind != wire.FrameViews || f.Peer != 1 || err != nil || len(views) != 1 || views[0].Pool != 1 {
		t.Fatalf("a message came as %+v, %v", f, err)
	}
	if got, _ := b.pool.At(views[0].Offset, views[0].Length); !bytes.Equal(got, want) {
		t.Error("another message lies in the pool")
	}
	if other := give(); other == at {
		t.Error("a message was received over another")
	}
	b.read(t)
	if err := b.write(&idle{}, wire.Back(0, 0, int64(at))); err != nil {
		t.Fatal(err)
	}
	if again := give(); again != at {
		t.Errorf("the memory of a message that was given back lies at %d, the next is at %d", at, again)
	}
	b.read(t)
	b.host.pools = nil
	b.host.WholeMessage(1, 0, want)
	var got []byte
	for f.Kind = wire.FramePart; f.Kind == wire.FramePart; got = append(got, f.Content...) {
		f = b.read(t)
	}
	if f.Kind != wire.FrameMessage || !bytes.Equal(got, want) {
		t.Errorf("a message of %d bytes came as %d", len(want), len(got))
	}
}
