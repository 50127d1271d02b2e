package remote

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

var _ device.Costed = (*executable)(nil)

// StepTraffic implements device.Costed. It counts the bytes of the messages of a step, which it builds
// without the elements of tensors.
func (x *executable) StepTraffic(rows []int) device.Traffic {
	f := x.program.Function(graph.Train)
	if f == nil {
		return device.Traffic{}
	}
	t := x.runTraffic(f, rows)
	t.Add(x.commitTraffic())
	x.session.mu.Lock()
	g := x.session.group
	x.session.mu.Unlock()
	t.Waits = 2 // one for the outcome, and one for the commit
	if nodes := nodesWithRows(g, rows); len(nodes) > 0 {
		in, out, waits := x.limits[graph.Train].schedule.Traffic(nodes)
		t.In, t.Out, t.Waits = t.In+in, t.Out+out, t.Waits+waits
	}
	return t
}

// nodesWithRows returns the tree nodes that a member sends in an exchange.
func nodesWithRows(g device.Group, rows []int) (nodes []collective.Node) {
	if g.Exchange == nil || g.Alone() {
		return nil
	}
	if len(g.Machine) > 0 {
		return collective.Cover(g.Leaves(), g.Exchanged())
	}
	replicas := g.Replicas[g.Rank]
	return slices.DeleteFunc(collective.Cover(g.Leaves(), replicas), func(n collective.Node) bool {
		for i, r := range replicas {
			if n.From <= r && r < n.To && i < len(rows) && rows[i] > 0 {
				return false
			}
		}
		return true
	})
}

// runTraffic returns the traffic of a call of Run without its exchanges.
func (x *executable) runTraffic(f *graph.Function, rows []int) device.Traffic {
	all := 0
	for _, n := range rows {
		all += n
	}
	var inputs []tensor.Tensor
	for _, v := range x.program.Given(f) {
		t := f.Values[v].Type
		inputs = append(inputs, tensor.Tensor{DType: t.DType, Shape: t.Sized(all, len(rows))})
	}
	outputs, err := x.outputs(device.Step{Function: f.Name, Rows: rows})
	if err != nil {
		return device.Traffic{}
	}
	run := &pb.Run{Executable: x.number, Function: f.Name, Step: 1 << 7, Rows: wire.Numbers[int64](rows)}
	outcome := &pb.Outcome{Took: 1 << 30, Blocked: 1 << 28}
	return device.Traffic{
		Out: wire.StreamBytes(&pb.Message{Call: 1 << 14, Body: &pb.Message_Run{Run: run}}, inputs),
		In:  wire.StreamBytes(&pb.Message{Call: 1 << 14, Body: &pb.Message_Outcome{Outcome: outcome}}, outputs),
	}
}

// commitTraffic returns the traffic of a call of Commit.
func (x *executable) commitTraffic() device.Traffic {
	commit := &pb.Commit{Executable: x.number, Version: 1 << 7}
	if f := x.program.Function(graph.Commit); f != nil {
		for _, v := range x.program.Given(f) {
			commit.Hyper = append(commit.Hyper, &pb.Hyper{Name: f.Values[v].Name, Value: 1})
		}
	}
	return device.Traffic{
		Out: wire.StreamBytes(&pb.Message{Call: 1 << 14, Body: &pb.Message_Commit{Commit: commit}}, nil),
		In:  wire.StreamBytes(&pb.Message{Call: 1 << 14, Body: &pb.Message_Done{Done: &pb.Done{}}}, nil),
	}
}
