package view

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/bnctl/bnctl/internal/waiting"
)

// Look describes the abilities of a terminal.
type Look struct{ Unicode, Colours bool }

// style is the colour and weight of a span.
type style int

const (
	normal style = iota
	faint
	strong
	good
	middling
	bad
	accent
)

// escapes are the escape sequences that set each style.
var escapes = [...]string{"", "\x1b[2m", "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[36m"}

// span is a piece of text in one style.
type span struct {
	text  string
	style style
}

// line is a line of the view.
type line []span

// text returns the line as it is written to a terminal.
func (l line) text(k Look) string {
	var b strings.Builder
	for _, s := range l {
		if !k.Colours || s.style == normal || strings.TrimSpace(s.text) == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString(escapes[s.style] + s.text + "\x1b[m")
	}
	return b.String()
}

// columns returns the width of the line.
func (l line) columns() int {
	n := 0
	for _, s := range l {
		n += columns(s.text)
	}
	return n
}

// fitted returns the line cut to the given number of columns. It is in ASCII unless the terminal shows
// Unicode.
func (l line) fitted(limit int, g *glyphs) line {
	var out line
	for _, s := range l {
		s.text = cut(g.plain(s.text), limit, g.ellipsis)
		if limit -= columns(s.text); s.text != "" {
			out = append(out, s)
		}
	}
	return out
}

// columns returns the width of text. Wide characters, for example Chinese ones, count two.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x80:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// cut shortens text to the given number of columns, if it is longer, and ends it with mark.
func cut(text string, limit int, mark string) string {
	if columns(text) <= limit {
		return text
	}
	limit -= columns(mark)
	if limit < 0 {
		return ""
	}
	for i, r := range text {
		if limit -= runeColumns(r); limit < 0 {
			return text[:i] + mark
		}
	}
	return text
}

// padded returns text cut or filled with blanks to exactly the given number of columns.
func padded(text string, n int, mark string) string {
	text = cut(text, n, mark)
	return text + strings.Repeat(" ", max(n-columns(text), 0))
}

// alignRight returns text with blanks before it, so that it ends at column n.
func alignRight(text string, n int) string {
	return strings.Repeat(" ", max(n-columns(text), 0)) + text
}

// glyphs are the characters that a view is drawn with.
type glyphs struct {
	unicode                      bool
	done, open                   string // parts of a progress bar
	compute, wait, input, nought string // parts of a bar of times
	levels                       [9]string
	cross, dot, ellipsis         string
}

var fine = glyphs{unicode: true, done: "━", open: "─", compute: "█", wait: "▒", input: "░", nought: " ",
	levels: [9]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, cross: "×", dot: " · ", ellipsis: "…"}

var ascii = glyphs{done: "#", open: "-", compute: "#", wait: "=", input: "-", nought: " ",
	levels: [9]string{" ", "_", ".", "-", "~", "=", "+", "*", "#"}, cross: "x", dot: " - ", ellipsis: "..."}

// plain returns text in the characters that the terminal can show.
func (g *glyphs) plain(text string) string {
	if g.unicode {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, text)
}

// limited returns the size of the view on a terminal. The view leaves one column free, because a full line
// would wrap, and has a maximum number of columns, because long lines are hard to read. It also leaves rows
// free for the lines that were printed above it.
func limited(s waiting.Size) waiting.Size {
	const widest, highest = 120, 34
	rows := s.Rows - 1
	if s.Rows >= 18 {
		rows = s.Rows * 2 / 3
	}
	return waiting.Size{Columns: min(s.Columns-1, widest), Rows: min(rows, highest)}
}
