package report

import (
	"fmt"
	"math"
	"strings"
)

// Origin returns the line below a table: where, when and with which command it was measured.
func (m *Measurement) Origin() string {
	texts := []string{m.Processor, m.Measured}
	for _, t := range []string{m.Commit, quoted(m.Command), m.Conditions} {
		if t != "" {
			texts = append(texts, t)
		}
	}
	if len(m.Peers) > 0 {
		texts = append(texts, "compared with "+strings.Join(m.Peers, ", "))
	}
	return strings.Join(texts, "; ") + "\n"
}

// quoted returns a command in the form of code in Markdown.
func quoted(command string) string {
	if command == "" {
		return ""
	}
	return "`" + command + "`"
}

// brief returns the day and the command. The conditions and the peers are only in the file.
func (m *Measurement) brief() string { return m.Measured + ", " + quoted(m.Command) }

// Table returns the table of the rows in Markdown.
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

// Counts returns a list of measurements as Markdown. Each entry has the number of rows, the processor, the
// day and the command. It refers to the file NAME.json.
func Counts(names []string, list []*Measurement) string {
	var b strings.Builder
	for i, m := range list {
		fmt.Fprintf(&b, "- [%s](%[1]s.json), %d rows: %s, %s\n", names[i], len(m.Rows), m.Processor, m.brief())
	}
	return b.String()
}

// Compared returns the table of a group of comparisons as Markdown. The heading has the required ratio and
// the aim of the group. If rates is set, a column has the rates of multiply-adds before and after each row.
func (m *Measurement) Compared(group string, rates bool) string {
	var b strings.Builder
	s, title := m.Summed(group), group
	if s.Rows > 0 {
		title = fmt.Sprintf("%s (must %g, aim %g)", group, s.Must, s.Aim)
	}
	heading := []string{title, "ours", "theirs", "is"}
	if rates {
		heading = append(heading, "FMA")
	}
	line(&b, heading)
	b.WriteString(strings.Repeat("|---", len(heading)) + "|\n")
	for _, c := range m.Group(group) {
		theirs, ratio := "", c.Note
		if len(c.Theirs) > 0 {
			theirs, ratio = c.Against+" "+c.Theirs.String(), rated(c.Ratio(), c.Must)
		}
		if len(c.Overdue) > 0 {
			theirs += "; too late for an answer: " + strings.Join(c.Overdue, ", ")
		}
		cells := []string{c.Name + ", " + c.Unit, c.Bnctl.String(), theirs, ratio, fmaOf(c)}
		line(&b, cells[:len(heading)])
	}
	if s.Rows > 2 {
		cells := []string{fmt.Sprintf("**geometric mean of %d** (least %.2f)", s.Rows, s.Least), "", "",
			fmt.Sprintf("**%.2f**", s.Mean), ""}
		line(&b, cells[:len(heading)])
	}
	return b.String()
}

// fmaOf returns the cell with the rates before and after a row.
func fmaOf(c Comparison) string {
	if c.FMA[0] == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f, %.0f", c.FMA[0], c.FMA[1])
}

// rated returns a ratio as text. It is bold if it is below the required ratio must.
func rated(ratio, must float64) string {
	text := fmt.Sprintf("%.2f", ratio)
	if ratio < must {
		return "**" + text + "**"
	}
	return text
}

// Sum is the summary of a group of comparisons.
type Sum struct {
	Rows        int     // number of rows with a peer
	Mean, Least float64 // geometric mean and minimum of the ratios
	Must, Aim   float64
}

// Summed returns the summary of a group.
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

// Summary returns a table of the summaries of some groups as Markdown.
func (m *Measurement) Summary(groups ...string) string {
	var b strings.Builder
	line(&b, []string{"", "cases", "geometric mean", "least", "must", "aim"})
	b.WriteString("|---|---|---|---|---|---|\n")
	for _, g := range groups {
		line(&b, append([]string{g}, m.Summed(g).cells()...))
	}
	return b.String()
}

// cells returns the number of rows, the mean, the least ratio, the required ratio and the aim, as cells of a
// table.
func (s Sum) cells() []string {
	return []string{fmt.Sprint(s.Rows), rated(s.Mean, s.Must), fmt.Sprintf("%.2f", s.Least),
		fmt.Sprintf("%g", s.Must), fmt.Sprintf("%g", s.Aim)}
}

// Summaries returns one table of the summaries of groups of several measurements, as Markdown. Each row names
// its file. Below the table is a list of the processors, with the day and the command of each file.
func Summaries(names []string, list []*Measurement, groups ...string) string {
	var b strings.Builder
	var processors []string
	runs := map[string][]string{}
	line(&b, []string{"file", "group", "cases", "geometric mean", "least", "must", "aim"})
	b.WriteString("|---|---|---|---|---|---|---|\n")
	for i, m := range list {
		for _, g := range groups {
			if len(m.Group(g)) > 0 {
				line(&b, append([]string{fmt.Sprintf("[%s](%[1]s.json)", names[i]), g}, m.Summed(g).cells()...))
			}
		}
		if runs[m.Processor] == nil {
			processors = append(processors, m.Processor)
		}
		runs[m.Processor] = append(runs[m.Processor], fmt.Sprintf("%s (%s)", names[i], m.brief()))
	}
	b.WriteString("\n")
	for _, p := range processors {
		fmt.Fprintf(&b, "- %s: %s\n", p, strings.Join(runs[p], ", "))
	}
	return b.String()
}

// String returns the figures as "median (lowest to highest)".
func (s Sample) String() string {
	return fmt.Sprintf("%s (%s to %s)", Number(s.Median()), Number(s[0]), Number(s[len(s)-1]))
}

// Number returns a number as text with three or four digits.
func Number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
