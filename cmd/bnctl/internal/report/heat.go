package report

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/bnctl/bnctl/internal/chart"
)

// heat is a heat map with a row for each layer and a column for each epoch.
type heat struct {
	Title  string
	Rows   []string    // names of the layers
	Xs     []int       // numbers of the epochs
	Values [][]float64 // [row][column]; NaN: unknown
	Limits [heats - 1]float64
	Unit   string
}

// colour returns the colour of a value, or -1 for NaN.
func (h *heat) colour(v float64) int {
	if math.IsNaN(v) {
		return -1
	}
	for i, limit := range h.Limits {
		if v <= limit {
			return i
		}
	}
	return heats - 1
}

// empty reports whether all values are unknown.
func (h *heat) empty() bool {
	for _, row := range h.Values {
		for _, v := range row {
			if !math.IsNaN(v) {
				return false
			}
		}
	}
	return true
}

// draw returns the heat map as SVG elements, and its height. All cells of a colour are one path. Neighbouring
// cells in a row are one rectangle of the path.
func (h *heat) draw() (string, float64) {
	const names, top = 112.0, 6.0
	width := (chart.Width - names - chart.RightMargin) / float64(len(h.Xs))
	tall := math.Min(math.Max(300/float64(len(h.Rows)), 4), 16)
	var paths [heats]strings.Builder
	var b strings.Builder
	every := int(math.Ceil(11 / tall))
	for i, row := range h.Values {
		y := top + float64(float64(i)*tall)
		if i%every == 0 {
			fmt.Fprintf(&b, `<text class="soft" x="%s" y="%s" text-anchor="end" style="font-size:10px">%s</text>`,
				chart.Px(names-6), chart.Px(y+tall/2+3.5), html.EscapeString(lastCharacters(h.Rows[i], 18)))
		}
		for j := 0; j < len(row); {
			level, first := h.colour(row[j]), j
			for j < len(row) && h.colour(row[j]) == level {
				j++
			}
			if level >= 0 {
				fmt.Fprintf(&paths[level], "M%s %sh%sv%sh-%sz", chart.Px(names+float64(float64(first)*width)),
					chart.Px(y),
					chart.Px(float64(j-first)*width), chart.Px(tall-0.6), chart.Px(float64(j-first)*width))
			}
		}
	}
	for level := range paths {
		if paths[level].Len() > 0 {
			fmt.Fprintf(&b, `<path class="h%d" d="%s"/>`, level, paths[level].String())
		}
	}
	lower := top + float64(tall*float64(len(h.Rows)))
	step := max(1, len(h.Xs)/6)
	for j := 0; j < len(h.Xs); j += step {
		fmt.Fprintf(&b, `<text class="soft" x="%s" y="%s" text-anchor="middle">%d</text>`,
			chart.Px(names+float64(width*(float64(j)+0.5))), chart.Px(lower+15), h.Xs[j])
	}
	h.key(&b, lower+24)
	return b.String(), lower + 50
}

// key draws the legend of the colours.
func (h *heat) key(b *strings.Builder, y float64) {
	const names, cellWidth = 112.0, 42.0
	for i := range heats {
		x := names + float64(cellWidth*float64(i))
		fmt.Fprintf(b, `<path class="h%d" d="M%s %sh%sv7h-%sz"/>`, i, chart.Px(x), chart.Px(y),
			chart.Px(cellWidth-1),
			chart.Px(cellWidth-1))
		if i < heats-1 {
			fmt.Fprintf(b, `<text class="soft" x="%s" y="%s" text-anchor="middle" style="font-size:10px">%s</text>`,
				chart.Px(x+cellWidth), chart.Px(y+18), chart.Short(h.Limits[i]))
		}
	}
	fmt.Fprintf(b, `<text class="soft" x="%s" y="%s" text-anchor="end" style="font-size:10px">%s</text>`,
		chart.Px(names-6),
		chart.Px(y+8), html.EscapeString(h.Unit))
}

// lastCharacters returns the last characters of a name, at most limit of them. They distinguish layers.
func lastCharacters(text string, limit int) string {
	if r := []rune(text); len(r) > limit {
		return "…" + string(r[len(r)-limit+1:])
	}
	return text
}
