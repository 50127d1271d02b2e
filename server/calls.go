package server

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // calls may be packed
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/tap"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/server/protocol"
)

// grpcStreams is how many calls of one connection are answered at a time.
const grpcStreams = 1024

// grpcWindow is how many bytes of a connection may come before they are taken: a
// picture of 224x224 pixels as float32 and more, without a round trip.
const grpcWindow = 1 << 20

// A connection that says nothing for so long is asked whether it lives, and has
// so long to answer.
const (
	grpcSilence = 30 * time.Second
	grpcAlive   = 20 * time.Second
)

// newGRPC returns what answers over gRPC, and its health.
func (s *Server) newGRPC() (*grpc.Server, *health.Server) {
	options := []grpc.ServerOption{grpc.MaxRecvMsgSize(s.o.Request), grpc.MaxConcurrentStreams(grpcStreams),
		grpc.InitialWindowSize(grpcWindow), grpc.InitialConnWindowSize(grpcWindow),
		grpc.NumStreamWorkers(uint32(runtime.GOMAXPROCS(0))), grpc.ForceServerCodecV2(newCodec()),
		grpc.ConnectionTimeout(headerTimeout), grpc.InTapHandle(s.limited), grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleTimeout, Time: grpcSilence,
			Timeout: grpcAlive}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second})}
	if s.secure != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.secure)))
	}
	g := grpc.NewServer(options...)
	pb.RegisterGRPCInferenceServiceServer(g, service{Server: s})
	h := health.NewServer()
	healthpb.RegisterHealthServer(g, h)
	if loopback(s.o.GRPC) || s.o.Security.Reflection {
		reflection.Register(g)
	}
	return g, h
}

// limited gives a call of the protocol the time of a request, from its first
// byte on: a message that does not come is given up. Others may watch for long.
func (s *Server) limited(ctx context.Context, call *tap.Info) (context.Context, error) {
	if !strings.HasPrefix(call.FullMethodName, "/"+pb.GRPCInferenceService_ServiceDesc.ServiceName+"/") {
		return ctx, nil
	}
	within, stop := context.WithTimeout(ctx, s.o.Timeout)
	context.AfterFunc(ctx, stop)
	return within, nil
}

// unary lets through who may call, and gives errors the codes of gRPC.
func (s *Server) unary(ctx context.Context, in any, call *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (
	out any, err error) {
	began, rec := time.Now(), &record{}
	if err = s.may(ctx); err == nil {
		out, err = handle(context.WithValue(ctx, recordKey{}, rec), in)
	}
	err = asStatus(err)
	s.recordGRPC(ctx, rec, began, call.FullMethod, err)
	return out, err
}

// stream lets through who may call: health and reflection have streams.
func (s *Server) stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo,
	handle grpc.StreamHandler) error {
	if err := s.may(stream.Context()); err != nil {
		return asStatus(err)
	}
	return handle(srv, stream)
}

// may refuses a call under another server's name, and one that shows no token
// where one is needed.
func (s *Server) may(ctx context.Context) error {
	var local net.Addr
	if p, ok := peer.FromContext(ctx); ok {
		local = p.LocalAddr
	}
	for _, name := range metadata.ValueFromIncomingContext(ctx, ":authority") {
		if !called(name, s.o.Security.Hosts, local) {
			return protocol.Refuse(protocol.Forbidden, "this server is not called %.80q", name)
		}
	}
	if s.tokens == nil {
		return nil
	}
	for _, value := range metadata.ValueFromIncomingContext(ctx, "authorization") {
		if s.tokens.has(shown(&http.Request{Header: http.Header{"Authorization": {value}}})) {
			return nil
		}
	}
	return protocol.Refuse(protocol.Unauthorised, "want authorization: Bearer and a token of this server")
}
