package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/problem"
)

// loading returns the line that shows the current activity before the run begins.
func (d *drawing) loading() line {
	doing := d.moment.Doing
	if doing == "" {
		doing = "starting"
	}
	return line{{clock(d.Elapsed) + "  ", faint}, {doing, accent}}
}

// title returns the line about the run: model, data, devices, replicas and precision.
func (d *drawing) title() line {
	e, r := d.started, d.started.Recipe
	words := []string{r.Model, r.Data.InWords(), problem.Plural(len(d.devices), "device"),
		problem.Plural(r.StepReplicas(), "replica")}
	if e.Ranks > 1 {
		words = append(words, problem.Plural(e.Ranks, "rank"))
	}
	words = append(words, e.Kernels+" "+r.Precision)
	for i := range words {
		words[i] = legible.Text(words[i])
	}
	return line{{words[0], strong}, {d.dot + strings.Join(words[1:], d.dot), faint}}
}

// bars returns progress bars for the epoch and for the run.
func (d *drawing) bars() []line {
	per := max(d.started.Recipe.StepsPerEpoch(), 1)
	total := max(d.started.TotalSteps, 1)
	epoch := max(d.moment.Epoch, 1)
	before := (epoch - 1) * per
	length := max(min(per, total-before), 1) // the last epoch may be cut off by {steps}
	done := min(max(d.moment.Step-before, 0), length)
	labels := []string{fmt.Sprintf("epoch %d of %d", epoch, (total+per-1)/per), "run"}
	suffixes := []string{fmt.Sprintf("step %d of %d", done, length), clock(d.Elapsed) + "  " + d.remaining()}
	if d.moment.Doing != "" {
		suffixes[0] = legible.Text(d.moment.Doing)
		if d.moment.Of > 0 {
			suffixes[0] += fmt.Sprintf(" %d of %d", d.moment.Samples, d.moment.Of)
		}
	}
	width := max(columns(labels[0]), 14)
	const percents = len("  100 %  ")
	cells := min(d.size.Columns-width-percents-max(columns(suffixes[0]), columns(suffixes[1]), 22), 60)
	var out []line
	for i, fraction := range []float64{float64(done) / float64(length),
		float64(d.moment.Step) / float64(total)} {
		fraction = min(max(fraction, 0), 1)
		l := line{{padded(labels[i], width, d.ellipsis) + " ", normal}}
		if cells >= 6 {
			full := int(fraction * float64(cells))
			l = append(l, span{strings.Repeat(d.done, full), good}, span{strings.Repeat(d.open, cells-full), faint})
		}
		out = append(out, append(l, span{fmt.Sprintf(" %3d %%  ", int(100*fraction)), strong}, span{suffixes[i],
			normal}))
	}
	return out
}

// remaining estimates the time until the end of the run.
func (d *drawing) remaining() string {
	total := d.started.TotalSteps
	steps := d.moment.Step - d.started.FirstStep
	switch {
	case d.last.Step > 0 && d.last.Step < total:
		rest := d.last.Remaining * float64(total-d.moment.Step) / float64(total-d.last.Step)
		return "ETA " + seconds(rest)
	case d.last.Step > 0:
		return ""
	case d.rows > 0 && steps > 1:
		perStep := (d.Elapsed - d.first).Seconds() / float64(steps-1)
		return "ETA " + seconds(float64(float64(total-d.moment.Step)*perStep))
	}
	return problem.Plural(total-d.started.FirstStep, "step") + " to go"
}

// seconds formats a time in seconds, or "?" if it is not a plausible number.
func seconds(s float64) string {
	if !finite(s) || s < 0 || s > 1e8 {
		return "?"
	}
	return (time.Duration(s) * time.Second).String()
}
