package train

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// briefEpoch is the longest duration in seconds that counts as a brief epoch. Such an epoch
// is mostly startup, and gets no advice on input.
const briefEpoch = 1

// Lines describes an epoch. verbose adds details that only some readers want. Options are
// in braces.
func (e EpochDone) Lines(verbose bool) []string {
	head := fmt.Sprintf("epoch %d: %s  (%.1f s, %.0f img/s, %d seen%s)", e.Epoch, e.figures(), e.Seconds,
		e.Throughput, e.Seen, e.uneven())
	lines := []string{head}
	for _, text := range []string{ranksLine(e.Ranks), machinesLine(e.Machines), e.Warning, e.staleness(),
		e.Gap.text(verbose)} {
		if text != "" {
			lines = append(lines, text)
		}
	}
	if e.InputWait > 0.1 && e.Seconds > briefEpoch {
		lines = append(lines, fmt.Sprintf("the devices waited for input %.0f %% of the time; more {workers} or "+
			"fewer {threads} may help", 100*e.InputWait))
	}
	return lines
}

func (e EpochDone) uneven() string {
	s := ""
	if e.Dropped > 0 {
		s += fmt.Sprintf(", %d dropped", e.Dropped)
	}
	if e.Repeated > 0 {
		s += fmt.Sprintf(", %d repeated", e.Repeated)
	}
	if e.LeftOut > 0 {
		s += fmt.Sprintf(", %s without a label left out", problem.Plural(e.LeftOut, "step"))
	}
	return s
}

// staleness describes how many steps statistics and gradients of replicas were late.
func (e EpochDone) staleness() string {
	text := ""
	if e.Merged > 0 {
		text = fmt.Sprintf("running statistics have heard of %s of replicas, %.1f steps late on average",
			problem.Plural(int(e.Merged), "step"), float64(e.Waited)/float64(e.Merged))
	}
	if l := e.Staleness; l != nil && l.Applied > 0 {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("gradients: %d applied, %.1f steps late on average; %d wait", l.Applied,
			float64(l.Waited)/float64(l.Applied), l.Left())
	}
	return text
}

// text shows the effect of batch norm's statistics on the loss of the same samples.
func (g *Gap) text(verbose bool) string {
	switch {
	case g == nil:
		return ""
	case g.Advice == "" && verbose:
		return fmt.Sprintf("the same samples: loss %.4f as in training, %.4f with running statistics", g.Batch,
			g.Running)
	}
	return g.Advice
}

// figures writes the losses of an epoch for people, and the accuracies, R2 and overlaps that it has.
func (e EpochDone) figures() string {
	text := fmt.Sprintf("train loss %.4f", e.TrainLoss)
	if len(e.TrainLossIs) > 0 {
		text += " (" + strings.Join(e.TrainLossIs, ", ") + ")"
	}
	if e.TrainAccuracy == e.TrainAccuracy {
		text += "  accuracy " + e.TrainAccuracy.Percent()
	}
	if e.ValLoss != nil {
		text += fmt.Sprintf("  val loss %.4f", *e.ValLoss)
		if len(e.TrainLossIs) > 0 {
			text += " (plain)"
		}
	}
	if e.ValAccuracy != nil {
		text += fmt.Sprintf("  accuracy %.2f %%", 100**e.ValAccuracy)
	}
	if e.ValAP50 != nil {
		text += fmt.Sprintf("  AP50 %.4f  AP %.4f", *e.ValAP50, *e.ValAP)
	}
	if e.ValR2 != nil {
		text += fmt.Sprintf("  R2 %.4f", *e.ValR2)
	}
	if e.ValMIoU != nil {
		text += "  mIoU " + e.ValMIoU.Percent()
	}
	return text
}
