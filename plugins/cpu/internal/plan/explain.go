package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// Explain returns how a compiled function is cut, a line for every chain and for
// every action that does its work at once: groups are numbered, for all workers
// meet behind each.
func Explain(fn *run.Function, s schedule.Schedule) (lines []string) {
	for i, g := range fn.Groups {
		if !g.ByRows() {
			lines = append(lines, fmt.Sprintf("%3d  %s: all rows at once%s", i+1, names(fn, g.Nodes),
				reason(g.Alone)))
			continue
		}
		for _, c := range g.Chains {
			a := g.Actions[c.First:c.Last]
			lines = append(lines, fmt.Sprintf("%3d  %s: row by row%s", i+1, names(fn, g.Nodes[c.First:c.Last]),
				together(c, a, s)))
		}
	}
	return lines
}

// names returns the names of nodes, each once, as a profile has them: of several
// that were made one, the first.
func names(fn *run.Function, nodes []int) string {
	var all []string
	for _, i := range slices.Compact(slices.Clone(nodes)) {
		name := fn.NodeName(&fn.Nodes[i])
		if out := fn.Nodes[i].Out; len(out) > 0 {
			name = fn.Values[fn.Given(out[0])].Name
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

// reason returns why an action does its work at once, if that was a choice.
func reason(r run.Runner) string {
	a, ok := r.(*run.AtOnce)
	if !ok || a.Weights == 0 {
		return ""
	}
	return fmt.Sprintf(", for its %d KiB of weights are too many to be read for every row", a.Weights>>10)
}

// together says what of a row passes through a chain at a time.
func together(c run.Chain, a []*run.ByRows, s schedule.Schedule) string {
	switch {
	case c.Course != nil:
		return fmt.Sprintf(", a course of %d steps", len(c.Course))
	case len(a) > 1:
		return fmt.Sprintf(", %d of %d positions at a time", min(run.SpanOf(a, s.Span), a[0].Positions),
			a[0].Positions)
	}
	return ""
}
