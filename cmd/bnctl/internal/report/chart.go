package report

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Size of a chart and of its margins, in units of the drawing: pixels at its own size.
const (
	chartWidth, chartHeight              = 480.0, 270.0
	leftMargin, rightMargin, lowerMargin = 52.0, 12.0, 34.0
	legendHeight                         = 18.0
	letter                               = 6.8 // width of one, about
)

// curve is a line of a chart. A point whose y is no number is a mark at the upper edge.
type curve struct {
	Name         string
	X, Y         []float64
	Colour       int
	Thin, Dashed bool
}

// chart is a drawing of curves.
type chart struct {
	Title, X, Y string
	Percent     bool // values are shares of 1
	Integer     bool // x has whole numbers
	Curves      []curve
}

// empty reports whether there is nothing to draw.
func (c *chart) empty() bool {
	for _, k := range c.Curves {
		if len(k.X) > 0 {
			return false
		}
	}
	return true
}

// scale maps values to positions.
type scale struct {
	low, high, from, to float64
	log                 bool
}

func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.from + float64((v-low)/(high-low)*(s.to-s.from))
}

// draw returns the elements of a chart, without the svg element around them, and its height.
func (c *chart) draw() (string, float64) {
	var b strings.Builder
	upper := c.legend(&b) + 8
	height := chartHeight + upper - 8
	x, y := c.scales(upper, height-lowerMargin)
	c.axes(&b, x, y)
	for _, k := range c.Curves {
		k.draw(&b, c, x, y)
	}
	return b.String(), height
}

// legend draws the names of the curves, and returns the height that it takes.
func (c *chart) legend(b *strings.Builder) float64 {
	x, y := leftMargin, 13.0
	drawn := false
	for _, k := range c.Curves {
		if k.Name == "" || len(k.X) == 0 {
			continue
		}
		name := cut(k.Name, 48)
		width := 26 + float64(letter*float64(len([]rune(name)))) + 10
		if drawn && x+width > chartWidth {
			x, y = leftMargin, y+legendHeight
		}
		fmt.Fprintf(b, `<path class="line s%d%s" d="M%s %sh18"/><text x="%s" y="%s">%s</text>`, k.Colour, k.class(),
			px(x), px(y-4), px(x+23), px(y), html.EscapeString(name))
		x, drawn = x+width, true
	}
	if !drawn {
		return 0
	}
	return y + 7
}

func (k *curve) class() string {
	s := ""
	if k.Thin {
		s += " thin"
	}
	if k.Dashed {
		s += " dash"
	}
	return s
}

// cut shortens a name to a number of characters.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// px writes a position.
func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// scales returns the scales of both axes.
func (c *chart) scales(upper, lower float64) (x, y scale) {
	x = scale{low: math.Inf(1), high: math.Inf(-1), from: leftMargin, to: chartWidth - rightMargin}
	y = scale{low: math.Inf(1), high: math.Inf(-1), from: lower, to: upper}
	for _, k := range c.Curves {
		for i, v := range k.X {
			x.low, x.high = min(x.low, v), max(x.high, v)
			if finite(k.Y[i]) {
				y.low, y.high = min(y.low, k.Y[i]), max(y.high, k.Y[i])
			}
		}
	}
	if x.low >= x.high {
		x.low, x.high = x.low-0.5, x.high+0.5
	}
	switch {
	case y.low > y.high: // no value is finite
		y.low, y.high = 0, 1
	case !c.Percent && y.low > 0 && y.high/y.low > 100:
		y.log = true
	case y.low == y.high:
		pad := max(math.Abs(y.low)/10, 1e-3)
		y.low, y.high = y.low-pad, y.high+pad
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

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// axes draws the axes, their ticks and names.
func (c *chart) axes(b *strings.Builder, x, y scale) {
	left, right, lower, upper := x.from, x.to, y.from, y.to
	for _, v := range y.ticks(5, false) {
		at := y.at(v)
		fmt.Fprintf(b, `<path class="rule" d="M%s %sH%s"/><text class="soft" x="%s" y="%s" `+
			`text-anchor="end">%s</text>`,
			px(left), px(at), px(right), px(left-6), px(at+4), c.number(v))
	}
	for _, v := range x.ticks(6, c.Integer) {
		at := x.at(v)
		fmt.Fprintf(b, `<path class="axis" d="M%s %sv4"/><text class="soft" x="%s" y="%s" `+
			`text-anchor="middle">%s</text>`,
			px(at), px(lower), px(at), px(lower+17), short(v))
	}
	fmt.Fprintf(b, `<path class="axis" d="M%s %sV%sH%s"/>`, px(left), px(upper), px(lower), px(right))
	fmt.Fprintf(b, `<text class="soft" x="%s" y="%s" text-anchor="end">%s</text>`, px(right), px(lower+30),
		html.EscapeString(c.X))
}

// number writes a value of the vertical axis.
func (c *chart) number(v float64) string {
	if c.Percent {
		return short(math.Round(v*1e5)/1e3) + " %"
	}
	return short(v)
}

// short writes a number with at most four digits that say something.
func short(v float64) string {
	if math.Abs(v) < 1e-12 {
		return "0" // and not -0
	}
	if a := math.Abs(v); a >= 1e4 && a < 1e6 {
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// ticks returns about n round values of the scale.
func (s scale) ticks(n int, integer bool) []float64 {
	if s.log {
		return s.decades()
	}
	raw := (s.high - s.low) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= raw*0.999 {
			step *= m
			break
		}
	}
	if integer {
		step = max(step, 1)
	}
	var at []float64
	for k := math.Ceil(s.low/step - 1e-9); k*step <= s.high+step*1e-9; k++ {
		at = append(at, k*step)
	}
	return at
}

// decades returns powers of ten, or with few of them also twice and five times these.
func (s scale) decades() []float64 {
	low, high := math.Floor(math.Log10(s.low)), math.Ceil(math.Log10(s.high))
	every := max(1, math.Ceil((high-low)/8))
	var at []float64
	for e := low; e <= high; e += every {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if v >= s.low && v <= s.high && (m == 1 || high-low <= 2) {
				at = append(at, v)
			}
		}
	}
	return at
}

// draw draws a curve: a line with gaps where a value is no number, and dots with their values where
// there are few.
func (k *curve) draw(b *strings.Builder, c *chart, x, y scale) {
	const dots = 40
	var path strings.Builder
	pen := false
	xs, ys := thinned(k.X, k.Y)
	for i := range xs {
		if !finite(ys[i]) {
			pen = false
			fmt.Fprintf(b, `<text class="f4" x="%s" y="%s" text-anchor="middle">✕<title>%s %s: no `+
				`number</title></text>`,
				px(x.at(xs[i])), px(y.to+10), html.EscapeString(c.X), short(xs[i]))
			continue
		}
		command := "L"
		if !pen {
			command = "M"
		}
		path.WriteString(command + px(x.at(xs[i])) + " " + px(y.at(ys[i])))
		pen = true
	}
	if path.Len() > 0 {
		fmt.Fprintf(b, `<path class="line s%d%s" d="%s"/>`, k.Colour, k.class(), path.String())
	}
	if k.Thin || len(xs) > dots {
		return
	}
	for i := range xs {
		if finite(ys[i]) {
			fmt.Fprintf(b, `<circle class="f%d" cx="%s" cy="%s" r="2.6"><title>%s %s: %s %s</title></circle>`,
				k.Colour,
				px(x.at(xs[i])), px(y.at(ys[i])), html.EscapeString(c.X), short(xs[i]), html.EscapeString(k.Name),
				c.number(ys[i]))
		}
	}
}

// mostPoints is how many points of a curve are drawn.
const mostPoints = 600

// thinned returns a curve with at most mostPoints points: of each range the smallest and the largest value,
// in their order. What is no number stays.
func thinned(xs, ys []float64) (x, y []float64) {
	if len(xs) <= mostPoints {
		return xs, ys
	}
	ranges := mostPoints / 2
	for r := range ranges {
		from, to := r*len(xs)/ranges, (r+1)*len(xs)/ranges
		low, high, none := -1, -1, -1
		for i := from; i < to; i++ {
			switch {
			case !finite(ys[i]):
				none = i
			case low < 0:
				low, high = i, i
			case ys[i] < ys[low]:
				low = i
			case ys[i] > ys[high]:
				high = i
			}
		}
		for _, i := range inOrder(low, high, none) {
			x, y = append(x, xs[i]), append(y, ys[i])
		}
	}
	return x, y
}

// inOrder returns the indexes that are there, ascending, each once.
func inOrder(of ...int) []int {
	var out []int
	for {
		next := -1
		for _, i := range of {
			if i >= 0 && (len(out) == 0 || i > out[len(out)-1]) && (next < 0 || i < next) {
				next = i
			}
		}
		if next < 0 {
			return out
		}
		out = append(out, next)
	}
}
