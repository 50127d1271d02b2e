package server

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/tensor"
)

// dial connects to a server. The connection is closed when the test ends.
func dial(t testing.TB, s *Server) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(s.GRPC(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// inMessage returns a request for rows, as raw bytes or in the message field for their type.
func inMessage(x tensor.Tensor, raw bool) *pb.ModelInferRequest {
	in := &pb.ModelInferRequest_InferInputTensor{Name: "x", Datatype: "UINT8", Shape: toInt64s(x.Shape)}
	r := &pb.ModelInferRequest{ModelName: "m", Id: "q", Inputs: []*pb.ModelInferRequest_InferInputTensor{in}}
	if raw {
		r.RawInputContents = [][]byte{x.Bytes}
		return r
	}
	in.Contents = &pb.InferTensorContents{}
	for _, b := range x.Bytes {
		in.Contents.UintContents = append(in.Contents.UintContents, uint32(b))
	}
	return r
}

// TestAnswersOverGRPC checks that answers over gRPC have the same bits as package predict.
func TestAnswersOverGRPC(t *testing.T) {
	m := newModel(t, 1)
	p, s := predictor(t, m, "ref"), start(t, on("ref", write(t, m, "m.bnm")))
	client := pb.NewGRPCInferenceServiceClient(dial(t, s))
	var all sync.WaitGroup
	for seed := range uint64(12) {
		draw := rand.New(rand.NewPCG(seed, 7))
		x := pictures(draw, 1+draw.IntN(5))
		want := predicted(t, p, x)
		all.Go(func() {
			a, err := client.ModelInfer(t.Context(), inMessage(x, seed%2 == 0))
			if err != nil {
				t.Error(err)
				return
			}
			if !bytes.Equal(a.RawOutputContents[0], want) || a.Id != "q" || a.ModelVersion != "1" ||
				len(a.Parameters["sha256"].GetStringParam()) != 64 || a.Outputs[0].Shape[0] != int64(x.Shape[0]) {
				t.Errorf("%d rows: other bits, or another head: %v", x.Shape[0], a.Outputs)
			}
		})
	}
	all.Wait()
}

func TestMetadataOverGRPC(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	c := dial(t, s)
	for method, want := range map[string]string{
		"ServerLive":      `{"live":true}`,
		"ServerReady":     `{"ready":true}`,
		"ServerMetadata":  `"binary_tensor_data"`,
		"ModelReady":      `{"ready":true}`,
		"ModelMetadata":   `"inputs":[{"name":"x","datatype":"UINT8","shape":[-1,28,28,1]}]`,
		"ModelConfig":     `"input":[{"name":"x","data_type":2,"dims":[28,28,1]}],"output":[{"name":"logits","data_type":11`,
		"RepositoryIndex": `{"models":[{"name":"m","version":"1","state":"READY"}]}`,
	} {
		if got := invoke(t, c, method, `m`); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", method, got, want)
		}
	}
	health, err := healthpb.NewHealthClient(c).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || health.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", health, err)
	}
	stream, err := reflectionpb.NewServerReflectionClient(c).ServerReflectionInfo(t.Context())
	if err == nil {
		err = stream.Send(&reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, err := stream.Recv(); err != nil || !strings.Contains(r.String(), "inference.GRPCInferenceService") {
		t.Errorf("reflection: %v, %v", r, err)
	}
}

// invoke calls a method with a request that has only the name of a model, and returns the answer as JSON.
func invoke(t *testing.T, c *grpc.ClientConn, method, name string) string {
	t.Helper()
	out := map[string]any{
		"ServerLive": &pb.ServerLiveResponse{}, "ServerReady": &pb.ServerReadyResponse{},
		"ServerMetadata": &pb.ServerMetadataResponse{}, "ModelReady": &pb.ModelReadyResponse{},
		"ModelMetadata": &pb.ModelMetadataResponse{}, "ModelConfig": &pb.ModelConfigResponse{},
		"RepositoryIndex": &pb.RepositoryIndexResponse{}}[method]
	// In every request with the name of a model, this name is field 1. So this message fits all methods.
	var in any = &pb.ModelMetadataRequest{Name: name}
	if method == "RepositoryIndex" {
		in = &pb.RepositoryIndexRequest{}
	}
	if err := c.Invoke(t.Context(), "/inference.GRPCInferenceService/"+method, in, out); err != nil {
		return err.Error()
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRefusedOverGRPC(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Request = 20_000
	s := start(t, o)
	client := pb.NewGRPCInferenceServiceClient(dial(t, s))
	x := pictures(rand.New(rand.NewPCG(1, 1)), 2)
	for _, c := range []struct {
		code   codes.Code
		change func(r *pb.ModelInferRequest)
	}{
		{codes.NotFound, func(r *pb.ModelInferRequest) { r.ModelName = "n" }},
		{codes.NotFound, func(r *pb.ModelInferRequest) { r.ModelVersion = "2" }},
		{codes.InvalidArgument, func(r *pb.ModelInferRequest) { r.Inputs = nil }},
		{codes.InvalidArgument, func(r *pb.ModelInferRequest) { r.Inputs[0].Datatype = "FP32" }},
		{codes.InvalidArgument, func(r *pb.ModelInferRequest) { r.Inputs[0].Shape[0] = -1 }},
		{codes.InvalidArgument, func(r *pb.ModelInferRequest) { r.RawInputContents[0] = x.Bytes[1:] }},
		{codes.InvalidArgument, func(r *pb.ModelInferRequest) { r.RawInputContents = nil }},
		{codes.InvalidArgument, func(r *pb.ModelInferRequest) { r.Inputs[0].Contents = &pb.InferTensorContents{} }},
		{codes.InvalidArgument, func(r *pb.ModelInferRequest) {
			r.RawInputContents = nil
			r.Inputs[0].Contents = &pb.InferTensorContents{UintContents: []uint32{256}}
		}},
		{codes.InvalidArgument, func(r *pb.ModelInferRequest) {
			r.Outputs = []*pb.ModelInferRequest_InferRequestedOutputTensor{{Name: "p"}}
		}},
		{codes.Unimplemented, func(r *pb.ModelInferRequest) {
			r.Inputs[0].Parameters = map[string]*pb.InferParameter{"shared_memory_region": {}}
		}},
		{codes.ResourceExhausted, func(r *pb.ModelInferRequest) { r.Id = strings.Repeat("x", 20_001) }},
	} {
		r := inMessage(x, true)
		c.change(r)
		if _, err := client.ModelInfer(t.Context(), r); status.Code(err) != c.code {
			t.Errorf("%v, want %v", err, c.code)
		}
	}
	if _, err := client.RepositoryModelLoad(t.Context(), &pb.RepositoryModelLoadRequest{}); status.Code(err) !=
		codes.Unimplemented {
		t.Errorf("load: %v", err)
	}
	if _, err := client.ModelInfer(t.Context(), inMessage(x, true)); err != nil {
		t.Errorf("a good request after them: %v", err)
	}
}

// TestDraining checks that accepted requests are answered after the server has begun to
// shut down, and that new requests are refused as unavailable.
func TestDraining(t *testing.T) {
	m := newModel(t, 1)
	o := on("ref", write(t, m, "m.bnm"))
	o.Delay = 300 * time.Millisecond
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	client := pb.NewGRPCInferenceServiceClient(dial(t, s))
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	answered := make(chan error)
	go func() {
		_, err := client.ModelInfer(t.Context(), inMessage(x, true))
		answered <- err
	}()
	for s.active.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	stop()
	for !s.draining.Load() {
		time.Sleep(time.Millisecond)
	}
	if _, err := client.ModelInfer(t.Context(), inMessage(x, true)); status.Code(err) != codes.Unavailable {
		t.Errorf("a request meanwhile: %v", err)
	}
	if r := ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(x)); r.status != 503 ||
		r.header.Get("Retry-After") == "" {
		t.Errorf("a request meanwhile: %d %s", r.status, r.body)
	}
	if r := ask(t, s, "GET", "/v2/health/ready", nil); r.status != 503 {
		t.Errorf("ready: %d", r.status)
	}
	if err := <-answered; err != nil {
		t.Errorf("what was accepted: %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
