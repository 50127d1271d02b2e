package report

import (
	"fmt"
	"math"
	"strings"
)

// Origin is the line below a table: where, when and with which command it was measured.
func (m *Measurement) Origin() string {
	texts := []string{m.Processor, m.Measured}
	if m.Commit != "" {
		texts = append(texts, m.Commit)
	}
	if m.Command != "" {
		texts = append(texts, "`"+m.Command+"`")
	}
	line := strings.Join(texts, " · ")
	if m.Conditions != "" {
		line += " · " + m.Conditions
	}
	if m.Rounds > 0 {
		line += fmt.Sprintf(" · %d rounds of each side, in turn, of %g s", m.Rounds, m.Seconds)
	}
	if len(m.Peers) > 0 {
		line += " · beside " + strings.Join(m.Peers, ", ")
	}
	return line + "\n"
}

// Table is the table of rows, as Markdown.
func (m *Measurement) Table() string {
	var b strings.Builder
	line(&b, m.Columns)
	b.WriteString(strings.Repeat("|---", len(m.Columns)) + "|\n")
	for _, r := range m.Rows {
		line(&b, r)
	}
	return b.String()
}

func line(b *strings.Builder, cells []string) {
	for _, c := range cells {
		b.WriteString(strings.TrimRight("| "+c, " ") + " ")
	}
	b.WriteString("|\n")
}

// Compared is the table of a group of comparisons, as Markdown. The required ratio and the
// aim of the group are in the heading.
func (m *Measurement) Compared(group string) string {
	var b strings.Builder
	s, title := m.Summed(group), group
	if s.Rows > 0 {
		title = fmt.Sprintf("%s (must %g, aim %g)", group, s.Must, s.Aim)
	}
	line(&b, []string{title, "ours", "theirs", "is", "FMA"})
	b.WriteString("|---|---|---|---|---|\n")
	for _, c := range m.Group(group) {
		theirs, ratio := "", c.Note
		if len(c.Theirs) > 0 {
			theirs, ratio = c.Against+" "+c.Theirs.String(), rated(c.Ratio(), c.Must)
		}
		if len(c.Overdue) > 0 {
			theirs += "; too late for an answer: " + strings.Join(c.Overdue, ", ")
		}
		fma := ""
		if c.FMA[0] > 0 {
			fma = fmt.Sprintf("%.0f, %.0f", c.FMA[0], c.FMA[1])
		}
		line(&b, []string{c.Name + ", " + c.Unit, c.Bnctl.String(), theirs, ratio, fma})
	}
	if s.Rows > 2 {
		line(&b, []string{fmt.Sprintf("**geometric mean of %d** (least %.2f)", s.Rows, s.Least), "", "",
			fmt.Sprintf("**%.2f**", s.Mean), ""})
	}
	return b.String()
}

// rated is a ratio, in bold where it is below the required one.
func rated(ratio, must float64) string {
	text := fmt.Sprintf("%.2f", ratio)
	if ratio < must {
		return "**" + text + "**"
	}
	return text
}

// Sum is the summary of a group of comparisons.
type Sum struct {
	Rows        int     // that have a peer
	Mean, Least float64 // of the ratios; the mean is geometric
	Must, Aim   float64
}

// Summed returns the sum of a group.
func (m *Measurement) Summed(group string) Sum {
	s := Sum{Least: math.Inf(1)}
	for _, c := range m.Group(group) {
		if len(c.Theirs) == 0 {
			continue
		}
		s.Rows, s.Mean, s.Least = s.Rows+1, s.Mean+math.Log(c.Ratio()), min(s.Least, c.Ratio())
		s.Must, s.Aim = c.Must, c.Aim
	}
	s.Mean = math.Exp(s.Mean / float64(s.Rows))
	return s
}

// Summary is a table of the sums of some groups, as Markdown.
func (m *Measurement) Summary(groups ...string) string {
	var b strings.Builder
	line(&b, []string{"", "cases", "geometric mean", "least", "must", "aim"})
	b.WriteString("|---|---|---|---|---|---|\n")
	for _, g := range groups {
		s := m.Summed(g)
		line(&b, []string{g, fmt.Sprint(s.Rows), rated(s.Mean, s.Must), fmt.Sprintf("%.2f", s.Least),
			fmt.Sprintf("%g", s.Must), fmt.Sprintf("%g", s.Aim)})
	}
	return b.String()
}

// String writes "median (lowest to highest)".
func (s Sample) String() string {
	return fmt.Sprintf("%s (%s to %s)", Number(s.Median()), Number(s[0]), Number(s[len(s)-1]))
}

// Number writes three or four digits.
func Number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
