package main

import (
	"strings"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/train"
)

// reportRates prints the result of trying learning rates.
func reportRates(o *output, found *train.RateRange) {
	o.event("find_lr", found)
	for _, line := range found.Lines() {
		o.result("%s", inFlags(line))
	}
}

// reportTrained prints the files that a run has written, and which devices were lost.
func reportTrained(o *output, result train.Finished) {
	if result.Dropped > 0 {
		o.note("not applied: %s that waited after the last step", plural(int(result.Dropped), "gradient"))
	}
	if result.Audited > 0 {
		o.note("audit: the runs of %s were repeated on another device", plural(result.Audited, "replica"))
	}
	for _, l := range result.Lost {
		o.note("device %s was lost %s  %s", l.Device, plural(l.Times, "time"), l.Excluded)
	}
	if line := train.StagesLine(result.Stages, result.Step); line != "" {
		o.note("%s", line)
	}
	o.result("wrote %s  sha256 %s  (%s, %.1f s)", result.Model, result.SHA256, plural(result.Steps, "step"),
		result.Seconds)
	if result.BestEpoch == 0 {
		return
	}
	text := result.Model + " is of it"
	switch {
	case result.OfBest:
	case result.BestIn == "":
		text = result.Model + " is of the last epoch (--save best saves the best)"
	default:
		best := strings.TrimSuffix(result.Model, ".bnm") + "-best.bnm"
		text = result.Model + " is of the last; bnctl strip " + legible.ShellWord(result.BestIn) +
			" --epoch best -o " + legible.ShellWord(best) + " makes one of it"
	}
	o.note("best epoch %d, %s; %s", result.BestEpoch, evaluation.FigureText(result.Figure, result.Best), text)
}

// writeStatement writes the statement about a template that was trained, if one was requested.
func writeStatement(o *output, s statement) error {
	file, err := s.WriteTrained()
	if file != "" {
		reportWritten(o, []string{file})
	}
	return err
}

// reportWritten prints which files were written.
func reportWritten(o *output, files []string) {
	for _, f := range files {
		o.event("wrote", map[string]string{"file": f})
		o.result("wrote %s", f)
	}
}

// stoppedEarly prints why a run ends before its last step.
func (p *progress) stoppedEarly(e train.StoppedEarly) {
	advice := ""
	if e.Save == "last" {
		advice = "; the template has the weights of the last epoch: --save best keeps the best weights"
	}
	p.out.noteFolded("stopped early: the validation %s did not get better in %s; best in epoch %d, %s%s",
		e.Figure, plural(e.Evaluations, "evaluation"), e.BestEpoch, evaluation.FigureText(e.Figure, e.Best), advice)
}
