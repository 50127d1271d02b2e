package main

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// overGRPC sends requests by gRPC. As in overHTTP, the bytes of the frames are made only once. The client of
// grpc-go would use as much time of the core as the server with which it shares the core.
type overGRPC struct {
	dial
	address string
	calls   [2]written // frames of the first call of a connection, and of its later calls
	message int        // bytes of a call that flow control counts
	idle    connections[*stream]
}

func newGRPC(s *server, d dial, n network) *overGRPC {
	g := &overGRPC{dial: d, address: s.grpc}
	g.write(n.message())
	return g
}

func (g *overGRPC) ask() ([]byte, error) {
	c, err := g.idle.get(g.connect)
	if err != nil {
		return nil, err
	}
	out, err := c.call(g.message)
	if err != nil && err != busy {
		c.Close()
		return nil, err
	}
	g.idle.put(c)
	if err != nil {
		return nil, err
	}
	return outputs(out)
}

func (g *overGRPC) connect() (*stream, error) {
	c, err := g.dial(g.address)
	if err != nil {
		return nil, err
	}
	s := newStream(c, g.calls)
	if err := s.greet(); err != nil {
		c.Close()
		return nil, err
	}
	return s, nil
}

func (g *overGRPC) close() { g.idle.close() }

// message returns the ModelInferRequest of server/proto for a row of the network.
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
		return nil, fmt.Errorf("the answer has no outputs")
	}
	return raw, nil
}
