package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// Explain describes how the function is divided. There is a line for every chain and for
// every AtOnce action. Groups are numbered because all workers meet after each.
func (fn *Function) Explain(s schedule.Schedule) (lines []string) {
	for i, g := range fn.groups {
		if !g.byRows() {
			lines = append(lines, fmt.Sprintf("%3d  %s: all rows at once%s", i+1, fn.names(g.nodes),
				reason(g.whole)))
			continue
		}
		for _, c := range g.chains {
			a := g.actions[c.first:c.last]
			lines = append(lines, fmt.Sprintf("%3d  %s: row by row%s", i+1, fn.names(g.nodes[c.first:c.last]),
				together(c, a, s)))
		}
	}
	return lines
}

// names returns the names of nodes, each once, as a profile has them. If several nodes were fused, it
// returns the name of the first.
func (fn *Function) names(nodes []int) string {
	var all []string
	for _, i := range slices.Compact(slices.Clone(nodes)) {
		name := fn.graph.NodeName(&fn.graph.Nodes[i])
		if out := fn.graph.Nodes[i].Out; len(out) > 0 {
			name = fn.graph.Values[fn.Given(out[0])].Name
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

// reason returns why an action is not by rows, if it could have been by rows.
func reason(r runner) string {
	a, ok := r.(*AtOnce)
	if !ok || a.Weights == 0 {
		return ""
	}
	return fmt.Sprintf(", for its %d KiB of weights are too many to be read for every row", a.Weights>>10)
}

// together describes how much of a row passes through a chain at a time.
func together(c chain, a []*ByRows, s schedule.Schedule) string {
	switch {
	case c.tiling != nil:
		return fmt.Sprintf(", tiled in %d steps", len(c.tiling))
	case len(a) > 1:
		return fmt.Sprintf(", %d of %d positions at a time", min(spanOf(a, s.Span), a[0].Positions),
			a[0].Positions)
	}
	return ""
}
