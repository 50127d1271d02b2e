package graph

import (
	"fmt"
	"slices"
)

// Decompose returns p with every node of an operation in ops replaced by
// simpler nodes, as far as that operation has a decomposition (Decomposes).
// The result is the same function up to rounding, not the same bits: the host
// applies it once, to the program that all devices load. The error names the
// first node that cannot be decomposed.
func Decompose(p *Program, ops []Op) (*Program, error) {
	out := &Program{Name: p.Name, State: slices.Clone(p.State)}
	for _, f := range p.Functions {
		g, err := f.rewrite(&out.State, func(r *rewriter) {
			switch rule := r.node.Op.row().decompose; {
			case !slices.Contains(ops, r.node.Op):
				r.Copy(r.node)
			case rule == nil:
				r.Builder.Fail(fmt.Errorf("function %s: node %s: %v has no decomposition",
					f.Name, f.NodeName(r.node), r.node.Op))
			default:
				rule(r)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("program %s: %w", p.Name, err)
		}
		out.Functions = append(out.Functions, g)
	}
	return out, nil
}

// Decomposes reports whether o can be replaced by simpler operations.
func (o Op) Decomposes() bool { return o.row().decompose != nil }

// decomposition adds nodes that compute r.node, and calls r.last or r.done with the
// results.
type decomposition func(r *rewriter)
