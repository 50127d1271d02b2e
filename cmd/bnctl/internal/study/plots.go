package study

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colourOf returns the colour of a size per replica; that of the whole batch
// comes first.
func (r *Results) colourOf(s Setting) int {
	if s.Arm == Single {
		return 0
	}
	if s.Arm == Frozen {
		return len(colours) - 1
	}
	return (1 + slices.Index(r.PerReplica, s.PerReplica)) % len(colours)
}

// plotScores draws a line of dots for every row of the table.
func (r *Results) plotScores() (*plot.Plot, error) {
	rows := r.Table()
	if len(rows) == 0 {
		return nil, nil
	}
	slices.Reverse(rows) // the first one on top
	p := newPlot(r.worded("accuracy, %"), "")
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = fmt.Sprintf("%s, %s, %d each", row.Arm, row.Statistics, row.PerReplica)
		c, y := colours[r.colourOf(row.Setting)], float64(i)
		var at plotter.XYs
		for _, s := range r.bySeed(row.Setting, row.Statistics) {
			at = append(at, plotter.XY{X: 100 * s.fraction(), Y: y})
		}
		if err := dots(p, at, c, draw.CircleGlyph{}, vg.Points(2)); err != nil {
			return nil, err
		}
		mean := plotter.XYs{{X: row.Accuracy.Mean, Y: y}}
		if err := dots(p, mean, c, draw.RingGlyph{}, vg.Points(5)); err != nil {
			return nil, err
		}
	}
	nominal(p, names)
	padding := (p.X.Max - p.X.Min) / 40
	p.X.Min, p.X.Max = p.X.Min-padding, p.X.Max+padding
	return p, nil
}

// plotCurves draws the accuracy over the epochs.
func (r *Results) plotCurves() (*plot.Plot, error) {
	p := newPlot("epoch", r.worded("accuracy, %"))
	p.X.Tick.Marker = whole
	drawn := false
	for _, s := range r.Settings() {
		at := r.curve(s)
		if len(at) < 2 {
			continue
		}
		drawn = true
		l, err := line(p, at, colours[r.colourOf(s)], s.Arm == Sync)
		if err != nil {
			return nil, err
		}
		p.Legend.Add(fmt.Sprintf("%s, %d each", s.Arm, s.PerReplica), l)
	}
	if !drawn {
		return nil, nil
	}
	return p, nil
}

// curve returns the mean accuracy over the seeds after each epoch.
func (r *Results) curve(s Setting) plotter.XYs {
	sums, counts := map[int]float64{}, map[int]float64{}
	last := 0
	for _, run := range r.Runs {
		for _, e := range run.Epochs {
			if run.Setting == s {
				sums[e.Number] += 100 * e.fraction()
				counts[e.Number]++
				last = max(last, e.Number)
			}
		}
	}
	var at plotter.XYs
	for n := 1; n <= last; n++ {
		if counts[n] > 0 {
			at = append(at, plotter.XY{X: float64(n), Y: sums[n] / counts[n]})
		}
	}
	return at
}

// plotSampling draws what groups miss of the variance, both axes logarithmic:
// a law 1/(k*m) is a line parallel to 1/k.
func (r *Results) plotSampling() (*plot.Plot, error) {
	p := newPlot("samples in a group", "part of the variance that is missed")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = halves, halves
	var all plotter.XYs
	for i, s := range r.Samplings {
		for k, l := range s.Layers {
			at := missed(l)
			if len(at) < 2 {
				continue
			}
			all = append(all, at...)
			drawn, err := line(p, at, colours[(i+1)%len(colours)], false)
			if err != nil {
				return nil, err
			}
			if k == 0 {
				p.Legend.Add(fmt.Sprintf("%s, a line for each batch norm", s.Model), drawn)
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	law := plotter.XYs{}
	for _, at := range all {
		law = append(law, plotter.XY{X: at.X, Y: 1 / at.X})
	}
	slices.SortFunc(law, func(a, b plotter.XY) int { return int(a.X - b.X) })
	l, err := line(p, law, ink, true)
	if err != nil {
		return nil, err
	}
	p.Legend.Add("1/n, one value a sample", l)
	return p, nil
}

// missed returns the points of a layer that a logarithm can be taken of.
func missed(l Layer) plotter.XYs {
	var at plotter.XYs
	for _, v := range l.Ratios {
		if v.Biased < 1 {
			at = append(at, plotter.XY{X: float64(v.PerReplica), Y: 1 - v.Biased})
		}
	}
	return at
}

// whole marks the whole numbers.
var whole = plot.TickerFunc(func(low, high float64) (ticks []plot.Tick) {
	for v := math.Ceil(low); v <= high; v++ {
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprint(v)})
	}
	return ticks
})

// halves marks the powers of 2 in the range, those below 1 as fractions.
var halves = plot.TickerFunc(func(low, high float64) (ticks []plot.Tick) {
	for e := math.Ceil(math.Log2(low)); e <= math.Floor(math.Log2(high)); e++ {
		label := fmt.Sprint(math.Exp2(e))
		if e < 0 {
			label = fmt.Sprintf("1/%g", math.Exp2(-e))
		}
		ticks = append(ticks, plot.Tick{Value: math.Exp2(e), Label: label})
	}
	return ticks
})

// plotSpeeds draws a bar for every setting that was timed.
func (r *Results) plotSpeeds() (*plot.Plot, error) {
	if len(r.Speeds) == 0 {
		return nil, nil
	}
	p := newPlot("images per second", "")
	settings := r.Settings()
	slices.Reverse(settings) // the first one on top
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = fmt.Sprintf("%s, %d each", s.Arm, s.PerReplica)
		v := r.speed(s)
		if v == nil {
			continue
		}
		bar, err := plotter.NewBarChart(plotter.Values{v.Throughput}, vg.Points(13))
		if err != nil {
			return nil, err
		}
		bar.Horizontal = true
		bar.XMin, bar.Color, bar.LineStyle.Width = float64(i), colours[r.colourOf(s)], 0
		p.Add(bar)
	}
	nominal(p, names)
	p.X.Min = 0
	return p, nil
}

// nominal writes a name on the vertical axis at 0, 1, ..., so far from it that
// a dot on the axis is not on a letter.
func nominal(p *plot.Plot, names []string) {
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.5, float64(len(names))-0.5
	p.Y.Padding = vg.Points(8)
}
