package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"google.golang.org/grpc"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/fabricpb"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// Network is what a fabric plugin has: the library of a network and launcher.
type Network interface {
	// Describe says what the plugin is.
	Describe() device.Plugin
	// Join makes this process a rank, by the library at a path, "": the one that the
	// launcher belongs to. It returns when all ranks are there.
	Join(library string, i Inbox) (Station, error)
}

// Inbox is told what comes. Its methods are called by one goroutine, and may
// take as long as bnctl takes to read.
type Inbox interface {
	// Message is the next part of a message from a peer, and whether there are more.
	// content may be overwritten when it returns.
	Message(from int, lane uint8, content []byte, more bool)
	// Left says that a peer has left; this rank itself: all have, after Leave.
	Left(rank int)
	// Ended says that the fabric is of no use any more, and why.
	Ended(cause string)
}

// MaxPart bounds a part of a message, in bytes.
const MaxPart = wire.MaxFrame

// Station is this process as a rank of a network. Its methods are called by
// one goroutine and do not wait for the network.
type Station interface {
	Rank() int
	Size() int
	About() string // what network it is, with its version
	// Send sends the next part of a message: at most MaxPart bytes, which are the
	// station's from now on.
	Send(to int, lane uint8, part []byte, more bool)
	Abort(cause string)
	Leave()
	// Close ends all that is under way. The process ends after it.
	Close()
}

// FabricMain is the main function of a fabric plugin: Main of a plugin that has
// no devices but joins the ranks of a run.
func FabricMain(n Network) {
	if described(n.Describe()) {
		return
	}
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
	station, err := s.network.Join(in.GetLibrary(), inbox{pipe})
	if err != nil {
		return &fabricpb.JoinReply{Error: errors.Join(err, pipe.Close()).Error()}, nil
	}
	s.station = station
	go forward(pipe, station)
	return &fabricpb.JoinReply{Rank: uint32(station.Rank()), Size: uint32(station.Size()),
		About: station.About()}, nil
}

func (s *fabricService) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.station != nil {
		s.station.Close()
	}
}

// forward gives the station what the host sends.
func forward(p wire.Pipe, s Station) {
	for {
		f, err := wire.ReadFrame(p)
		if err != nil {
			if !ended(err) {
				fmt.Fprintln(os.Stderr, err)
			}
			return
		}
		switch f.Kind {
		case wire.FrameMessage, wire.FramePart:
			s.Send(f.Peer, f.Lane, f.Content, f.Kind == wire.FramePart)
		case wire.FrameAbort:
			s.Abort(string(f.Content))
		case wire.FrameLeave:
			s.Leave()
		}
	}
}

// inbox sends what comes to the host. What it cannot send nobody is there to read.
type inbox struct{ pipe wire.Pipe }

func (i inbox) Message(from int, lane uint8, content []byte, more bool) {
	kind := wire.FrameMessage
	if more {
		kind = wire.FramePart
	}
	_ = wire.WriteFrame(i.pipe, wire.Frame{Kind: kind, Lane: lane, Peer: from, Content: content})
}

func (i inbox) Left(rank int) {
	_ = wire.WriteFrame(i.pipe, wire.Frame{Kind: wire.FrameLeft, Peer: rank})
}

func (i inbox) Ended(cause string) {
	_ = wire.WriteFrame(i.pipe, wire.Frame{Kind: wire.FrameEnded, Content: []byte(cause)})
}
