package report

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// heats is how many colours a map of heat has.
const heats = 8

// confusionPanel draws the confusion matrix: rows are labels, the colour of a cell says its share
// of the row. Numbers stand in the cells where there are few.
func (e *evaluated) confusionPanel() panel {
	const side, names, topNames = 380.0, 96.0, 70.0
	n := len(e.MatrixClasses)
	cell := math.Min(side/float64(n), 44)
	var b strings.Builder
	for i, row := range e.Matrix {
		class := &e.Classes[e.MatrixClasses[i]]
		y := topNames + float64(float64(i)*cell)
		fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="end"%s>%s</text>`, px(names-6), px(y+cell/2+4),
			small(cell), html.EscapeString(cut(class.Name, 14)))
		for j, count := range row {
			x := names + float64(float64(j)*cell)
			level := levelOf(count, class.N, i == j)
			fmt.Fprintf(&b, `<path class="h%d" d="M%s %sh%sv%sh-%sz"><title>%s, predicted as %s: %d</title></path>`,
				level,
				px(x), px(y), px(cell-1), px(cell-1), px(cell-1), html.EscapeString(class.Name),
				html.EscapeString(e.Classes[e.MatrixClasses[j]].Name), count)
			if n <= 12 && count > 0 {
				fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="middle" style="fill:%s;font-size:11px">%s</text>`,
					px(x+cell/2), px(y+cell/2+4), onHeat(level), short(float64(count)))
			}
		}
	}
	for j := range e.MatrixClasses {
		x := names + float64((float64(j)+0.5)*cell)
		fmt.Fprintf(&b, `<text x="%s" y="%s" transform="rotate(-55 %s %s)"%s>%s</text>`, px(x), px(topNames-6),
			px(x),
			px(topNames-6), small(cell), html.EscapeString(cut(e.Classes[e.MatrixClasses[j]].Name, 11)))
	}
	extent := float64(float64(n) * cell)
	fmt.Fprintf(&b, `<text class="soft" x="%s" y="%s">rows: label · columns: predicted · blue: met · warm: `+
		`taken for another</text>`,
		px(4), px(topNames+extent+18))
	return panel{b.String(), "Confusion matrix", math.Max(names+extent+44, 340), topNames + extent + 26}
}

// small is the style of names beside narrow cells.
func small(cell float64) string {
	if cell < 15 {
		return fmt.Sprintf(` style="font-size:%spx"`, px(math.Max(cell-2, 7)))
	}
	return ""
}

// levelOf returns the colour of a cell by its share of the labels of the row: cold colours are for labels
// that were met, warm ones for labels that were taken for another class.
func levelOf(count, labels int, met bool) int {
	limits, level := []float64{0.03, 0.1, 0.3}, 4
	if met {
		limits, level = []float64{0.5, 0.8}, 1
	}
	v := over(count, labels)
	if count == 0 || math.IsNaN(v) {
		return 0
	}
	for _, most := range limits {
		if v > most {
			level++
		}
	}
	return level
}

// onHeat is the colour of letters on a colour of a map of heat.
func onHeat(level int) string {
	switch {
	case level <= 2:
		return "var(--ink)"
	case level <= 3:
		return "light-dark(#20242b,#fff)"
	case level <= 5:
		return "#20242b"
	}
	return "light-dark(#fff,#20242b)"
}
