package server

import (
	"context"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/protobuf/proto"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/server/protocol"
	"github.com/bnctl/bnctl/train"
)

// grpcStreams is how many calls of one connection are answered at a time.
const grpcStreams = 1024

// service is the Open Inference Protocol over gRPC. What it does not define is
// answered UNIMPLEMENTED.
type service struct {
	pb.UnimplementedGRPCInferenceServiceServer
	*Server
}

// newGRPC returns what answers over gRPC, and its health.
func (s *Server) newGRPC() (*grpc.Server, *health.Server) {
	options := []grpc.ServerOption{grpc.MaxRecvMsgSize(s.o.Request), grpc.MaxConcurrentStreams(grpcStreams),
		grpc.ConnectionTimeout(headerTimeout), grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleTimeout}),
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

// may refuses a call that shows no token, where one is needed.
func (s *Server) may(ctx context.Context) error {
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

// ServerLive implements pb.GRPCInferenceServiceServer, as the methods below do.
func (s service) ServerLive(context.Context, *pb.ServerLiveRequest) (*pb.ServerLiveResponse, error) {
	return &pb.ServerLiveResponse{Live: true}, nil
}

func (s service) ServerReady(context.Context, *pb.ServerReadyRequest) (*pb.ServerReadyResponse, error) {
	return &pb.ServerReadyResponse{Ready: !s.draining.Load()}, nil
}

func (s service) ModelReady(_ context.Context, r *pb.ModelReadyRequest) (*pb.ModelReadyResponse, error) {
	_, err := s.find(r.Name, r.Version)
	return &pb.ModelReadyResponse{Ready: err == nil}, err
}

func (s service) ServerMetadata(context.Context, *pb.ServerMetadataRequest) (
	*pb.ServerMetadataResponse, error) {
	return &pb.ServerMetadataResponse{Name: "bnctl", Version: train.Release, Extensions: extensions}, nil
}

func (s service) ModelMetadata(_ context.Context, r *pb.ModelMetadataRequest) (
	*pb.ModelMetadataResponse, error) {
	m, err := s.find(r.Name, r.Version)
	if err != nil {
		return nil, err
	}
	meta := s.describe(m)
	out := &pb.ModelMetadataResponse{Name: meta.Name, Versions: meta.Versions, Platform: meta.Platform}
	for _, in := range meta.Inputs {
		out.Inputs = append(out.Inputs, in.message())
	}
	for _, o := range meta.Outputs {
		out.Outputs = append(out.Outputs, o.message())
	}
	return out, nil
}

func (s signature) message() *pb.ModelMetadataResponse_TensorMetadata {
	return &pb.ModelMetadataResponse_TensorMetadata{Name: s.Name, Datatype: s.Datatype, Shape: widened(s.Shape)}
}

func (s service) ModelInfer(ctx context.Context, in *pb.ModelInferRequest) (*pb.ModelInferResponse, error) {
	done, err := s.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	l := lease{room: &s.room}
	defer l.end()
	if err := l.grow(int64(proto.Size(in))); err != nil {
		return nil, err
	}
	a, err := s.infer(ctx, in.ModelName, in.ModelVersion,
		func(*served) (*protocol.Request, error) { return requestOf(in) })
	if err != nil {
		return nil, err
	}
	began := time.Now()
	out := answerOf(a)
	recordOf(ctx).encoded = time.Since(began)
	return out, nil
}

func (s service) RepositoryIndex(context.Context, *pb.RepositoryIndexRequest) (
	*pb.RepositoryIndexResponse, error) {
	out := &pb.RepositoryIndexResponse{}
	for _, m := range s.index() {
		out.Models = append(out.Models, &pb.RepositoryIndexResponse_ModelIndex{Name: m.Name, Version: m.Version,
			State: m.State})
	}
	return out, nil
}
