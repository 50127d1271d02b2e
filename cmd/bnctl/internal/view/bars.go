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
	doing := d.now.Doing
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
	epoch := max(d.now.Epoch, 1)
	before := (epoch - 1) * per
	length := max(min(per, total-before), 1) // the last epoch may be cut off by {steps}
	done := min(max(d.now.Step-before, 0), length)
	left := []string{fmt.Sprintf("epoch %d of %d", epoch, (total+per-1)/per), "run"}
	behind := []string{fmt.Sprintf("step %d of %d", done, length), clock(d.Elapsed) + "  " + d.remaining()}
	if d.now.Doing != "" {
		behind[0] = legible.Text(d.now.Doing)
		if d.now.Of > 0 {
			behind[0] += fmt.Sprintf(" %d of %d", d.now.Samples, d.now.Of)
		}
	}
	width := max(columns(left[0]), 14)
	const percents = len("  100 %  ")
	cells := min(d.size.Columns-width-percents-max(columns(behind[0]), columns(behind[1]), 22), 60)
	var out []line
	for i, of := range []float64{float64(done) / float64(length), float64(d.now.Step) / float64(total)} {
		of = min(max(of, 0), 1)
		l := line{{padded(left[i], width, d.more) + " ", normal}}
		if cells >= 6 {
			full := int(of * float64(cells))
			l = append(l, span{strings.Repeat(d.done, full), good}, span{strings.Repeat(d.open, cells-full), faint})
		}
		out = append(out, append(l, span{fmt.Sprintf(" %3d %%  ", int(100*of)), strong}, span{behind[i], normal}))
	}
	return out
}

// remaining estimates the time until the end of the run.
func (d *drawing) remaining() string {
	total := d.started.TotalSteps
	steps := d.now.Step - d.started.FirstStep
	switch {
	case d.last.Step > 0 && d.last.Step < total:
		left := d.last.Remaining * float64(total-d.now.Step) / float64(total-d.last.Step)
		return "ETA " + seconds(left)
	case d.last.Step > 0:
		return ""
	case d.rows > 0 && steps > 1:
		each := (d.Elapsed - d.first).Seconds() / float64(steps-1)
		return "ETA " + seconds(float64(float64(total-d.now.Step)*each))
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
