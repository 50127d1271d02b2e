package study

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// margin is what stays free on every side of a drawing: letters of a font
// that is wider than the one which was measured are not cut.
const margin = 12 // points

// render draws p as an SVG element whose colours are variables, with its
// legend above the data, where it covers none. The height is without legend.
func render(p *plot.Plot, width, height vg.Length) ([]byte, error) {
	legend := p.Legend
	p.Legend = plot.NewLegend()
	above := legend.Rectangle(draw.Canvas{}).Size().Y
	if above > 0 {
		above += vg.Points(10)
	}
	canvas := vgsvg.New(width, height+above)
	inside := draw.Crop(draw.New(canvas), margin, -margin, margin, -margin)
	legend.Draw(inside)
	p.Draw(draw.Crop(inside, 0, 0, 0, -above))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	return []byte(coloured(measured(prologue().ReplaceAllString(b.String(), "$1")))), nil
}

var (
	// prologue is what stands before the element of a file.
	prologue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^.*?(<svg)`)
	})
	// written is a text of a file: attributes, size of the font in px, letters.
	written = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)<text ([^>]*?font-size:([0-9.]+)px[^>]*)>([^<]*)</text>`)
	})
	// painted is a colour of a file.
	painted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(fill|stroke):(#[0-9A-F]{6})`)
	})
)

// fonts are as wide as Liberation Sans, which the drawings are laid out for.
const fonts = "'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"

// measured gives every text the length that it was laid out for, so that it
// takes no more room where none of the fonts is to be had.
func measured(svg string) string {
	svg = strings.ReplaceAll(svg, "font-family:Liberation Sans", "font-family:"+fonts)
	return written().ReplaceAllStringFunc(svg, func(text string) string {
		m := written().FindStringSubmatch(text)
		size, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return text
		}
		return fmt.Sprintf(`<text textLength="%.2f" lengthAdjust="spacingAndGlyphs" %s>%s</text>`,
			widthOf(html.UnescapeString(m[3]), size), m[1], m[3])
	})
}

// widthOf returns the points that a line takes in Liberation Sans.
func widthOf(line string, size float64) float64 {
	f := font.From(plot.DefaultFont, vg.Points(size))
	f.Variant = "Sans"
	width, _, _ := plot.DefaultTextHandler.Box(line, f)
	return width.Points()
}

// coloured makes variables of the colours. Programs that know none, some
// viewers of pictures among them, keep the colour that stands before.
func coloured(svg string) string {
	names := map[string]string{}
	name := func(c color.RGBA, n string) { names[fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B)] = n }
	name(ink, "ink")
	name(faint, "faint")
	for i, c := range colours {
		name(c, fmt.Sprintf("series%d", i))
	}
	return painted().ReplaceAllStringFunc(svg, func(s string) string {
		m := painted().FindStringSubmatch(s)
		n, ok := names[m[2]]
		if !ok {
			return s
		}
		return fmt.Sprintf("%s;%s:var(--%s,%s)", s, m[1], n, strings.ToLower(m[2]))
	})
}
