package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// A message of a stream needs these bytes in addition to its content, over TLS:
//
//	TLS record (at most 16 KiB)   header 5, type 1, tag 16
//	HTTP/2 frame (at most 16 KiB) header 9
//	gRPC message                  header 5
const (
	frameBytes    = 16 << 10
	frameOverhead = 22 + 9
	messageHeader = 5
)

// StreamBytes returns the number of bytes of a message with tensors on an encrypted connection of level
// stream/1. heads need no elements.
func StreamBytes(m *pb.Message, heads []tensor.Tensor) (total int64) {
	attach(m, heads)
	body := int64(proto.Size(m))
	for left := Bytes(heads); ; {
		n := min(left, ChunkBytes)
		size := messageHeader + body
		if n > 0 {
			size += 1 + int64(protowire.SizeVarint(uint64(n))) + n // the field's tag and length
		}
		total += size + (size+frameBytes-1)/frameBytes*frameOverhead
		if left -= n; left == 0 {
			return total
		}
		body = int64(proto.Size(&pb.Message{Call: m.Call}))
	}
}

// Traffic returns the bytes that the host receives from a device (in) and sends to it (out) in the exchanges
// of a run. nodes are the nodes of the tree that the device has. waits is the number of exchanges that the
// run waits for, one after the other.
func (s *Schedule) Traffic(nodes []collective.Node) (in, out int64, waits int) {
	for lane, all := range s.lanes {
		for i, x := range all {
			tag := collective.Tag{Generation: 1, Step: 1 << 7, Lane: collective.Lane(lane), Sequence: uint64(i),
				Name: x.name}
			var values []collective.Reduction
			for _, v := range x.values {
				r := collective.Reduction{Op: v.op, Result: v.kind}
				for _, n := range nodes {
					r.Partials = append(r.Partials, collective.Partial{Node: n, Value: v.kind})
				}
				values = append(values, r)
			}
			body, partials := EncodeExchange(tag, values)
			in += StreamBytes(&pb.Message{Call: 1 << 14, Body: &pb.Message_Exchange{Exchange: body}}, partials)
			out += StreamBytes(&pb.Message{Call: 1 << 14, Body: &pb.Message_Reduced{Reduced: &pb.Reduced{
				Lane: pb.Lane(lane), Sequence: tag.Sequence}}}, Results(values))
		}
	}
	return in, out, len(s.lanes[collective.Moments]) + min(1, len(s.lanes[collective.Gradients]))
}
