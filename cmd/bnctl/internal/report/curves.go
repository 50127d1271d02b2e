package report

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/internal/chart"
)

// chartsOf returns the charts of the runs that have figures. With one run, training and validation
// have different colours. With several runs, each run has one colour, and the curves of training are dashed.
func chartsOf(runs []*Run) []chart.Chart {
	loss := chart.Chart{Title: "Loss", X: "epoch", Integer: true}
	quality := chart.Chart{Title: "Accuracy", X: "epoch", Percent: true, Integer: true}
	overlap := chart.Chart{Title: "mIoU", X: "epoch", Percent: true, Integer: true}
	precision := chart.Chart{Title: "Average precision", X: "epoch", Percent: true, Integer: true}
	inside := chart.Chart{Title: "Loss, step by step", X: "step", Integer: true}
	rate := chart.Chart{Title: "Learning rate", X: "step", Integer: true}
	speed := chart.Chart{Title: "Images a second", X: "epoch", Integer: true}
	for i, r := range runs {
		c := palette{i, len(runs) > 1, r.Name}
		add(&loss, c.training(r.trainingLoss()), r.epochs, func(e *epoch) figure { return e.TrainLoss })
		add(&loss, c.validation("validation"), r.epochs, func(e *epoch) figure { return e.ValLoss })
		add(&quality, c.training("train"), r.epochs, func(e *epoch) figure { return e.TrainAccuracy })
		add(&quality, c.validation("validation"), r.epochs, func(e *epoch) figure { return e.ValAccuracy })
		add(&overlap, c.validation("validation"), r.epochs, func(e *epoch) figure { return e.ValMIoU })
		add(&precision, c.validation("at an overlap of 0.5"), r.epochs, func(e *epoch) figure { return e.ValAP50 })
		add(&speed, c.single(), r.epochs, func(e *epoch) figure { return e.Throughput })
		addSteps(&inside, c.single(), r.steps, func(s *step) figure { return s.Loss })
		addSteps(&rate, c.single(), r.steps, func(s *step) figure { return s.LR })
	}
	var out []chart.Chart
	for _, c := range []chart.Chart{loss, quality, overlap, precision, inside, rate, speed} {
		if !c.Empty() {
			out = append(out, c)
		}
	}
	return out
}

// isSmoothed reports whether the training loss is computed with smoothed labels. The
// validation loss never is.
func (r *Run) isSmoothed() bool { return r.start.recipe.Smoothing > 0 }

// trainingLoss returns the name of the curve of the training loss.
func (r *Run) trainingLoss() string {
	if r.isSmoothed() {
		return fmt.Sprintf("train (labels smoothed by %g)", r.start.recipe.Smoothing)
	}
	return "train"
}

// palette has the colours and dashes for the curves of a run.
type palette struct {
	run     int
	several bool
	name    string
}

func (p palette) training(name string) chart.Curve {
	if p.several {
		return chart.Curve{Colour: p.run % seriesColours, Dashed: true}
	}
	return chart.Curve{Name: name, Colour: 0}
}

func (p palette) validation(name string) chart.Curve {
	if p.several {
		return chart.Curve{Name: p.name, Colour: p.run % seriesColours}
	}
	return chart.Curve{Name: name, Colour: 1}
}

func (p palette) single() chart.Curve {
	if p.several {
		return chart.Curve{Name: p.name, Colour: p.run % seriesColours}
	}
	return chart.Curve{Colour: 0}
}

// add adds a curve of the figure that figureOf returns for an epoch. Epochs without this figure are left
// out.
func add(c *chart.Chart, k chart.Curve, epochs []epoch, figureOf func(*epoch) figure) {
	for i := range epochs {
		if f := figureOf(&epochs[i]); f.v != nil {
			k.X, k.Y = append(k.X, float64(epochs[i].Epoch)), append(k.Y, f.float())
		}
	}
	if len(k.X) > 0 {
		c.Curves = append(c.Curves, k)
	}
}

// addSteps is like add for a figure of steps.
func addSteps(c *chart.Chart, k chart.Curve, steps []step, figureOf func(*step) figure) {
	for i := range steps {
		if f := figureOf(&steps[i]); f.v != nil {
			k.X, k.Y = append(k.X, float64(steps[i].Step)), append(k.Y, f.float())
		}
	}
	if len(k.X) > 0 {
		c.Curves = append(c.Curves, k)
	}
}

// curvesOf returns the charts of runs as drawings for a page.
func curvesOf(runs []*Run) []drawing {
	var out []drawing
	for _, c := range chartsOf(runs) {
		d := drawn(&c)
		if len(runs) > 1 && dashed(&c) {
			d.Caption = "Solid: validation; dashed: training."
			if c.Title == "Loss" && slices.ContainsFunc(runs, (*Run).isSmoothed) {
				d.Caption += " The loss of training is of smoothed labels where the recipe smooths them."
			}
		}
		out = append(out, d)
	}
	return out
}

func dashed(c *chart.Chart) bool {
	for _, k := range c.Curves {
		if k.Dashed {
			return true
		}
	}
	return false
}

func drawn(c *chart.Chart) drawing {
	return drawing{Title: c.Title, SVG: chart.PageOf(c)}
}

// curvesSVG returns the charts of runs as one SVG file, or nil without curves.
func curvesSVG(runs ...*Run) []byte {
	var panels []chart.Panel
	for _, c := range chartsOf(distinct(runs)) {
		elements, height := c.Draw()
		panels = append(panels, chart.Panel{Elements: elements, Title: c.Title, Width: chart.Width,
			Height: height})
	}
	if len(panels) == 0 {
		return nil
	}
	elements, width, height := chart.Stacked(panels, 2)
	return chart.InFile(elements, "Curves of "+runs[0].Name, width, height)
}
