package main

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// overGRPC asks with a message that is written once.
type overGRPC struct {
	*grpc.ClientConn
	ctx     context.Context
	request []byte
}

// newGRPC returns what asks for a row of n.
func newGRPC(ctx context.Context, s *server, n network) (*overGRPC, error) {
	c, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	return &overGRPC{c, ctx, n.message()}, nil
}

// message is the ModelInferRequest of proto/inference.
func (n network) message() []byte {
	text := func(b []byte, field protowire.Number, v string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	var shape []byte
	for _, size := range append([]int{1}, n.shape...) {
		shape = protowire.AppendVarint(shape, uint64(size))
	}
	in := text(text(text(nil, 1, "x"), 2, "UINT8"), 3, string(shape))
	return text(text(text(nil, 1, n.name), 5, string(in)), 7, string(n.pixels()))
}

func (g *overGRPC) ask() ([]byte, error) {
	var answer []byte
	err := g.Invoke(g.ctx, "/inference.GRPCInferenceService/ModelInfer", g.request, &answer,
		grpc.ForceCodecV2(unparsed{}))
	if status.Code(err) == codes.ResourceExhausted {
		return nil, busy
	}
	if err != nil {
		return nil, err
	}
	return outputs(answer)
}

func (g *overGRPC) close() { _ = g.Close() } // at the end nobody waits for it

// outputs returns the raw_output_contents of a ModelInferResponse.
func outputs(message []byte) (raw []byte, err error) {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeField(message)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		if field == 6 && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(message)
			value, _ := protowire.ConsumeBytes(message[tag:])
			raw = append(raw, value...)
		}
		message = message[n:]
	}
	if raw == nil {
		return nil, errors.New("the answer has no outputs")
	}
	return raw, nil
}

// unparsed leaves messages as they are.
type unparsed struct{}

// Marshal implements encoding.CodecV2, as the methods below do.
func (unparsed) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (unparsed) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (unparsed) Name() string { return "proto" }
