package ref

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// refuse lists the nodes that the device cannot run.
func (b backend) refuse(p *graph.Program) device.Refused {
	var r device.Refused
	for _, f := range p.Functions {
		for i := range f.Nodes {
			n := &f.Nodes[i]
			if why := b.lacks(f, n); why != "" {
				r.Nodes = append(r.Nodes, device.Refusal{Function: f.Name, Node: f.NodeName(n), Op: n.Op, Why: why})
			}
		}
	}
	return r
}

// lacks returns why the device cannot run n, or "" if it can.
func (b backend) lacks(f *graph.Function, n *graph.Node) string {
	if !slices.Contains(b.ops, n.Op) {
		return "this device does not have the operation"
	}
	for _, v := range slices.Concat(n.In, n.Out) {
		if v != graph.None && !computes(f.Values[v].Type.DType) {
			return "this device does not compute with " + f.Values[v].Type.DType.String()
		}
	}
	return ""
}

func computes(d tensor.DType) bool {
	return float(d) || d == tensor.I32 || d == tensor.I64 || d == tensor.U8 || d == tensor.I8
}
