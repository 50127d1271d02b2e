package decode

import "github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"

// InOrder returns nodes in topological order. The standard requires this order, but not all programs
// write it. If the nodes are in order, or cannot be ordered, InOrder returns them unchanged.
func InOrder(nodes []*onnxpb.NodeProto) []*onnxpb.NodeProto {
	makes := map[string]int{}
	for i, n := range nodes {
		for _, name := range n.Output {
			if _, twice := makes[name]; name != "" && !twice {
				makes[name] = i
			}
		}
	}
	waits, readers, inOrder := make([]int, len(nodes)), make([][]int, len(nodes)), true
	for i, n := range nodes {
		EachInput(n, func(name string) {
			if k, ok := makes[name]; ok && k != i {
				waits[i]++
				readers[k] = append(readers[k], i)
				inOrder = inOrder && k < i
			}
		})
	}
	if inOrder {
		return nodes
	}
	var next []int
	for i := range nodes {
		if waits[i] == 0 {
			next = append(next, i)
		}
	}
	sorted := make([]*onnxpb.NodeProto, 0, len(nodes))
	for ; len(next) > 0; next = next[1:] {
		sorted = append(sorted, nodes[next[0]])
		for _, k := range readers[next[0]] {
			if waits[k]--; waits[k] == 0 {
				next = append(next, k)
			}
		}
	}
	if len(sorted) < len(nodes) {
		return nodes
	}
	return sorted
}

// EachInput calls f for all names that a node reads, including those in its branches.
func EachInput(n *onnxpb.NodeProto, f func(name string)) {
	for _, name := range n.Input {
		f(name)
	}
	for _, a := range n.Attribute {
		for _, inner := range a.GetG().GetNode() {
			EachInput(inner, f)
		}
		for _, o := range a.GetG().GetOutput() {
			f(o.Name)
		}
	}
}

// Makes collects the names of the values that a body and its branches compute.
func Makes(g *onnxpb.GraphProto, names map[string]bool) {
	for _, t := range g.Initializer {
		names[t.Name] = true
	}
	for _, in := range g.Input {
		names[in.Name] = true
	}
	for _, n := range g.Node {
		for _, out := range n.Output {
			names[out] = true
		}
		for _, a := range n.Attribute {
			if a.G != nil {
				Makes(a.G, names)
			}
		}
	}
}

// Operator returns a node's operator. The name begins with the domain, except in the standard domain.
func Operator(n *onnxpb.NodeProto) string {
	if n.Domain != "" && n.Domain != "ai.onnx" {
		return n.Domain + "." + n.OpType
	}
	return n.OpType
}

// First returns the first element of l, or the second argument if l is empty.
func First[T any](l []T, otherwise T) T {
	if len(l) > 0 {
		return l[0]
	}
	return otherwise
}
