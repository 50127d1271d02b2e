package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Size of a chart and of its margins, in units of the drawing: pixels at its natural size.
const (
	Width, plotHeight                    = 480.0, 270.0
	leftMargin, RightMargin, lowerMargin = 56.0, 12.0, 34.0
	legendHeight                         = 18.0
	letter                               = 6.8 // approximate width of a letter
)

// Curve is a line of a chart. A point with a y that is not finite is a mark at the upper
// edge.
type Curve struct {
	Name         string
	X, Y         []float64
	Colour       int
	Thin, Dashed bool
	Gaps         bool // a value that is not finite is a gap, without a mark
}

// Chart is a drawing of curves.
type Chart struct {
	Title, X, Y string
	Percent     bool    // values are shares of 1
	Integer     bool    // x has whole numbers
	LogX, LogY  bool    // the axis is logarithmic; all values are above 0
	Low, High   float64 // the range of x; if equal, the range of the curves
	Curves      []Curve
}

// Empty reports whether there is nothing to draw.
func (c *Chart) Empty() bool {
	for _, k := range c.Curves {
		if len(k.X) > 0 {
			return false
		}
	}
	return true
}

// Draw returns the elements of a chart, without the svg element around them, and its height.
func (c *Chart) Draw() (string, float64) {
	var b strings.Builder
	upper := c.legend(&b) + 8
	height := plotHeight + upper - 8
	x, y := c.scales(upper, height-lowerMargin)
	c.axes(&b, x, y)
	for _, k := range c.Curves {
		k.draw(&b, c, x, y)
	}
	return b.String(), height
}

// legend draws the names of the curves, and returns the height of the legend.
func (c *Chart) legend(b *strings.Builder) float64 {
	x, y := leftMargin, 13.0
	drawn := false
	for _, k := range c.Curves {
		if k.Name == "" || len(k.X) == 0 {
			continue
		}
		name := Cut(k.Name, 48)
		width := 26 + float64(letter*float64(len([]rune(name)))) + 10
		if drawn && x+width > Width {
			x, y = leftMargin, y+legendHeight
		}
		fmt.Fprintf(b, `<path class="line s%d%s" d="M%s %sh18"/><text x="%s" y="%s">%s</text>`, k.Colour, k.class(),
			Px(x), Px(y-4), Px(x+23), Px(y), html.EscapeString(name))
		x, drawn = x+width, true
	}
	if !drawn {
		return 0
	}
	return y + 7
}

func (k *Curve) class() string {
	s := ""
	if k.Thin {
		s += " thin"
	}
	if k.Dashed {
		s += " dash"
	}
	return s
}

// Cut shortens a name to at most limit characters.
func Cut(text string, limit int) string {
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}

// Px writes a position.
func Px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// scales returns the scales of both axes.
func (c *Chart) scales(upper, lower float64) (x, y scale) {
	x = scale{low: math.Inf(1), high: math.Inf(-1), first: leftMargin, last: Width - RightMargin}
	y = scale{low: math.Inf(1), high: math.Inf(-1), first: lower, last: upper}
	for _, k := range c.Curves {
		for i, v := range k.X {
			x.low, x.high = min(x.low, v), max(x.high, v)
			if Finite(k.Y[i]) {
				y.low, y.high = min(y.low, k.Y[i]), max(y.high, k.Y[i])
			}
		}
	}
	if c.Low < c.High {
		x.low, x.high = c.Low, c.High
	}
	if x.log = c.LogX && x.low > 0; isNarrow(x.low, x.high) {
		x.log, x.low, x.high = false, x.low-0.5, x.high+0.5
	}
	switch {
	case y.low > y.high: // no value is finite
		y.low, y.high = 0, 1
	case y.low == 0 && isNarrow(y.low, y.high):
		y.high = 1
	case isNarrow(y.low, y.high):
		pad := max(math.Abs(y.low)/10, 1e-3)
		y.low, y.high = y.low-pad, y.high+pad
	case y.low > 0 && (c.LogY || !c.Percent && y.high/y.low > 100):
		y.log = true
	}
	if !y.log {
		pad := (y.high - y.low) / 20
		if y.low >= 0 && y.low < (y.high-y.low)/2 {
			y.low = 0
		} else {
			y.low -= pad
		}
		if y.high += pad; c.Percent && y.high > 1 {
			y.high = 1
		}
	}
	return x, y
}

// Finite reports whether a value is a number, and not infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// axes draws the axes, their ticks and names.
func (c *Chart) axes(b *strings.Builder, x, y scale) {
	left, right, lower, upper := x.first, x.last, y.first, y.last
	for _, v := range y.ticks(5, false) {
		at := y.position(v)
		fmt.Fprintf(b, `<path class="rule" d="M%s %sH%s"/><text class="soft" x="%s" y="%s" `+
			`text-anchor="end">%s</text>`,
			Px(left), Px(at), Px(right), Px(left-6), Px(at+4), c.number(v))
	}
	for _, v := range x.ticks(6, c.Integer) {
		at := x.position(v)
		fmt.Fprintf(b, `<path class="axis" d="M%s %sv4"/><text class="soft" x="%s" y="%s" `+
			`text-anchor="middle">%s</text>`,
			Px(at), Px(lower), Px(at), Px(lower+17), Short(v))
	}
	fmt.Fprintf(b, `<path class="axis" d="M%s %sV%sH%s"/>`, Px(left), Px(upper), Px(lower), Px(right))
	fmt.Fprintf(b, `<text class="soft" x="%s" y="%s" text-anchor="end">%s</text>`, Px(right), Px(lower+30),
		html.EscapeString(c.X))
}

// number writes a value of the vertical axis.
func (c *Chart) number(v float64) string {
	if c.Percent {
		return Short(math.Round(v*1e5)/1e3) + " %"
	}
	return Short(v)
}

// Short writes a number with at most four significant digits.
func Short(v float64) string {
	if math.Abs(v) < 1e-12 {
		return "0" // and not -0
	}
	if a := math.Abs(v); a >= 1e4 && a < 1e6 {
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// draw draws a curve: a line with gaps where a value is not finite. If there are few values, it also draws
// dots with the values.
func (k *Curve) draw(b *strings.Builder, c *Chart, x, y scale) {
	const dots = 40
	var path strings.Builder
	pen := false
	xs, ys := thinned(k.X, k.Y)
	for i := range xs {
		if !Finite(ys[i]) {
			if pen = false; k.Gaps {
				continue
			}
			fmt.Fprintf(b, `<text class="f4" x="%s" y="%s" text-anchor="middle">✕<title>%s %s: no `+
				`number</title></text>`,
				Px(x.position(xs[i])), Px(y.last+10), html.EscapeString(c.X), Short(xs[i]))
			continue
		}
		command := "L"
		if !pen {
			command = "M"
		}
		path.WriteString(command + Px(x.position(xs[i])) + " " + Px(y.position(ys[i])))
		if k.Gaps && !pen {
			path.WriteString("h0") // a line of length 0 is a dot, for a value between two gaps
		}
		pen = true
	}
	if path.Len() > 0 {
		fmt.Fprintf(b, `<path class="line s%d%s" d="%s"/>`, k.Colour, k.class(), path.String())
	}
	if k.Thin || len(xs) > dots {
		return
	}
	for i := range xs {
		if Finite(ys[i]) {
			fmt.Fprintf(b, `<circle class="f%d" cx="%s" cy="%s" r="2.6"><title>%s %s: %s %s</title></circle>`,
				k.Colour,
				Px(x.position(xs[i])), Px(y.position(ys[i])), html.EscapeString(c.X), Short(xs[i]),
				html.EscapeString(k.Name),
				c.number(ys[i]))
		}
	}
}
