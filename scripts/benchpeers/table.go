package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
)

// verdict is a row's outcome in a few words.
func (r result) verdict() string {
	if len(r.theirs) == 0 {
		return fmt.Sprintf("%s %s", number(r.ours.median()), r.unit)
	}
	return fmt.Sprintf("%s and %s %s, %.2f", number(r.ours.median()), number(r.theirs.median()), r.unit,
		r.ratio())
}

// print writes the tables as markdown, a table for each group.
func (b *bench) print(w io.Writer, done []result) {
	fmt.Fprintf(w, "Machine: %s, %d logical CPUs, %s.", processor(), runtime.NumCPU(), runtime.GOOS)
	peers := slices.Clone(b.once)
	for _, p := range b.peers {
		peers = append(peers, p.about)
	}
	slices.Sort(peers)
	if peers = slices.Compact(peers); len(peers) > 0 {
		fmt.Fprintf(w, " Peers: %s.", strings.Join(peers, ", "))
	}
	if b.isa != "" {
		fmt.Fprintf(w, " All are held to %s.", strings.ToUpper(b.isa))
	}
	for _, l := range b.lacks {
		fmt.Fprintf(w, "\nLeft out: %s.", strings.ReplaceAll(l, "|", "/"))
	}
	fmt.Fprintf(w, "\n%s per side, in turn, at least %g s each; median (lowest to highest). ",
		count(b.rounds, "round"), b.seconds)
	fmt.Fprintln(w, "FMA: GFLOP/s that the row's threads reach on registers, before and after the row.")
	for len(done) > 0 {
		n := 1
		for n < len(done) && done[n].group == done[0].group {
			n++
		}
		printGroup(w, done[:n])
		done = done[n:]
	}
}

func printGroup(w io.Writer, rows []result) {
	fmt.Fprintf(w, "\n| %s | ours | theirs | is | must | aim | FMA |\n|---|---|---|---|---|---|---|\n",
		rows[0].group)
	product, n, least := 0.0, 0, math.Inf(1)
	for _, r := range rows {
		theirs, ratio, must, aim := "", "", r.note, ""
		if len(r.theirs) > 0 {
			theirs = fmt.Sprintf("%s %s", r.against, r.theirs)
			ratio, must, aim = fmt.Sprintf("%.2f", r.ratio()), fmt.Sprintf("%g", r.must), fmt.Sprintf("%g", r.aim)
			product, n, least = product+math.Log(r.ratio()), n+1, min(least, r.ratio())
		}
		fmt.Fprintf(w, "| %s, %s | %s | %s | %s | %s | %s | %.0f, %.0f |\n", r.name, r.unit, r.ours, theirs, ratio,
			must, aim, r.before.Gflops, r.after.Gflops)
	}
	if n > 2 {
		fmt.Fprintf(w, "| **geometric mean of %d** (least %.2f) | | | **%.2f** | %g | %g | |\n", n, least,
			math.Exp(product/float64(n)), rows[0].must, rows[0].aim)
	}
}

// String writes "median (lowest to highest)".
func (s sample) String() string {
	return fmt.Sprintf("%s (%s to %s)", number(s.median()), number(s[0]), number(s[len(s)-1]))
}

// number writes three or four digits.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// processor returns the name that the processor gives itself.
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
