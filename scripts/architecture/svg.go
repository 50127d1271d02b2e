package main

import (
	"fmt"
	"strings"
)

// Sizes in pixels.
const (
	width     = 960
	rowHeight = 84
	boxWidth  = 232
	boxHeight = 44
)

// centre returns the middle of box i in a row of n boxes, in pixels.
func centre(i, n int) int { return width * (2*i + 1) / (2 * n) }

const style = `<style>
svg{background:#fff} text{font:13px sans-serif;fill:#1b1f24;text-anchor:middle}
.name{font-weight:bold;font-size:15px}
.box{fill:#eef3fa;stroke:#5b7ba6} .ground{fill:#f4f0e6;stroke:#a68f5b} .arrow{stroke:#7d8590;stroke-width:1.3}
@media (prefers-color-scheme:dark){svg{background:#0d1117} text{fill:#e6edf3} .box{fill:#15233a}
.ground{fill:#2b2618}}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0,0 L8,4 L0,8 z" fill="#7d8590"/></marker></defs>
`

// svg draws a layout. Arrows are drawn first, so that boxes cover the lines behind them.
func svg(l layout) string {
	height := rowHeight*len(l.rows) + rowHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" `+
		`aria-label="The folders of bnctl and which needs which">`+"\n", width, height)
	b.WriteString(style)
	at := map[string][2]int{}
	for r, row := range l.rows {
		for i, name := range row {
			at[name] = [2]int{centre(i, len(row)), rowHeight*r + rowHeight/2}
		}
	}
	for _, a := range l.arrows {
		arrow(&b, at[a[0]], at[a[1]])
	}
	for _, row := range l.rows {
		for _, name := range row {
			box(&b, "box", name, at[name], boxWidth)
		}
	}
	for i, name := range ground {
		box(&b, "ground", name, [2]int{centre(i, len(ground)), height - rowHeight/2}, width/len(ground)-20)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func arrow(b *strings.Builder, from, to [2]int) {
	y1, y2 := from[1]+boxHeight/2, to[1]-boxHeight/2-1
	x1, x2 := from[0], to[0]
	if from[1] == to[1] { // folders that need each other are drawn side by side
		y1, y2 = from[1], to[1]
		side := boxWidth / 2
		if x1 > x2 {
			side = -side
		}
		x1, x2 = x1+side, x2-side
	}
	fmt.Fprintf(b, `<line class="arrow" x1="%d" y1="%d" x2="%d" y2="%d" marker-end="url(#tip)"/>`+"\n",
		x1, y1, x2, y2)
}

func box(b *strings.Builder, class, name string, corner [2]int, width int) {
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", class,
		corner[0]-width/2,
		corner[1]-boxHeight/2, width, boxHeight)
	fmt.Fprintf(b, `<text class="name" x="%d" y="%d">%s</text><text x="%d" y="%d">%s</text>`+"\n",
		corner[0], corner[1]-4, name, corner[0], corner[1]+14, captions[name])
}
