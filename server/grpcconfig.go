package server

import (
	"context"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
)

// ModelConfig implements pb.GRPCInferenceServiceServer.
func (s service) ModelConfig(_ context.Context, r *pb.ModelConfigRequest) (*pb.ModelConfigResponse, error) {
	m, err := s.find(r.Name, r.Version)
	if err != nil {
		return nil, err
	}
	c := s.config(m)
	out := &pb.ModelConfig{Name: c.Name, Platform: c.Platform, Backend: c.Backend,
		MaxBatchSize:    int32(c.MaxBatch),
		DynamicBatching: &pb.ModelDynamicBatching{MaxQueueDelayMicroseconds: uint64(c.Batching.Delay)}}
	for _, t := range c.Input {
		out.Input = append(out.Input, &pb.ModelInput{Name: t.Name, DataType: t.number(), Dims: toInt64s(t.Dims)})
	}
	for _, t := range c.Output {
		out.Output = append(out.Output, &pb.ModelOutput{Name: t.Name, DataType: t.number(), Dims: toInt64s(t.Dims)})
	}
	return &pb.ModelConfigResponse{Config: out}, nil
}

func (t configTensor) number() pb.DataType { return pb.DataType(pb.DataType_value[t.DataType]) }
