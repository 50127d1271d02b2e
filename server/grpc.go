package server

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/recipe"
	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/server/internal/protocol"
)

// service implements the Open Inference Protocol over gRPC. Methods that it does not define are answered with
// UNIMPLEMENTED.
type service struct {
	pb.UnimplementedGRPCInferenceServiceServer
	*Server
}

// ServerLive implements pb.GRPCInferenceServiceServer, as the methods below do.
func (s service) ServerLive(context.Context, *pb.ServerLiveRequest) (*pb.ServerLiveResponse, error) {
	return &pb.ServerLiveResponse{Live: true}, nil
}

func (s service) ServerReady(context.Context, *pb.ServerReadyRequest) (*pb.ServerReadyResponse, error) {
	return &pb.ServerReadyResponse{Ready: !s.leaving.Load()}, nil
}

func (s service) ModelReady(_ context.Context, r *pb.ModelReadyRequest) (*pb.ModelReadyResponse, error) {
	_, err := s.find(r.Name, r.Version)
	return &pb.ModelReadyResponse{Ready: err == nil}, err
}

func (s service) ServerMetadata(context.Context, *pb.ServerMetadataRequest) (
	*pb.ServerMetadataResponse, error) {
	return &pb.ServerMetadataResponse{Name: "bnctl", Version: recipe.Release, Extensions: extensions}, nil
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
	return &pb.ModelMetadataResponse_TensorMetadata{Name: s.Name, Datatype: s.Datatype, Shape: toInt64s(s.Shape)}
}

func (s service) ModelInfer(ctx context.Context, message *pb.ModelInferRequest) (*pb.ModelInferResponse,
	error) {
	done, err := s.beginInference()
	if err != nil {
		return nil, err
	}
	defer done()
	rec := recordOf(ctx)
	if err := s.admit(rec, message.ModelName, message.ModelVersion); err != nil {
		rec.bodyUnused = true
		return nil, err
	}
	a, err := s.infer(ctx, message.ModelName, message.ModelVersion,
		func(*modelVersion) (*protocol.Request, error) { return requestOf(message) })
	if err != nil {
		return nil, err
	}
	rec.bodyUnused = true
	began := time.Now()
	out := answerOf(a)
	rec.encoded = time.Since(began)
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
