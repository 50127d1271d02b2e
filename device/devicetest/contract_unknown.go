package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// unknownCases returns cases with programs of a later release, which may have unknown parts.
func unknownCases() []Case {
	return []Case{
		newCase("load: operations that nobody knows", "A plugin refuses operations that it does not know, naming "+
			"the node. Compare every node's operation with those that you list.",
			small("batch").program, unknownOperation),
		{Name: "load: attributes that nobody knows", Rule: "An attribute that you do not know: refuse the node, " +
			"whatever its operation and the attribute's value. Keep for each operation the list of " +
			"attributes that you read, and compare.", Run: unknownAttributes},
	}
}

// Names that are unknown to every release.
const (
	inventedOp   graph.Op = 60000
	inventedAttr          = "invented-by-the-judge"
)

func unknownOperation(ctx context.Context, open Opener) error {
	d, err := open.device(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	p, err := small("batch").program()
	if err != nil {
		return err
	}
	f := p.Functions[0]
	n := &f.Nodes[slices.IndexFunc(f.Nodes, func(n graph.Node) bool { return n.Op == graph.Relu })]
	n.Op = inventedOp
	return refusesNode(ctx, d, p, f, n)
}

// unknownAttributes loads, for every operation that the device has, a node with an additional unknown
// attribute. The device must refuse the node.
func unknownAttributes(ctx context.Context, open Opener) error {
	d, err := open.device(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	var loaded []graph.Op
	for _, p := range allProbes() {
		if !slices.Contains(d.Info().Ops, p.op) || slices.Contains(loaded, p.op) {
			continue
		}
		loaded = append(loaded, p.op)
		program, err := p.program()
		if err != nil {
			return err
		}
		f := program.Functions[0]
		n := &f.Nodes[len(f.Nodes)-1]
		n.Attrs = n.Attrs.With(inventedAttr, 1)
		if err := refusesNode(ctx, d, program, f, n); err != nil {
			return err
		}
	}
	return nil
}

// refusesNode checks that the device refuses a program because of a node.
func refusesNode(ctx context.Context, d device.Device, p *graph.Program, f *graph.Function,
	n *graph.Node) error {
	what := fmt.Sprintf("%s: %v with attributes %v", f.NodeName(n), n.Op, n.Attrs)
	x, err := d.Load(ctx, p, capacity)
	if err == nil {
		x.Close()
		return fmt.Errorf("a program with the node %s was loaded", what)
	}
	if err := wantKind(err, device.Unsupported); err != nil {
		return fmt.Errorf("a program with the node %s: %w", what, err)
	}
	var r *device.Refused
	if !errors.As(err, &r) || !slices.ContainsFunc(r.Nodes, func(x device.Refusal) bool {
		return x.Function == f.Name && x.Node == f.NodeName(n) && x.Op == n.Op
	}) {
		return fmt.Errorf("error %q does not list the node %s", err, what)
	}
	return nil
}
