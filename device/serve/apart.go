package serve

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// Apart serves devices to hosts on other machines. On each connection a host opens one device, which is
// closed when the connection ends. The host has no other access: it shares no memory with this machine,
// and cannot make it read files. The devices exchange data through their host.
type Apart struct {
	server   *grpc.Server
	calls    allCalls
	meetings meetings
}

// allCalls has the calls of all connections.
type allCalls struct {
	number  atomic.Int64 // number of calls in progress
	leaving atomic.Bool  // no more calls may begin
}

// ApartOptions configure Apart.
type ApartOptions struct {
	// Credentials decide who may connect. They are required.
	Credentials credentials.TransportCredentials
	// Check, if not nil, is called for each open connection from time to time. If it returns an error,
	// the device of the connection is closed.
	Check func(credentials.AuthInfo) error
	// MaxBytes is the maximum size of the tensors of one message from a host. 0 means the maximum of
	// a plugin.
	MaxBytes int64
}

// Times for connections between machines. A machine that is switched off sends nothing. Therefore both
// sides check from time to time whether the other side still answers.
const (
	handshakeTimeout = 10 * time.Second
	checkEvery       = 10 * time.Second
)

// NewApart returns a server of the devices of p.
func NewApart(p device.Provider, o ApartOptions) *Apart {
	a := &Apart{}
	a.server = grpc.NewServer(grpc.Creds(trusting{o.Credentials}), grpc.ConnectionTimeout(handshakeTimeout),
		grpc.InitialWindowSize(wire.Window), grpc.InitialConnWindowSize(wire.Window),
		grpc.MaxRecvMsgSize(wire.ChunkBytes+wire.MaxBody), grpc.ForceServerCodecV2(wire.Codec{}),
		experimental.BufferPool(wire.Pool),
		grpc.MaxConcurrentStreams(8), grpc.MaxHeaderListSize(16<<10),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: wire.AliveEvery, Timeout: wire.AliveWithin}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime: wire.AliveEvery / 2, PermitWithoutStream: true}),
		grpc.StatsHandler(&connections{apart: a, provider: p, o: o}))
	pb.RegisterDeviceServer(a.server, &router{apart: a, o: o})
	return a
}

// Serve accepts connections until Leave or Close. It limits the number of connections, separately for trusted
// hosts and for others.
func (a *Apart) Serve(l net.Listener) error { return a.server.Serve(newCrowd(l, maxStrangers)) }

// Leave opens no more devices, waits until no call is in progress or ctx ends, and closes all
// connections.
func (a *Apart) Leave(ctx context.Context) {
	a.calls.leaving.Store(true)
	for ctx.Err() == nil && a.calls.number.Load() > 0 {
		time.Sleep(5 * time.Millisecond)
	}
	a.Close()
}

// Close closes all connections at once.
func (a *Apart) Close() { a.server.Stop() }

// connections makes a service for each connection.
type connections struct {
	apart    *Apart
	provider device.Provider
	o        ApartOptions
}

type serviceKey struct{}

// TagConn implements stats.Handler.
func (c *connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	s := newService(c.provider)
	s.apart, s.maxBytes, s.calls.all, s.meetings = true, c.o.MaxBytes, &c.apart.calls, &c.apart.meetings
	return context.WithValue(ctx, serviceKey{}, s)
}

// HandleConn implements stats.Handler.
func (c *connections) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ok := s.(*stats.ConnEnd); ok {
		_ = serviceOf(ctx).close()
	}
}

// TagRPC implements stats.Handler.
func (c *connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (c *connections) HandleRPC(context.Context, stats.RPCStats) {}

func serviceOf(ctx context.Context) *service { return ctx.Value(serviceKey{}).(*service) }

// router passes the calls of a connection to the connection's service.
type router struct {
	pb.UnimplementedDeviceServer
	apart *Apart
	o     ApartOptions
}

func (r *router) Describe(ctx context.Context, in *pb.DescribeRequest) (*pb.PluginInfo, error) {
	return serviceOf(ctx).Describe(ctx, in)
}

func (r *router) List(ctx context.Context, in *pb.ListRequest) (*pb.Devices, error) {
	return serviceOf(ctx).List(ctx, in)
}

func (r *router) Open(ctx context.Context, in *pb.OpenRequest) (*pb.OpenReply, error) {
	if r.apart.calls.leaving.Load() {
		err := device.Errorf("", "", device.Unavailable, "the machine is being stopped")
		return &pb.OpenReply{Error: wire.EncodeError(err)}, nil
	}
	return serviceOf(ctx).Open(ctx, in)
}

func (r *router) Cancel(ctx context.Context, in *pb.CancelRequest) (*pb.CancelReply, error) {
	return serviceOf(ctx).Cancel(ctx, in)
}

func (r *router) Close(ctx context.Context, in *pb.CloseRequest) (*pb.CloseReply, error) {
	return serviceOf(ctx).Close(ctx, in)
}

// Session serves the device until the host ends the stream, or Check refuses the host.
func (r *router) Session(stream grpc.BidiStreamingServer[pb.Message, pb.Message]) error {
	ctx := stream.Context()
	ended := make(chan error, 1)
	go func() { ended <- serviceOf(ctx).Session(stream) }()
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			if err := r.check(ctx); err != nil {
				_ = serviceOf(ctx).close()
				return err // ends the stream, and therefore the session
			}
		}
	}
}

func (r *router) check(ctx context.Context) error {
	p, ok := peer.FromContext(ctx)
	if r.o.Check == nil || !ok {
		return nil
	}
	return r.o.Check(p.AuthInfo)
}
