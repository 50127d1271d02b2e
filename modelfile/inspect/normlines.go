package inspect

import (
	"fmt"

	"github.com/bnctl/bnctl/problem"
)

// NormLines returns a table of the batch norms, for people.
func (r *Report) NormLines() []string {
	width := len("batch norm")
	for _, n := range r.BN {
		width = max(width, len(n.Name))
	}
	lines := []string{fmt.Sprintf("%-*s  %8s  %7s  %7s  %11s  %23s", width,
		"batch norm", "channels", "eps", "decay", "|mean| max", "variance")}
	for _, n := range r.BN {
		bad := ""
		if n.NonFinite > 0 {
			bad = fmt.Sprintf("  %s not finite", problem.Plural(n.NonFinite, "value"))
		}
		lines = append(lines, fmt.Sprintf("%-*s  %8d  %7s  %7s  %11.4g  %10.4g to %9.4g%s", width, n.Name,
			n.Channels, number("%.0e", n.Eps), number("%.4g", n.Decay), n.MeanAbsMax, n.VarianceMin, n.VarianceMax,
			bad))
	}
	return lines
}

// number formats a number of a batch norm, which may be missing in the file.
func number(format string, v *float64) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprintf(format, *v)
}
