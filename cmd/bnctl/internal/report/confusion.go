package report

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/bnctl/bnctl/internal/chart"
)

// heats is the number of colours of a heat map.
const heats = 8

// confusionPanel returns a drawing of the confusion matrix. Rows are labels, and the colour of a cell shows
// its share of the row. If there are few cells, they contain numbers.
func (e *evaluated) confusionPanel() chart.Panel {
	const side, names, topNames = 380.0, 96.0, 70.0
	n := len(e.MatrixClasses)
	cell := math.Min(side/float64(n), 44)
	var b strings.Builder
	for i, row := range e.Matrix {
		class := &e.Classes[e.MatrixClasses[i]]
		y := topNames + float64(float64(i)*cell)
		fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="end"%s>%s</text>`, chart.Px(names-6),
			chart.Px(y+cell/2+4),
			small(cell), html.EscapeString(chart.Cut(class.Name, 14)))
		for j, count := range row {
			x := names + float64(float64(j)*cell)
			level := levelOf(count, class.N, i == j)
			fmt.Fprintf(&b, `<path class="h%d" d="M%s %sh%sv%sh-%sz"><title>%s, predicted as %s: %d</title></path>`,
				level,
				chart.Px(x), chart.Px(y), chart.Px(cell-1), chart.Px(cell-1), chart.Px(cell-1),
				html.EscapeString(class.Name),
				html.EscapeString(e.Classes[e.MatrixClasses[j]].Name), count)
			if n <= 12 && count > 0 {
				fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="middle" style="fill:%s;font-size:11px">%s</text>`,
					chart.Px(x+cell/2), chart.Px(y+cell/2+4), onHeat(level), chart.Short(float64(count)))
			}
		}
	}
	for j := range e.MatrixClasses {
		x := names + float64((float64(j)+0.5)*cell)
		fmt.Fprintf(&b, `<text x="%s" y="%s" transform="rotate(-55 %s %s)"%s>%s</text>`, chart.Px(x),
			chart.Px(topNames-6),
			chart.Px(x),
			chart.Px(topNames-6), small(cell), html.EscapeString(chart.Cut(e.Classes[e.MatrixClasses[j]].Name, 11)))
	}
	extent := float64(float64(n) * cell)
	for i, line := range []string{"rows: label · columns: predicted", "blue: met · warm: taken for another"} {
		fmt.Fprintf(&b, `<text class="soft" x="%s" y="%s">%s</text>`, chart.Px(4),
			chart.Px(topNames+extent+18+float64(float64(i)*16)), line)
	}
	return chart.Panel{Elements: b.String(), Title: "Confusion matrix", Width: math.Max(names+extent+44, 340),
		Height: topNames + extent + 42}
}

// small returns the style for the names of classes if cells are narrow.
func small(cell float64) string {
	if cell < 15 {
		return fmt.Sprintf(` style="font-size:%spx"`, chart.Px(math.Max(cell-2, 7)))
	}
	return ""
}

// levelOf returns the colour of a cell by its share of the labels in its row. Cells of correct predictions
// have cold colours, and cells of confusions warm ones.
func levelOf(count, labels int, met bool) int {
	limits, level := []float64{0.03, 0.1, 0.3}, 4
	if met {
		limits, level = []float64{0.5, 0.8}, 1
	}
	v := ratio(count, labels)
	if count == 0 || math.IsNaN(v) {
		return 0
	}
	for _, limit := range limits {
		if v > limit {
			level++
		}
	}
	return level
}

// onHeat returns the colour of text on a cell with a colour of the heat map.
func onHeat(level int) string {
	return [heats]string{"var(--ink)", "var(--ink)", "var(--ink)", darkOnLight, darkOnLight, darkInk,
		"light-dark(" + lightInk + "," + darkInk + ")", "light-dark(" + lightInk + "," + darkInk + ")"}[level]
}

const (
	darkInk, lightInk = "#20242b", "#ffffff"
	darkOnLight       = "light-dark(" + darkInk + "," + lightInk + ")"
)
