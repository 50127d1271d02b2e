package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/scripts/internal/report"
)

// verdict returns the outcome of a row in a few words.
func (r result) verdict() string {
	if len(r.theirs) == 0 {
		return fmt.Sprintf("%s %s", report.Number(r.bnctl.Median()), r.unit)
	}
	return fmt.Sprintf("%s and %s %s, %.2f", report.Number(r.bnctl.Median()), report.Number(r.theirs.Median()),
		r.unit, r.ratio())
}

// measurement returns the results in the form that is stored.
func (b *bench) measurement(results []result) *report.Measurement {
	m := &report.Measurement{Processor: fmt.Sprintf("%s, %s, %s", processor(),
		count(runtime.NumCPU(), "logical CPU"), runtime.GOOS), Command: b.command(),
		Measured: time.Now().Format(time.DateOnly), Commit: commit(), Peers: slices.Clone(b.unloaded),
		LeftOut: b.lacks, Rounds: b.rounds, Seconds: b.seconds}
	for _, p := range b.peers {
		m.Peers = append(m.Peers, p.name)
	}
	slices.Sort(m.Peers)
	m.Peers = slices.Compact(m.Peers)
	if b.isa != "" {
		m.Conditions = "all are held to " + strings.ToUpper(b.isa)
	}
	for _, r := range results {
		m.Comparisons = append(m.Comparisons, report.Comparison{Group: r.group, Name: r.name, Unit: r.unit,
			Less: r.lowerIsBetter, Must: r.must, Aim: r.aim, Note: r.note, Bnctl: r.bnctl, Against: r.bestPeer,
			Theirs: r.theirs, Overdue: r.overdue, FMA: [2]float64{r.before.Gflops, r.after.Gflops}})
	}
	return m
}

// command returns the command line that repeats the measurement.
func (o options) command() string {
	line := "make bench-peers"
	for _, v := range [][2]string{{"ROWS", o.rows}, {"ONLY", o.selected}, {"WITHOUT", o.excluded}, {"ISA",
		o.isa}} {
		if v[1] != "" {
			line += fmt.Sprintf(" %s='%s'", v[0], v[1])
		}
	}
	return line
}

// commit returns the commit of the source tree, or "" if git does not know it.
func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// printTables writes a table for each group, as Markdown.
func printTables(w io.Writer, m *report.Measurement) {
	fmt.Fprint(w, m.Origin())
	for _, l := range m.LeftOut {
		fmt.Fprintf(w, "Left out: %s.\n", l)
	}
	fmt.Fprintln(w, "FMA: GFLOP/s that the row's threads reach on registers, before and after the row.")
	for _, g := range m.Groups() {
		fmt.Fprintf(w, "\n%s", m.Compared(g, true))
	}
}

// processor returns the name of the processor, as it reports it itself.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
