package tables

import (
	"errors"
	"strings"
)

// isBracketed reports whether a cell is a list, a tuple or a set in Python's notation.
func isBracketed(cell string) bool {
	if len(cell) < 2 {
		return false
	}
	switch cell[:1] + cell[len(cell)-1:] {
	case "[]":
		return true
	case "()", "{}": // parentheses and braces around words may be part of a name
		return len(cell) == 2 || strings.ContainsAny(cell[1:2], `'"`)
	}
	return cell == "set()"
}

var errBracketed = errors.New("this is no list such as ['cat', 'dog']")

// bracketedNames returns the elements of a list in brackets. They are texts in quotes, or words without
// quotes, with commas or blanks between them.
func bracketedNames(cell string) (names []string, err error) {
	if !isBracketed(cell) {
		return nil, errBracketed
	}
	rest := strings.TrimSpace(strings.TrimPrefix(cell, "set"))
	rest = strings.TrimSpace(rest[1 : len(rest)-1])
	if rest != "" && !strings.ContainsAny(rest[:1], `'"`) {
		return bareNames(rest), nil
	}
	for rest != "" {
		var name string
		if name, rest, err = quotedName(rest); err != nil {
			return nil, err
		}
		names = append(names, name)
		rest = strings.TrimLeft(rest, ", \t\r\n")
	}
	return names, nil
}

// bareNames splits words without quotes at their commas or, without any, at their blanks.
func bareNames(text string) (names []string) {
	if !strings.Contains(text, ",") {
		return strings.Fields(text)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(text, ","), ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// quotedName returns the quoted text at the start of rest, and the remaining text.
func quotedName(rest string) (name, remaining string, err error) {
	quote := rest[0]
	if quote != '\'' && quote != '"' {
		return "", "", errBracketed
	}
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == quote:
			return strings.TrimSpace(b.String()), rest[i+1:], nil
		case c == '\\' && i+1 < len(rest):
			i++
			b.WriteByte(rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errBracketed
}
