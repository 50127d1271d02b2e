package view

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Sizes of the cells in the picture, in pixels.
const (
	cellWidth, cellHeight = 8.4, 18.0
	margin, titleHeight   = 16.0, 34.0
)

// colour has the colour of each style in the picture.
var colour = [...]string{normal: "#c9d1d9", faint: "#8b949e", strong: "#f0f6fc", good: "#3fb950",
	middling: "#d29922", bad: "#f85149", accent: "#58a6ff"}

// svg draws lines as a terminal shows them. Block characters become rectangles, so that they fit together in
// any font.
func svg(title string, lines []line, columns int) string {
	width := float64(columns)*cellWidth + 2*margin
	height := float64(len(lines))*cellHeight + titleHeight + margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`+"\n",
		width, height, "A terminal that shows a training run of bnctl: bars, curves, devices and events")
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="9" fill="#0d1117"/><g fill="#30363d">`, width, height)
	for i := range 3 {
		fmt.Fprintf(&b, `<circle cx="%.0f" cy="17" r="5.5"/>`, margin+6+float64(18*i))
	}
	b.WriteString("</g>\n" + `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" ` +
		`font-size="14" xml:space="preserve">` + "\n")
	fmt.Fprintf(&b, `<text x="%.0f" y="22" fill="#8b949e" text-anchor="middle">%s</text>`+"\n", width/2, escaped(title))
	for row, l := range lines {
		column := 0
		for _, s := range l {
			for _, group := range groups(s.text) {
				drawGroup(&b, group, colour[s.style], margin+float64(column)*cellWidth,
					titleHeight+float64(row)*cellHeight)
				column += len([]rune(group))
			}
		}
	}
	return b.String() + "</g>\n</svg>\n"
}

// groups divides text into groups. A series of equal block characters is a group, and so is the text between
// block characters.
func groups(text string) (out []string) {
	for _, r := range text {
		last := ""
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		first, _ := block(r)
		was, _ := block([]rune(last + " ")[0])
		if last != "" && first == was && (first == 0 || strings.HasPrefix(last, string(r))) {
			out[len(out)-1] += string(r)
		} else {
			out = append(out, string(r))
		}
	}
	return out
}

// block returns the height of a block character, in cells, and its opacity. The height is 0 for other
// characters.
func block(r rune) (height, opacity float64) {
	switch {
	case r >= '▁' && r <= '█':
		return float64(r-'▁'+1) / 8, 1
	case r == '▒':
		return 0.999, 0.75
	case r == '░':
		return 0.998, 0.6
	case r == '━':
		return 0.3, 1
	case r == '─':
		return 0.1, 0.7
	}
	return 0, 1
}

// drawGroup draws a group of cells, starting at x, y.
func drawGroup(b *strings.Builder, group, fill string, x, y float64) {
	cells := []rune(group)
	height, opacity := block(cells[0])
	width := float64(len(cells)) * cellWidth
	if strings.TrimSpace(group) == "" {
		return
	}
	if height == 0 {
		lead := float64(len(group)-len(strings.TrimLeft(group, " "))) * cellWidth
		text := strings.TrimSpace(group)
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s" textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
			x+lead, y+13, fill, float64(len([]rune(text)))*cellWidth, escaped(text))
		return
	}
	top, tall := y+cellHeight*(1-height), cellHeight*height
	if r := cells[0]; r == '━' || r == '─' {
		tall = 10 * height
		top = y + cellHeight/2 - tall/2
	} else if height > 0.99 {
		top, tall = y+1, cellHeight-1 // leaves a gap between the bars of devices
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" opacity="%.2f"/>`+"\n", x, top, width,
		tall, fill, opacity)
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // writing to memory returns no error
	return b.String()
}
