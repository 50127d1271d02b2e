package train

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// ranksLine returns a line of text with the figures of each rank; "" if there
// is one rank.
func ranksLine(ranks []RankShare) string {
	var lines []string
	for i, r := range ranks {
		lines = append(lines, fmt.Sprintf("%d: %s, %.0f img/s, input %.0f %%, sync %.0f %%, %.1f MB sent", i,
			problem.Plural(int(r.Rows), "row"), r.Throughput, 100*r.InputWait, 100*r.SyncWait, float64(r.Bytes)/1e6))
	}
	if len(lines) == 0 {
		return ""
	}
	return "ranks " + strings.Join(lines, " · ")
}

// add adds the work of ranks in a step.
func (m *meter) add(ranks []parallel.RankStats) {
	if m.ranks == nil {
		m.ranks = make([]parallel.RankStats, len(ranks))
	}
	for i, r := range ranks {
		of := &m.ranks[i]
		of.Rows, of.Bytes = of.Rows+r.Rows, of.Bytes+r.Bytes
		of.Waited, of.Took, of.Blocked = of.Waited+r.Waited, of.Took+r.Took, of.Blocked+r.Blocked
	}
}

// rankShares returns the shares of ranks.
func (m *meter) rankShares() []RankShare {
	var out []RankShare
	for _, r := range m.ranks {
		out = append(out, RankShare{Rows: r.Rows,
			Throughput: float64(r.Rows) / m.elapsed().Seconds(),
			Compute:    m.fraction(r.Took - r.Blocked), InputWait: m.fraction(r.Waited),
			SyncWait: m.fraction(r.Blocked), Bytes: r.Bytes})
	}
	return out
}
