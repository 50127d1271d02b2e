package data

import (
	"slices"
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// masterSide is the height and width of a master, in cells.
const masterSide = 128

// glyphMaster is a digit of one font as a mask, 1 inside of the digit and 0 outside. The centre of the
// digit's bounding box is at the centre of the mask. The side of a cell is 1/128 em.
type glyphMaster [masterSide * masterSide]uint8

// glyphMasters returns the digits 0 to 9 of every font, font by font.
var glyphMasters = sync.OnceValue(func() []glyphMaster {
	fonts := [][]byte{
		goregular.TTF, gobold.TTF, goitalic.TTF, gobolditalic.TTF, gomedium.TTF, gomediumitalic.TTF,
		gomono.TTF, gomonobold.TTF, gomonoitalic.TTF, gomonobolditalic.TTF,
	}
	masters := make([]glyphMaster, 0, len(fonts)*len(digits))
	for _, ttf := range fonts {
		font, err := sfnt.Parse(ttf)
		if err != nil {
			panic("data: a font of the binary: " + err.Error())
		}
		for digit := range digits {
			var m glyphMaster
			m.fill(outline(font, rune('0'+digit)))
			masters = append(masters, m)
		}
	}
	return masters
})

// line is a straight piece of an outline.
type line struct{ x0, y0, x1, y1 int }

// outline returns the contours of a character as straight lines. They are in font units, so that nothing is
// rounded. unit is the number of font units per cell.
func outline(font *sfnt.Font, r rune) (lines []line, unit int) {
	var b sfnt.Buffer
	ppem := fixed.I(int(font.UnitsPerEm()))
	index, err := font.GlyphIndex(&b, r)
	if err != nil {
		panic("data: a font of the binary: " + err.Error())
	}
	segments, err := font.LoadGlyph(&b, index, ppem, nil)
	if err != nil {
		panic("data: a font of the binary: " + err.Error())
	}
	var at fixed.Point26_6
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			at = s.Args[0]
		case sfnt.SegmentOpLineTo:
			lines = append(lines, line{int(at.X), int(at.Y), int(s.Args[0].X), int(s.Args[0].Y)})
			at = s.Args[0]
		case sfnt.SegmentOpQuadTo:
			lines = appendCurve(lines, at, s.Args[0], s.Args[1])
			at = s.Args[1]
		default:
			panic("data: a font of the binary has cubic curves")
		}
	}
	return lines, int(ppem) / masterSide
}

// appendCurve appends a quadratic Bezier curve as eight lines.
func appendCurve(lines []line, a, b, c fixed.Point26_6) []line {
	const n = 8
	x, y := int(a.X), int(a.Y)
	for i := 1; i <= n; i++ {
		wa, wb, wc := (n-i)*(n-i), 2*i*(n-i), i*i
		x1 := (wa*int(a.X) + wb*int(b.X) + wc*int(c.X)) / (n * n)
		y1 := (wa*int(a.Y) + wb*int(b.Y) + wc*int(c.Y)) / (n * n)
		lines = append(lines, line{x, y, x1, y1})
		x, y = x1, y1
	}
	return lines
}

// fill sets the cells with centres inside of the contours, by the non-zero winding rule.
func (g *glyphMaster) fill(lines []line, unit int) {
	left, top := lines[0].x0, lines[0].y0
	right, bottom := left, top
	for _, l := range lines {
		left, right = min(left, l.x1), max(right, l.x1)
		top, bottom = min(top, l.y1), max(bottom, l.y1)
	}
	x0 := (left+right)/2 - masterSide/2*unit
	y0 := (top+bottom)/2 - masterSide/2*unit
	for row := range masterSide {
		y := y0 + row*unit + unit/2
		winding := 0
		crossings := crossingsAt(lines, y)
		for col, next := 0, 0; col < masterSide; col++ {
			for x := x0 + col*unit + unit/2; next < len(crossings) && crossings[next].x <= x; next++ {
				winding += crossings[next].turn
			}
			if winding != 0 {
				g[row*masterSide+col] = 1
			}
		}
	}
}

// crossing is a point where a contour crosses the middle of a row of cells: its position, and its direction,
// down or up.
type crossing struct{ x, turn int }

// crossingsAt returns the crossings of a row, from left to right.
func crossingsAt(lines []line, y int) []crossing {
	var found []crossing
	for _, l := range lines {
		turn := 1
		if l.y0 > l.y1 {
			l, turn = line{l.x1, l.y1, l.x0, l.y0}, -1
		}
		if l.y0 <= y && y < l.y1 {
			found = append(found, crossing{l.x0 + (l.x1-l.x0)*(y-l.y0)/(l.y1-l.y0), turn})
		}
	}
	slices.SortFunc(found, func(a, b crossing) int { return a.x - b.x })
	return found
}
