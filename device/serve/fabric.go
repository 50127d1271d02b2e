package serve

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/fabricpb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// Network is implemented by a fabric plugin: the library of a network and its launcher, for
// example MPI.
type Network interface {
	// Describe returns the plugin's description.
	Describe() device.Plugin
	// Join makes this process a rank and returns when all ranks have joined. library is the
	// path of the library to use; "" selects the launcher's library.
	Join(library string, h Host) (Endpoint, error)
}

// Host is the interface to bnctl for an endpoint. One goroutine of the endpoint
// calls its methods, which may block until bnctl reads.
type Host interface {
	// Poll waits at most d for frames of bnctl, calls the methods of e that
	// carry them out, and reports whether there were any. The error means that
	// bnctl has ended.
	Poll(e Endpoint, d time.Duration) (bool, error)
	// Reuse returns the content of a Send to the host, which uses the memory again. This memory is in
	// the caches, and new memory would have to be cleared.
	Reuse(content []byte)
	// Message delivers the next bytes of a message from a rank. more reports whether further bytes
	// follow. The endpoint may overwrite content when Message returns.
	Message(from int, lane uint8, content []byte, more bool)
	// Alloc returns memory for a message of n bytes. The memory must be passed to WholeMessage.
	Alloc(n int) []byte
	// WholeMessage delivers a message from a rank. message is memory from Alloc, which belongs to the
	// host from then on.
	WholeMessage(from int, lane uint8, message []byte)
	// Sent reports that the next message of SendWhole to a rank in a lane has been
	// sent.
	Sent(to int, lane uint8)
	// Left reports that a rank has left. If rank is this rank, it reports, after Leave, that all ranks have
	// left.
	Left(rank int)
	// Ended reports that the fabric cannot be used any more, and why.
	Ended(cause string)
}

// MaxContent is the maximum length of the content of one Send, in bytes. A longer message needs several
// calls.
const MaxContent = wire.MaxFrame

// Endpoint is this process as a rank of a network. Host.Poll calls Send,
// SendWhole, Await, Abort and Leave, which do not wait for the network.
type Endpoint interface {
	Rank() int
	Size() int
	About() string // the network or library, with its version
	// Send sends the next bytes of a message: at most MaxContent, which belong to the
	// endpoint until it calls Host.Reuse.
	Send(to int, lane uint8, content []byte, more bool)
	// SendWhole sends a message that consists of these pieces in order. They are in memory
	// lent by bnctl, and belong to the endpoint until it calls Host.Sent.
	SendWhole(to int, lane uint8, pieces [][]byte)
	// Await reports that bnctl waits for a message of a rank. got is the number of messages that it
	// has received from the rank in this lane. An endpoint that polls should poll often until the
	// message arrives.
	Await(from int, lane uint8, got uint64)
	Abort(cause string)
	Leave()
	// Close ends all sends and receives. The process ends afterwards. Any
	// goroutine may call Close.
	Close()
}

// FabricMain is the main function of a fabric plugin, which has no devices and
// joins the ranks of a run: see Main.
func FabricMain(n Network) {
	if described(n.Describe()) {
		return
	}
	// An endpoint sleeps in a system call that Go's scheduler does not see (shm.Conn.Await), and keeps its
	// P meanwhile. Other goroutines need further Ps.
	runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0)))
	s := &fabricService{network: n}
	serveAs(n.Describe(), func(server *grpc.Server) {
		pb.RegisterDeviceServer(server, newService(deviceless{n}))
		fabricpb.RegisterFabricServer(server, s)
	}, s.close)
}

// deviceless is the provider of a plugin that has no devices.
type deviceless struct{ Network }

func (d deviceless) List(context.Context) ([]device.Info, string, error) {
	return nil, "it is a fabric, which joins the ranks of a run, and has no devices", nil
}

func (d deviceless) Open(context.Context, string, device.Options) (device.Device, error) {
	return nil, device.Errorf("", "", device.Unavailable, "it is a fabric and has no devices")
}

// fabricService answers the host of a fabric plugin.
type fabricService struct {
	fabricpb.UnimplementedFabricServer
	network Network

	mu       sync.Mutex
	endpoint Endpoint // nil before Join
}

func (s *fabricService) Join(_ context.Context, in *fabricpb.JoinRequest) (*fabricpb.JoinReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endpoint != nil {
		return &fabricpb.JoinReply{Error: "this process is a rank already"}, nil
	}
	memory, err := newShared(&pb.Segment{File: in.GetFile(), Bytes: in.GetBytes(),
		Bell: in.GetBell()})
	if err != nil {
		return &fabricpb.JoinReply{Error: err.Error()}, nil
	}
	pipe, err := memory.pipe()
	if err != nil {
		return &fabricpb.JoinReply{Error: err.Error()}, nil
	}
	h := newHost(pipe, in.GetPool())
	endpoint, err := s.network.Join(in.GetLibrary(), h)
	if err != nil {
		return &fabricpb.JoinReply{Error: errors.Join(err, pipe.Close()).Error()}, nil
	}
	s.endpoint = endpoint
	return &fabricpb.JoinReply{Rank: uint32(endpoint.Rank()), Size: uint32(endpoint.Size()),
		About: endpoint.About(), Pools: h.pools != nil}, nil
}

func (s *fabricService) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endpoint != nil {
		s.endpoint.Close()
	}
}

// host is bnctl at the other end of the rings. A failed write means that bnctl has ended, so the error
// is ignored.
type host struct {
	pipe  *shm.Conn
	free  [][]byte    // contents of sent messages
	pools []*shm.Pool // pools by number - 1; nil: not mapped by both bnctl and this process
}

func (h *host) Poll(e Endpoint, d time.Duration) (happened bool, err error) {
	for ; h.pipe.Await(d); d = 0 {
		f, err := wire.ReadFrame(h.pipe, h.frameBuffer)
		if err != nil {
			return happened, err
		}
		if err := h.handle(e, f); err != nil {
			return happened, err
		}
		happened = true
	}
	return happened, nil
}

// frameBuffer returns memory for the content of a frame.
func (h *host) frameBuffer(_ wire.Frame, n int) ([]byte, error) {
	if n < minPooled || len(h.free) == 0 {
		return make([]byte, n), nil
	}
	last := len(h.free) - 1
	b := h.free[last]
	h.free = h.free[:last]
	return slices.Grow(b[:0], n)[:n], nil
}

// minPooled is the minimum size of memory that is pooled.
const minPooled = 32 << 10

func (h *host) Reuse(content []byte) {
	if len(content) >= minPooled {
		h.free = append(h.free, content)
	}
}

// handle calls the method of e that corresponds to a frame.
func (h *host) handle(e Endpoint, f wire.Frame) error {
	switch f.Kind {
	case wire.FrameMessage, wire.FramePart:
		e.Send(f.Peer, f.Lane, f.Content, f.Kind == wire.FramePart)
	case wire.FrameViews:
		pieces, err := h.pieces(f)
		if err != nil {
			return err
		}
		e.SendWhole(f.Peer, f.Lane, pieces)
	case wire.FramePool:
		h.addPool(f)
	case wire.FrameBack:
		h.release(f)
	case wire.FrameAwait:
		e.Await(f.Peer, f.Lane, f.Got())
	case wire.FrameAbort:
		e.Abort(string(f.Content))
	case wire.FrameLeave:
		e.Leave()
	}
	return nil
}

func (h *host) Message(rank int, lane uint8, content []byte, more bool) {
	kind := wire.FrameMessage
	if more {
		kind = wire.FramePart
	}
	_ = wire.WriteFrame(h.pipe, wire.Frame{Kind: kind, Lane: lane, Peer: rank, Content: content})
}

func (h *host) Left(rank int) {
	_ = wire.WriteFrame(h.pipe, wire.Frame{Kind: wire.FrameLeft, Peer: rank})
}

func (h *host) Ended(cause string) {
	_ = wire.WriteFrame(h.pipe, wire.Frame{Kind: wire.FrameEnded, Content: []byte(cause)})
}
