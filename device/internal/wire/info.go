package wire

import (
	"math"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/graph"
)

// EncodeInfo writes the description of a device.
func EncodeInfo(i device.Info) *pb.DeviceInfo {
	out := &pb.DeviceInfo{
		Id: i.ID, Name: i.Name, Description: i.Description, MemoryTotal: i.MemoryTotal, MemoryFree: i.MemoryFree,
		Kernels: i.Kernels, Threads: int32(i.Threads), Features: i.Features, Levels: i.Levels,
		Precisions: i.Precisions, Classes: i.Classes,
	}
	for _, op := range i.Ops {
		out.Ops = append(out.Ops, pb.Op(op))
	}
	return out
}

// DecodeInfo decodes the description of a device. Operations that this version does not
// know are left out.
func DecodeInfo(in *pb.DeviceInfo) device.Info {
	i := device.Info{
		ID: in.GetId(), Name: in.GetName(), Description: in.GetDescription(),
		MemoryTotal: in.GetMemoryTotal(), MemoryFree: in.GetMemoryFree(),
		Kernels: in.GetKernels(), Threads: int(in.GetThreads()), Features: in.GetFeatures(), Levels: in.GetLevels(),
		Precisions: in.GetPrecisions(), Classes: in.GetClasses(),
	}
	for _, op := range in.GetOps() {
		if op > 0 && op <= math.MaxUint16 && graph.Op(op).Valid() {
			i.Ops = append(i.Ops, graph.Op(op))
		}
	}
	return i
}
