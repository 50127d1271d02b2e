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

// Network is implemented by a fabric plugin: the library of a network and its
// launcher, such as MPI.
type Network interface {
	// Describe returns the plugin's description.
	Describe() device.Plugin
	// Join makes this process a rank and returns when all ranks have joined. library
	// is the path of the library to use; "" is that of the launcher.
	Join(library string, h Host) (Station, error)
}

// Host is the interface to bnctl for a station. One goroutine of the station
// calls its methods, which may block until bnctl reads.
type Host interface {
	// Orders waits at most d for orders of bnctl, calls the methods of s that
	// carry them out, and reports whether there were any. The error means that
	// bnctl has ended.
	Orders(s Station, d time.Duration) (bool, error)
	// Reuse gives the memory of a sent part back to the host, which uses it again:
	// it is in the caches, and new memory would have to be cleared.
	Reuse(part []byte)
	// Message delivers the next part of a message from a rank; more says that
	// further parts follow. The station may overwrite content when it returns.
	Message(from int, lane uint8, content []byte, more bool)
	// Room returns memory for a message of n bytes, which is to be given to Whole.
	Room(n int) []byte
	// Whole delivers a message from a rank, in memory of Room, which belongs to the
	// host from then on.
	Whole(from int, lane uint8, message []byte)
	// Sent reports that the next message of SendWhole to a rank in a lane has been
	// sent.
	Sent(to int, lane uint8)
	// Left reports that a rank has left; with this rank's own number, that all
	// have left, after Leave.
	Left(rank int)
	// Ended reports that the fabric cannot be used any more, and why.
	Ended(cause string)
}

// MaxPart is the largest size of a part of a message, in bytes.
const MaxPart = wire.MaxFrame

// Station is this process as a rank of a network. Host.Orders calls Send,
// SendWhole, Await, Abort and Leave, which do not wait for the network.
type Station interface {
	Rank() int
	Size() int
	About() string // the network or library, with its version
	// Send sends the next part of a message: at most MaxPart bytes, which belong
	// to the station until it calls Host.Reuse.
	Send(to int, lane uint8, part []byte, more bool)
	// SendWhole sends a message that consists of these pieces, one behind the other.
	// They lie in memory that bnctl has lent, and belong to the station until it
	// calls Host.Sent.
	SendWhole(to int, lane uint8, pieces [][]byte)
	// Await reports that bnctl waits for a message of a rank, after it has received
	// got messages of that rank in this lane. Until the message comes, a station
	// that has to poll polls often.
	Await(from int, lane uint8, got uint64)
	Abort(cause string)
	Leave()
	// Close ends all sends and receives. The process ends after it. Any
	// goroutine may call it.
	Close()
}

// FabricMain is the main function of a fabric plugin, which has no devices and
// joins the ranks of a run: see Main.
func FabricMain(n Network) {
	if described(n.Describe()) {
		return
	}
	// A station naps where Go does not see it (shm.Conn.Await): it keeps its place.
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

	mu      sync.Mutex
	station Station // nil before Join
}

func (s *fabricService) Join(_ context.Context, in *fabricpb.JoinRequest) (*fabricpb.JoinReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.station != nil {
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
	station, err := s.network.Join(in.GetLibrary(), h)
	if err != nil {
		return &fabricpb.JoinReply{Error: errors.Join(err, pipe.Close()).Error()}, nil
	}
	s.station = station
	return &fabricpb.JoinReply{Rank: uint32(station.Rank()), Size: uint32(station.Size()),
		About: station.About(), Pools: h.pools != nil}, nil
}

func (s *fabricService) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.station != nil {
		s.station.Close()
	}
}

// host is bnctl at the other end of the rings. What cannot be sent to it nobody
// is there to read.
type host struct {
	pipe  *shm.Conn
	free  [][]byte    // parts that were sent
	pools []*shm.Pool // by number - 1; nil: bnctl has none, or this process
}

func (h *host) Orders(s Station, d time.Duration) (happened bool, err error) {
	for ; h.pipe.Await(d); d = 0 {
		f, err := wire.ReadFrame(h.pipe, h.room)
		if err != nil {
			return happened, err
		}
		if err := h.order(s, f); err != nil {
			return happened, err
		}
		happened = true
	}
	return happened, nil
}

// room returns memory for the content of a frame.
func (h *host) room(_ wire.Frame, n int) ([]byte, error) {
	if n < minPooled || len(h.free) == 0 {
		return make([]byte, n), nil
	}
	last := len(h.free) - 1
	b := h.free[last]
	h.free = h.free[:last]
	return slices.Grow(b[:0], n)[:n], nil
}

// minPooled is from how many bytes on memory is kept.
const minPooled = 32 << 10

func (h *host) Reuse(part []byte) {
	if len(part) >= minPooled {
		h.free = append(h.free, part)
	}
}

// order has the station do what a frame says.
func (h *host) order(s Station, f wire.Frame) error {
	switch f.Kind {
	case wire.FrameMessage, wire.FramePart:
		s.Send(f.Peer, f.Lane, f.Content, f.Kind == wire.FramePart)
	case wire.FrameViews:
		pieces, err := h.pieces(f)
		if err != nil {
			return err
		}
		s.SendWhole(f.Peer, f.Lane, pieces)
	case wire.FramePool:
		h.addPool(f)
	case wire.FrameBack:
		h.back(f)
	case wire.FrameAwait:
		s.Await(f.Peer, f.Lane, f.Got())
	case wire.FrameAbort:
		s.Abort(string(f.Content))
	case wire.FrameLeave:
		s.Leave()
	}
	return nil
}

func (h *host) Message(from int, lane uint8, content []byte, more bool) {
	kind := wire.FrameMessage
	if more {
		kind = wire.FramePart
	}
	_ = wire.WriteFrame(h.pipe, wire.Frame{Kind: kind, Lane: lane, Peer: from, Content: content})
}

func (h *host) Left(rank int) {
	_ = wire.WriteFrame(h.pipe, wire.Frame{Kind: wire.FrameLeft, Peer: rank})
}

func (h *host) Ended(cause string) {
	_ = wire.WriteFrame(h.pipe, wire.Frame{Kind: wire.FrameEnded, Content: []byte(cause)})
}
