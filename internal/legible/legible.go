// Package legible makes text from untrusted sources safe to print on a
// terminal.
//
// Use it for everything that a program prints from files, plugins and messages
// of other programs.
package legible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns text with control characters (escapes, bells, newlines, marks that change
// the direction of writing) and invalid UTF-8 replaced by escape sequences, for example
// "\x1b".
func Text(text string) string {
	if strings.IndexFunc(text, illegible) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case illegible(r):
			b.WriteString(strings.Trim(fmt.Sprintf("%+q", r), "'"))
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// illegible reports whether a terminal shows no character for a rune. The joiners inside scripts and emoji
// are harmless.
func illegible(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	return !unicode.IsPrint(r) && r != nonJoiner && r != joiner
}

// Lines is text whose newlines Sprintf keeps; Text is applied to each line.
type Lines string

// Format implements fmt.Formatter.
func (l Lines) Format(f fmt.State, _ rune) {
	for i, line := range strings.Split(string(l), "\n") {
		if i > 0 {
			fmt.Fprintln(f)
		}
		fmt.Fprint(f, Text(line))
	}
}

// Sprintf is like fmt.Sprintf but with Text applied to every argument. Only the format
// itself, and arguments of type Lines, begin new lines.
func Sprintf(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, a := range args {
		switch a.(type) {
		case Lines, bool, int, int64, uint64, float32, float64:
			safe[i] = a
		default:
			safe[i] = argument{a}
		}
	}
	return fmt.Sprintf(format, safe...)
}

// argument is a value that is formatted legibly.
type argument struct{ value any }

// Format implements fmt.Formatter.
func (a argument) Format(f fmt.State, verb rune) {
	fmt.Fprint(f, Text(fmt.Sprintf(fmt.FormatString(f, verb), a.value)))
}
