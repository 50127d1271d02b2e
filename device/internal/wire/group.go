package wire

import (
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
	return g
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
