//go:build linux

// Command turns measures the steps of several runs of bnctl by turns:
//
//	go run ./scripts/turns [-turns 8] [-steps 4] COMMAND -- COMMAND...
//
// It starts all commands. Then it lets each of them run for a few steps while the others are stopped
// (SIGSTOP), again and again. So a machine with a speed that changes from second to second is equally fast
// for all of them. The commands must print events for their steps (train --json --log-every 1), and make
// enough steps. For each command, turns prints the median time of a step in milliseconds; its speed relative
// to the first command, as the median over the turns; the middle half of both; and the processor time of a
// step, for each kind of process.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	turns := flag.Int("turns", 8, "of each command")
	steps := flag.Int("steps", 4, "that a turn measures, after one that it does not")
	flag.Parse()
	var jobs []*job
	defer func() {
		for _, j := range jobs {
			j.end()
		}
	}()
	for _, c := range split(flag.Args()) {
		j, err := start(c)
		if err == nil {
			jobs = append(jobs, j)
			err = j.turn(1) // after one step everything is loaded
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "turns: %s: %v\n", strings.Join(c, " "), err)
			return
		}
		*j = job{command: j.command, events: j.events}
	}
	for range *turns {
		for _, j := range jobs {
			if err := j.turn(*steps); err != nil {
				fmt.Fprintln(os.Stderr, "turns:", err)
				return
			}
		}
	}
	for _, j := range jobs {
		fmt.Println(j.report(jobs[0]))
	}
}

// split divides the words of a command line at "--" into commands.
func split(words []string) (commands [][]string) {
	for len(words) > 0 {
		n := slices.Index(words, "--")
		if n < 0 {
			return append(commands, words)
		}
		commands, words = append(commands, words[:n]), words[n+1:]
	}
	return commands
}

// report describes the steps of a job, and compares them with the steps of another job.
func (j *job) report(other *job) string {
	var ratios []float64
	for i := range j.medians {
		ratios = append(ratios, other.medians[i]/j.medians[i])
	}
	text := fmt.Sprintf("step %.0f ms (%.0f to %.0f), %.2f of the first (%.2f to %.2f);", median(j.steps),
		quantile(j.steps, 0.25), quantile(j.steps, 0.75), median(ratios), quantile(ratios, 0.25),
		quantile(ratios, 0.75))
	for _, kind := range kinds {
		if n := j.took[kind]; n > 0 {
			text += fmt.Sprintf(" %s %.1f ms", kind, n*1e3/float64(len(j.steps)))
		}
	}
	return text
}

func median(x []float64) float64 { return quantile(x, 0.5) }

// quantile returns the value below which a share q of the elements of x lies.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	return s[int(q*float64(len(s)-1)+0.5)]
}
