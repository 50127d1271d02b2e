package help

import (
	"strings"
	"unicode/utf8"
)

// Fold breaks the lines of a help text that are longer than columns, between words. The text about a flag or
// a command continues below its beginning. If too few columns are left for that, the text begins on a new
// line. Lines of examples are not broken, because users copy them.
func Fold(text string, columns int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if utf8.RuneCountInString(line) <= columns || strings.HasPrefix(line, "      bnctl ") {
			out.WriteString(line + "\n")
			continue
		}
		out.WriteString(strings.Join(folded(line, columns), "\n") + "\n")
	}
	return out.String()
}

// folded breaks one line into several lines.
func folded(line string, columns int) (lines []string) {
	body := strings.TrimLeft(line, " ")
	indent := len(line) - len(body)
	name, text, two := strings.Cut(body, "  ")
	if two && strings.HasPrefix(body, "-") { // the line has the name of a flag, and a text about it
		lines, body, indent = []string{strings.Repeat(" ", indent) + name}, strings.TrimSpace(text), indent+6
	} else if two {
		column := indent + len(name) + len(body) - len(name) - len(strings.TrimLeft(text, " "))
		first := wrapped(strings.TrimSpace(text), columns, column)
		first[0] = strings.Repeat(" ", indent) + name + strings.Repeat(" ",
			column-indent-len(name)) + first[0][column:]
		return first
	}
	return append(lines, wrapped(body, columns, indent)...)
}

// wrapped returns the words of text in lines of at most the given number of columns. Each line is indented.
func wrapped(text string, columns, indent int) (lines []string) {
	space := strings.Repeat(" ", indent)
	line := space
	for word := range strings.FieldsSeq(text) {
		if line != space && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines, line = append(lines, line), space
		}
		if line != space {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
