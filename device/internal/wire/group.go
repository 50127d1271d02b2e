package wire

import (
	"encoding/binary"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
)

// EncodeGroup writes a group without its Exchanger.
func EncodeGroup(g device.Group) *pb.Join {
	out := &pb.Join{Generation: g.Generation, Rank: int32(g.Rank), Level: g.Level, Rendezvous: g.Rendezvous,
		Leaves: int32(g.Tree)}
	for _, r := range g.Replicas {
		out.Members = append(out.Members, &pb.Replicas{Replicas: Numbers[int32](r)})
	}
	if g.Level == device.OnMachine { // the ranks of Machine, followed by bytes that identify the run
		ranks := binary.AppendUvarint(nil, uint64(len(g.Machine)))
		for _, r := range g.Machine {
			ranks = binary.AppendUvarint(ranks, uint64(r))
		}
		out.Rendezvous = append(ranks, g.Rendezvous...)
	}
	return out
}

// DecodeGroup reads a group without its Exchanger.
func DecodeGroup(in *pb.Join) device.Group {
	g := device.Group{
		Generation: in.GetGeneration(), Rank: int(in.GetRank()),
		Level: in.GetLevel(), Rendezvous: in.GetRendezvous(), Tree: int(in.GetLeaves()),
	}
	for _, r := range in.GetMembers() {
		g.Replicas = append(g.Replicas, Numbers[int](r.GetReplicas()))
	}
	if g.Level == device.OnMachine {
		g.Machine, g.Rendezvous = decodeMachine(g.Rendezvous, len(g.Replicas))
	}
	return g
}

// decodeMachine reads the ranks of a machine, at most members of them. If the bytes have another form, it
// returns no ranks.
func decodeMachine(b []byte, members int) (ranks []int, rest []byte) {
	count, n := binary.Uvarint(b)
	if n <= 0 || count > uint64(members) {
		return nil, nil
	}
	b = b[n:]
	for range count {
		rank, n := binary.Uvarint(b)
		if n <= 0 || rank >= uint64(members) {
			return nil, nil
		}
		ranks, b = append(ranks, int(rank)), b[n:]
	}
	return ranks, b
}

// EncodeCapacity writes a capacity.
func EncodeCapacity(c device.Capacity) *pb.Capacity {
	return &pb.Capacity{Rows: int64(c.Rows), Replicas: int64(c.Replicas), Slots: int64(c.Slots),
		Leaves: int64(c.Leaves)}
}

// DecodeCapacity reads a capacity.
func DecodeCapacity(in *pb.Capacity) device.Capacity {
	return device.Capacity{Rows: int(in.GetRows()), Replicas: int(in.GetReplicas()), Slots: int(in.GetSlots()),
		Leaves: int(in.GetLeaves())}
}
