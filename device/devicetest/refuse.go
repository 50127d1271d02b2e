package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// refused checks that a device that lacks operations refuses the program of a
// case, naming every node of those operations.
func (c Case) refused(ctx context.Context, open Opener, lacks []graph.Op) error {
	p, err := c.program()
	if err != nil {
		return err
	}
	d, err := open.device(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	x, err := d.Load(ctx, p, capacity)
	if err == nil {
		x.Close()
		return fmt.Errorf("a program with %v, which Info does not list, was loaded", lacks)
	}
	if err := wantKind(err, device.Unsupported); err != nil {
		return err
	}
	var r *device.Refused
	if !errors.As(err, &r) {
		return fmt.Errorf("error %q is not a *device.Refused", err)
	}
	return namesAll(r, p, lacks)
}

// excuse removes the error of a result if the device refused nodes of operations that it has.
// Load permits this for any program except one that could be mlp-bn or lenet-bn. The refusal
// must name existing nodes.
func (r *Result) excuse() {
	var refused *device.Refused
	class := strings.HasPrefix(r.Case.Name, "class: ") // a device that claims a class must run all its nodes
	if len(r.Lacks) > 0 || class || r.Case.program == nil || !errors.As(r.Err, &refused) ||
		!errors.Is(r.Err, device.Unsupported) {
		return
	}
	p, err := r.Case.program()
	if err != nil || p.Name == small("batch").name || p.Name == small("replica").name {
		return
	}
	for _, x := range refused.Nodes {
		if !hasNode(p, x) {
			return
		}
		r.Refused = append(r.Refused, x.Op)
	}
	slices.Sort(r.Refused)
	r.Refused, r.Err = slices.Compact(r.Refused), nil
}

// hasNode reports whether a program has the node of a refusal.
func hasNode(p *graph.Program, x device.Refusal) bool {
	f := p.Function(x.Function)
	return f != nil && slices.ContainsFunc(f.Nodes, func(n graph.Node) bool {
		return f.NodeName(&n) == x.Node && n.Op == x.Op
	})
}

// namesAll checks that r lists the nodes of p that have an operation in lacks.
func namesAll(r *device.Refused, p *graph.Program, lacks []graph.Op) error {
	for _, f := range p.Functions {
		for i := range f.Nodes {
			n := &f.Nodes[i]
			named := slices.ContainsFunc(r.Nodes, func(x device.Refusal) bool {
				return x.Function == f.Name && x.Node == f.NodeName(n) && x.Op == n.Op
			})
			if slices.Contains(lacks, n.Op) && !named {
				return fmt.Errorf("the refusal %q does not list %s (%v) in %s", r, f.NodeName(n), n.Op, f.Name)
			}
		}
	}
	return nil
}

// wantKind checks that err is of a kind and names the device. It returns the error of a lost
// device unchanged, because that is not the device's answer to the call.
func wantKind(err error, k device.Kind) error {
	var e *device.Error
	switch {
	case k != device.Lost && errors.Is(err, device.Lost):
		return err
	case err == nil:
		return fmt.Errorf("no error, want one of kind %q", k)
	case !errors.Is(err, k):
		return fmt.Errorf("error %q is of kind %q, want %q", err, device.KindOf(err), k)
	case !errors.As(err, &e):
		return fmt.Errorf("error %q is not a *device.Error", err)
	case e.Device == "":
		return fmt.Errorf("error %q does not name the device", err)
	}
	return nil
}
