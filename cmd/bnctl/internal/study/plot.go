package study

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot is a plot of the results.
type Plot struct {
	Name    string // of its file, without extension
	Caption string
	SVG     []byte
}

// Plots returns the plots for which there are enough results.
func (r *Results) Plots() ([]Plot, error) {
	var out []Plot
	for _, p := range []struct {
		name, caption string
		height        float64 // cm, without legend
		make          func() (*plot.Plot, error)
	}{
		{"accuracy", "Accuracy by way of training and by statistics: a dot is a seed, a ring the mean over seeds.",
			2 + 0.7*float64(len(r.Table())), r.plotScores},
		{"curves", "Accuracy after each epoch with the statistics of the run's own mode (replica: pooled), " +
			"mean over seeds.", 9, r.plotCurves},
		{"variance", "What small samples miss of a variance, 1 - mean(Q/n)/truth, by the samples of a group; " +
			"the dashed line is 1/n for one value a sample.", 10, r.plotSampling},
		{"speed", "Training throughput.", 2 + 0.8*float64(len(r.Settings())), r.plotSpeeds},
	} {
		drawn, err := p.make()
		if err != nil {
			return nil, fmt.Errorf("plot %s: %w", p.name, err)
		}
		if drawn == nil {
			continue
		}
		svg, err := render(drawn, 18*vg.Centimeter, vg.Length(p.height)*vg.Centimeter)
		if err != nil {
			return nil, fmt.Errorf("plot %s: %w", p.name, err)
		}
		out = append(out, Plot{p.name, r.worded(p.caption), svg})
	}
	return out, nil
}

// Colours of the drawings. In the files each is a variable of the page, so
// that a page in dark colours shows them in its own; alone they are as here.
var (
	ink     = color.RGBA{0x33, 0x38, 0x40, 0xff}
	faint   = color.RGBA{0xd5, 0xd8, 0xdd, 0xff}
	colours = []color.RGBA{{0x1f, 0x6f, 0xb5, 0xff}, {0xd9, 0x6a, 0x1a, 0xff}, {0x2b, 0x8f, 0x5b, 0xff},
		{0x8e, 0x4f, 0xb8, 0xff}, {0xb0, 0x35, 0x55, 0xff}, {0x7a, 0x7f, 0x2c, 0xff}}
)

// newPlot returns an empty drawing in the colours of the page.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, s := range []*draw.TextStyle{&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label,
		&p.Y.Tick.Label, &p.Legend.TextStyle} {
		s.Font.Variant, s.Color = "Sans", ink
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Tick.Color = ink, ink
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Points(2)
	p.Legend.TextStyle.Font.Size = 10
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	return p
}

// dots draws points.
func dots(p *plot.Plot, at plotter.XYs, c color.Color, shape draw.GlyphDrawer, radius vg.Length) error {
	s, err := plotter.NewScatter(at)
	if err != nil {
		return err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: radius, Shape: shape}
	p.Add(s)
	return nil
}

// line draws a line.
func line(p *plot.Plot, at plotter.XYs, c color.Color, dashed bool) (*plotter.Line, error) {
	l, err := plotter.NewLine(at)
	if err != nil {
		return nil, err
	}
	l.Color, l.Width = c, vg.Points(1.5)
	if dashed {
		l.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	p.Add(l)
	return l, nil
}
