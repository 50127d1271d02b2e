package study

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/bnctl/bnctl/internal/chart"
)

// Plot is a plot of the results.
type Plot struct {
	Name           string // name of the plot's file, without extension
	Title, Caption string

	figure chart.Figure
}

// InPage returns the drawing for a page, in the page's style.
func (p *Plot) InPage() template.HTML { return chart.PageOf(p.figure) }

// File returns the drawing as an SVG file.
func (p *Plot) File() []byte { return chart.FileOf(p.figure, p.Title) }

// Plots returns the plots that have enough results.
func (r *Results) Plots() []*Plot {
	var out []*Plot
	add := func(name, title, caption string, f chart.Figure, drawn bool) {
		if drawn {
			out = append(out, &Plot{name, r.worded(title), r.worded(caption), f})
		}
	}
	scores, curves, sampled, speeds := r.plotScores(), r.plotCurves(), r.plotSampling(), r.plotSpeeds()
	add("accuracy", "Accuracy by statistics", "By way of training, statistics and samples per replica: a "+
		"dot is a seed, a ring the mean over seeds.", scores, len(scores.Of) > 0)
	add("curves", "Accuracy by epoch", "With the statistics of the run's mode (replica: pooled), mean over "+
		"seeds. Dashed: sync.", curves, !curves.Empty())
	add("variance", "What small samples miss of a variance", "1 - mean(Q/n)/truth, by the samples of a group, "+
		"a line for each batch norm; dashed: 1/n, of one value a sample.", sampled, !sampled.Empty())
	add("speed", "Images a second", "Training throughput, by way of training and samples per replica.", speeds,
		len(speeds.Of) > 0)
	return out
}

// colours is the number of colours that curves have.
const colours = 6

// colourOf returns the colour for a number of samples per replica. The whole batch has the first colour.
func (r *Results) colourOf(s Setting) int {
	if s.Arm == Single {
		return 0
	}
	if s.Arm == Frozen {
		return colours - 1
	}
	return (1 + slices.Index(r.PerReplica, s.PerReplica)) % colours
}

// plotScores draws dots for every row of the table.
func (r *Results) plotScores() *chart.Rows {
	rows := &chart.Rows{Title: r.worded("Accuracy by statistics"), X: r.worded("accuracy"), Percent: true}
	for _, row := range r.Table() {
		line := chart.Row{Name: fmt.Sprintf("%s, %s, %d each", row.Arm, row.Statistics, row.PerReplica),
			Colour: r.colourOf(row.Setting), Mean: row.Accuracy.Mean / 100}
		for _, s := range r.bySeed(row.Setting, row.Statistics) {
			line.Values = append(line.Values, s.fraction())
		}
		rows.Of = append(rows.Of, line)
	}
	return rows
}

// plotCurves draws the accuracy over the epochs.
func (r *Results) plotCurves() *chart.Chart {
	c := &chart.Chart{Title: r.worded("Accuracy"), X: "epoch", Percent: true, Integer: true}
	for _, s := range r.Settings() {
		k := r.curve(s)
		if len(k.X) < 2 {
			continue
		}
		k.Name, k.Colour, k.Dashed = fmt.Sprintf("%s, %d each", s.Arm, s.PerReplica), r.colourOf(s), s.Arm == Sync
		c.Curves = append(c.Curves, k)
	}
	return c
}

// curve returns the mean accuracy over the seeds after each epoch.
func (r *Results) curve(s Setting) (k chart.Curve) {
	sums, counts := map[int]float64{}, map[int]float64{}
	last := 0
	for _, run := range r.Runs {
		for _, e := range run.Epochs {
			if run.Setting == s {
				sums[e.Number] += e.fraction()
				counts[e.Number]++
				last = max(last, e.Number)
			}
		}
	}
	for n := 1; n <= last; n++ {
		if counts[n] > 0 {
			k.X, k.Y = append(k.X, float64(n)), append(k.Y, sums[n]/counts[n])
		}
	}
	return k
}

// plotSampling draws which share of the variance small groups of samples miss. Both axes are logarithmic, so
// that 1/(k*m) is a line parallel to 1/k.
func (r *Results) plotSampling() *chart.Chart {
	c := &chart.Chart{Title: "Part of the variance that is missed", X: "samples in a group", LogX: true,
		LogY: true}
	law := chart.Curve{Name: "1/n", Colour: colours - 1, Dashed: true}
	for i, s := range r.Samplings {
		named := false
		for _, l := range s.Layers {
			k := missed(l)
			if len(k.X) < 2 {
				continue
			}
			if k.Colour, k.Thin = i%(colours-1), true; !named {
				k.Name, named = s.Model, true
			}
			c.Curves, law.X = append(c.Curves, k), append(law.X, k.X...)
		}
	}
	if len(c.Curves) == 0 {
		return c
	}
	slices.Sort(law.X)
	law.X = slices.Compact(law.X)
	for _, n := range law.X {
		law.Y = append(law.Y, 1/n)
	}
	c.Curves = append(c.Curves, law)
	return c
}

// missed returns those points of a layer that can be drawn on logarithmic axes.
func missed(l Layer) (k chart.Curve) {
	for _, v := range l.Ratios {
		if v.Biased < 1 {
			k.X, k.Y = append(k.X, float64(v.PerReplica)), append(k.Y, 1-v.Biased)
		}
	}
	return k
}

// plotSpeeds draws a bar for every setting that was timed.
func (r *Results) plotSpeeds() *chart.Rows {
	rows := &chart.Rows{Title: "Images a second", X: "images a second", Bars: true}
	for _, s := range r.Settings() {
		if v := r.speed(s); v != nil {
			rows.Of = append(rows.Of, chart.Row{Name: fmt.Sprintf("%s, %d each", s.Arm, s.PerReplica),
				Colour: r.colourOf(s), Mean: v.Throughput})
		}
	}
	return rows
}
