package legible

import (
	"strings"
	"unicode/utf8"
)

// Fold breaks a line that is longer than a number of columns between fields, which are separated by
// two spaces or a middle dot, and indents the rest. A terminal would break it anywhere, even between
// a number and its unit. A field that is too long by itself is not broken.
func Fold(line string, columns int) string {
	const indent = "   "
	width := utf8.RuneCountInString
	if width(line) <= columns {
		return line
	}
	var out strings.Builder
	used := 0
	for i, field := range fields(line) {
		if i > 0 && used+width(strings.TrimRight(field, " ·")) > columns {
			out.WriteString("\n" + indent)
			used = len(indent)
			field = strings.TrimLeft(field, " ")
		}
		out.WriteString(field)
		used += width(field)
	}
	folded := strings.Split(out.String(), "\n")
	for i := range folded[:len(folded)-1] {
		folded[i] = strings.TrimRight(folded[i], " ")
	}
	return strings.Join(folded, "\n")
}

// fields splits a line before two spaces, and after a middle dot.
func fields(line string) []string {
	var out []string
	for line != "" {
		start := len(line) - len(strings.TrimLeft(line, " "))
		end := len(line)
		if i := strings.Index(line[start:], "  "); i >= 0 {
			end = start + i
		}
		if i := strings.Index(line[start:], " · "); i >= 0 && start+i < end {
			end = start + i + len(" · ")
		}
		out, line = append(out, line[:end]), line[end:]
	}
	return out
}
