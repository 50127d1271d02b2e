package chart

import (
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/bnctl/bnctl/internal/style"
)

// Figure is a drawing of numbers: a Chart, or Rows.
type Figure interface {
	// Draw returns the elements, without the svg element around them, and the height; the width is Width.
	Draw() (elements string, height float64)
	inWords() string
}

// PageOf draws a figure for a page, which provides the style.
func PageOf(f Figure) template.HTML {
	elements, height := f.Draw()
	return InPage(elements, f.inWords(), Width, height)
}

// FileOf draws a figure as a separate file, below a title.
func FileOf(f Figure, title string) []byte {
	elements, height := f.Draw()
	elements, width, height := Stacked([]Panel{{elements, title, Width, height}}, 1)
	return InFile(elements, title, width, height)
}

// InPage wraps a drawing for a page, which provides the style. label describes the drawing.
func InPage(elements, label string, width, height float64) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="chart" viewBox="0 0 %s %s" role="img" `+
		`aria-label="%s">%s</svg>`,
		Px(width), Px(height), html.EscapeString(label), elements))
}

// InFile wraps a drawing as a separate file, with its style, light and dark.
func InFile(elements, label string, width, height float64) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 %s %s" width="%s" `+
		`height="%s" `+
		`role="img"><title>%s</title><style>%s</style><rect class="paper" width="100%%" `+
		`height="100%%"/>`,
		Px(width), Px(height), Px(width), Px(height), html.EscapeString(label), drawingStyle())
	b.WriteString(elements)
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// drawingStyle returns the part of the style sheet that drawings need: colours, and the
// rules of charts.
func drawingStyle() string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(style.CSS()) {
		begins := strings.HasPrefix(line, ":root") ||
			strings.HasPrefix(line, "@media screen and (prefers-color-scheme")
		if begins || inside || strings.HasPrefix(line, ".chart") {
			b.WriteString(line)
		}
		switch {
		case begins:
			inside = !strings.HasSuffix(line, "}\n")
		case inside:
			inside = !strings.HasSuffix(line, "}\n")
		}
	}
	return b.String()
}

// Panel is one of several drawings.
type Panel struct {
	Elements, Title string
	Width, Height   float64
}

// Stacked puts drawings into rows with a number of columns, each drawing with its title.
func Stacked(panels []Panel, columns int) (elements string, width, height float64) {
	const head, space = 26.0, 18.0
	var b strings.Builder
	x, y, tallest := 0.0, 0.0, 0.0
	for i, p := range panels {
		if i > 0 && i%columns == 0 {
			x, y, tallest = 0, y+tallest+space, 0
		}
		fmt.Fprintf(&b, `<g transform="translate(%s %s)"><text x="10" y="17" style="font-weight:600">%s</text>`+
			`<g transform="translate(0 %s)">%s</g></g>`, Px(x), Px(y), html.EscapeString(p.Title), Px(head),
			p.Elements)
		x += p.Width + space
		width, tallest = max(width, x), max(tallest, p.Height+head)
	}
	return b.String(), width, y + tallest
}
