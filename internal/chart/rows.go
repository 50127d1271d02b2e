package chart

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Rows is a drawing with a row for each name and a common axis. A row is a bar that ends at its mean, or has
// a dot for each value and a ring around their mean.
type Rows struct {
	Title, X string
	Percent  bool // values are shares of 1
	Bars     bool
	Of       []Row
}

// Row is a row of Rows.
type Row struct {
	Name   string
	Colour int
	Values []float64
	Mean   float64
}

// rowHeight is the height of a row, and longestName the number of characters of its name that are shown.
const rowHeight, longestName = 18.0, 30

// Draw returns the elements of the drawing, without the svg element around them, and its height.
func (r *Rows) Draw() (string, float64) {
	var b strings.Builder
	const upper = 8.0
	lower := upper + float64(rowHeight*float64(len(r.Of)))
	x := r.scale()
	c := Chart{Percent: r.Percent, X: r.X}
	for _, v := range x.ticks(5, false) {
		fmt.Fprintf(&b, `<path class="rule" d="M%s %sV%s"/><text class="soft" x="%s" y="%s" `+
			`text-anchor="middle">%s</text>`, Px(x.position(v)), Px(upper), Px(lower), Px(x.position(v)), Px(lower+17),
			c.number(v))
	}
	fmt.Fprintf(&b, `<path class="axis" d="M%s %sV%sH%s"/>`, Px(x.first), Px(upper), Px(lower), Px(x.last))
	for i := range r.Of {
		r.Of[i].draw(&b, r, x, upper+float64(rowHeight*(float64(i)+0.5)))
	}
	fmt.Fprintf(&b, `<text class="soft" x="%s" y="%s" text-anchor="end">%s</text>`, Px(x.last), Px(lower+32),
		html.EscapeString(r.X))
	return b.String(), lower + 40
}

// scale returns the scale of the axis, to the right of the names.
func (r *Rows) scale() scale {
	letters, x := 0, scale{low: math.Inf(1), high: math.Inf(-1), last: Width - 24}
	for _, row := range r.Of {
		letters = max(letters, len([]rune(Cut(row.Name, longestName))))
		for _, v := range append([]float64{row.Mean}, row.Values...) {
			if Finite(v) {
				x.low, x.high = min(x.low, v), max(x.high, v)
			}
		}
	}
	x.first = float64(letter*float64(letters)) + 18
	pad := (x.high - x.low) / 40
	switch {
	case x.low > x.high:
		x.low, x.high, pad = 0, 1, 0
	case r.Bars:
		if x.low, x.high = min(x.low, 0), max(x.high, 0); isNarrow(x.low, x.high) {
			x.high = 1
		}
	case isNarrow(x.low, x.high):
		pad = max(math.Abs(x.low)/10, 1e-3)
	}
	if x.high += pad; !r.Bars {
		x.low -= pad
	}
	return x
}

// draw draws a row around a height.
func (w *Row) draw(b *strings.Builder, r *Rows, x scale, y float64) {
	c := Chart{Percent: r.Percent}
	fmt.Fprintf(b, `<text x="%s" y="%s" text-anchor="end">%s</text>`, Px(x.first-10), Px(y+4),
		html.EscapeString(Cut(w.Name, longestName)))
	title := html.EscapeString(w.Name) + ": "
	switch {
	case !Finite(w.Mean):
		return
	case r.Bars:
		fmt.Fprintf(b, `<path class="f%d" d="M%s %sH%sv12H%sz"><title>%s%s</title></path>`, w.Colour,
			Px(x.position(0)), Px(y-6), Px(x.position(w.Mean)), Px(x.position(0)), title, c.number(w.Mean))
		return
	}
	for _, v := range w.Values {
		if Finite(v) {
			fmt.Fprintf(b, `<circle class="f%d" cx="%s" cy="%s" r="2.2"><title>%s%s</title></circle>`, w.Colour,
				Px(x.position(v)), Px(y), title, c.number(v))
		}
	}
	fmt.Fprintf(b, `<circle class="line s%d" cx="%s" cy="%s" r="5.5"><title>%smean %s</title></circle>`,
		w.Colour, Px(x.position(w.Mean)), Px(y), title, c.number(w.Mean))
}

// inWords describes the rows for readers who cannot see them.
func (r *Rows) inWords() string {
	low, high := -1, -1
	for i, row := range r.Of {
		if !Finite(row.Mean) {
			continue
		}
		if low < 0 || row.Mean < r.Of[low].Mean {
			low = i
		}
		if high < 0 || row.Mean > r.Of[high].Mean {
			high = i
		}
	}
	if low < 0 {
		return r.Title
	}
	c := Chart{Percent: r.Percent}
	return fmt.Sprintf("%s, by row: from %s (%s) to %s (%s)", r.Title, c.number(r.Of[low].Mean), r.Of[low].Name,
		c.number(r.Of[high].Mean), r.Of[high].Name)
}
