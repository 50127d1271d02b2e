package report

import (
	"fmt"
	"math"
	"strings"
)

// chartsOf returns the charts of runs for which there are figures. Of one run, figures of training and of
// validation have colours of their own; of several, each run has one, and training is dashed.
func chartsOf(runs []*Run) []chart {
	loss := chart{Title: "Loss", X: "epoch", Integer: true}
	quality := chart{Title: "Accuracy", X: "epoch", Percent: true, Integer: true}
	overlap := chart{Title: "mIoU", X: "epoch", Percent: true, Integer: true}
	inside := chart{Title: "Loss, step by step", X: "step", Integer: true}
	rate := chart{Title: "Learning rate", X: "step", Integer: true}
	speed := chart{Title: "Images a second", X: "epoch", Integer: true}
	for i, r := range runs {
		c := palette{i, len(runs) > 1, r.Name}
		loss.add(c.training("train"), r.epochs, func(e *epoch) figure { return e.TrainLoss })
		loss.add(c.validation("validation"), r.epochs, func(e *epoch) figure { return e.ValLoss })
		quality.add(c.training("train"), r.epochs, func(e *epoch) figure { return e.TrainAccuracy })
		quality.add(c.validation("validation"), r.epochs, func(e *epoch) figure { return e.ValAccuracy })
		overlap.add(c.validation("validation"), r.epochs, func(e *epoch) figure { return e.ValMIoU })
		speed.add(c.only(), r.epochs, func(e *epoch) figure { return e.Throughput })
		inside.steps(c.only(), r.steps, func(s *step) figure { return s.Loss })
		rate.steps(c.only(), r.steps, func(s *step) figure { return s.LR })
	}
	var out []chart
	for _, c := range []chart{loss, quality, overlap, inside, rate, speed} {
		if !c.empty() {
			out = append(out, c)
		}
	}
	return out
}

// palette says how the curves of a run look.
type palette struct {
	run     int
	several bool
	name    string
}

func (p palette) training(name string) curve {
	if p.several {
		return curve{Colour: p.run % seriesColours, Dashed: true}
	}
	return curve{Name: name, Colour: 0}
}

func (p palette) validation(name string) curve {
	if p.several {
		return curve{Name: p.name, Colour: p.run % seriesColours}
	}
	return curve{Name: name, Colour: 1}
}

func (p palette) only() curve {
	if p.several {
		return curve{Name: p.name, Colour: p.run % seriesColours}
	}
	return curve{Colour: 0}
}

// add adds the figures of epochs that have them.
func (c *chart) add(k curve, epochs []epoch, of func(*epoch) figure) {
	for i := range epochs {
		if f := of(&epochs[i]); f.v != nil {
			k.X, k.Y = append(k.X, float64(epochs[i].Epoch)), append(k.Y, f.or())
		}
	}
	if len(k.X) > 0 {
		c.Curves = append(c.Curves, k)
	}
}

// steps is add for figures of steps.
func (c *chart) steps(k curve, steps []step, of func(*step) figure) {
	for i := range steps {
		if f := of(&steps[i]); f.v != nil {
			k.X, k.Y = append(k.X, float64(steps[i].Step)), append(k.Y, f.or())
		}
	}
	if len(k.X) > 0 {
		c.Curves = append(c.Curves, k)
	}
}

// curvesOf draws the charts of runs for a page.
func curvesOf(runs []*Run) []drawing {
	var out []drawing
	for _, c := range chartsOf(runs) {
		d := c.drawing()
		if len(runs) > 1 && c.dashed() {
			d.Caption = "Solid: validation; dashed: training."
		}
		out = append(out, d)
	}
	return out
}

func (c *chart) dashed() bool {
	for _, k := range c.Curves {
		if k.Dashed {
			return true
		}
	}
	return false
}

func (c *chart) drawing() drawing {
	elements, height := c.draw()
	return drawing{Title: c.Title, SVG: inPage(elements, c.inWords(), chartWidth, height)}
}

// inWords says what a chart shows, for those who do not see it.
func (c *chart) inWords() string {
	text := []string{c.Title + " by " + c.X}
	for _, k := range c.Curves {
		if len(k.Y) == 0 {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range k.Y {
			if finite(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		if low > high {
			text = append(text, k.Name+" has no number")
			continue
		}
		text = append(text, strings.TrimSpace(fmt.Sprintf("%s from %s to %s, last %s", k.Name, c.number(low),
			c.number(high),
			c.number(k.Y[len(k.Y)-1]))))
	}
	return strings.Join(text, "; ")
}

// curvesSVG returns the curves of runs as an SVG file; nil if there are none.
func curvesSVG(runs ...*Run) []byte {
	var panels []panel
	for _, c := range chartsOf(distinct(runs)) {
		elements, height := c.draw()
		panels = append(panels, panel{elements, c.Title, chartWidth, height})
	}
	if len(panels) == 0 {
		return nil
	}
	elements, width, height := stacked(panels, 2)
	return inFile(elements, "Curves of "+runs[0].Name, width, height)
}
