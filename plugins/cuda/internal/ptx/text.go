package ptx

import (
	"fmt"
	"strings"
)

// A statement is a line in the body of an entry: a declaration, a label or an instruction. An
// instruction may have a guard.
type statement struct {
	line  int
	guard string // name of a predicate, or empty
	not   bool   // the guard is negated
	op    string
	args  []string
}

// lines has a module's text without comments and empty lines. number[i] is the original number
// of line i, from 1.
type lines struct {
	text   []string
	number []int
	at     int
}

func split(text string) *lines {
	l := &lines{}
	for i, s := range strings.Split(text, "\n") {
		s, _, _ = strings.Cut(s, "//")
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			l.text, l.number = append(l.text, s), append(l.number, i+1)
		}
	}
	return l
}

// next returns the next line and its number. ok is false at the end.
func (l *lines) next() (s string, number int, ok bool) {
	if l.at == len(l.text) {
		return "", 0, false
	}
	l.at++
	return l.text[l.at-1], l.number[l.at-1], true
}

// parse parses the line of a statement.
func parse(s string, line int) (statement, error) {
	st := statement{line: line}
	s, ended := strings.CutSuffix(s, ";")
	if !ended {
		return st, fmt.Errorf("ptx: line %d: %q has no semicolon", line, s)
	}
	if guard, ok := strings.CutPrefix(s, "@"); ok {
		guard, s, _ = strings.Cut(guard, " ")
		st.guard, st.not = strings.CutPrefix(guard, "!")
	}
	op, rest, _ := strings.Cut(s, " ")
	st.op, st.args = op, operands(rest)
	return st, nil
}

// operands splits s at the commas that are not inside braces.
func operands(s string) []string {
	var args []string
	depth, from := 0, 0
	for i, c := range s {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			args, from = append(args, strings.TrimSpace(s[from:i])), i+1
		}
	}
	if last := strings.TrimSpace(s[from:]); last != "" {
		args = append(args, last)
	}
	return args
}
