package graph

import (
	"fmt"
	"strconv"
)

// symbol is the kind of a token: a single character, or one of these.
type symbol byte

const (
	endOfFile symbol = 0
	newline   symbol = '\n'
	word      symbol = 'w' // a name, a number or a keyword; @ may come first
	quoted    symbol = '"' // a string, its text already unquoted
)

func (s symbol) String() string {
	switch s {
	case endOfFile:
		return "the end of the text"
	case newline:
		return "the end of the line"
	case word:
		return "a name"
	case quoted:
		return "a string"
	}
	return strconv.QuoteRune(rune(s))
}

type token struct {
	symbol symbol
	text   string
	line   int
	column int
}

func (t token) String() string {
	if t.symbol == word || t.symbol == quoted {
		return strconv.Quote(t.text)
	}
	return t.symbol.String()
}

// lexer divides a text into tokens and reads one token ahead. After an error it stays at the end of the
// text.
type lexer struct {
	src   string
	pos   int
	line  int
	start int // index at which the line begins
	depth int // depth of parentheses and brackets; within them the end of a line is a space
	token token
	err   error
}

// fail reports an error at token t.
func (l *lexer) fail(t token, format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("line %d, column %d: %s", t.line, t.column, fmt.Sprintf(format, args...))
	}
	l.pos, l.token = len(l.src), token{line: l.line}
}

// advance moves to the next token and returns the previous one.
func (l *lexer) advance() token {
	t := l.token
	l.skipSpace()
	l.token = token{line: l.line, column: l.pos - l.start + 1}
	if l.pos >= len(l.src) {
		return t
	}
	switch c := l.src[l.pos]; {
	case c == '@' || wordByte(c):
		l.word()
	case c == '"':
		l.quoted()
	case c == '\n':
		l.newLine()
		l.token.symbol = newline
	default:
		l.punctuation(c)
	}
	return t
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '#':
			for l.pos < len(l.src) && l.src[l.pos] != '\n' {
				l.pos++
			}
		case c == '\n' && l.depth > 0:
			l.newLine()
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		default:
			return
		}
	}
}

func (l *lexer) newLine() {
	l.pos++
	l.line, l.start = l.line+1, l.pos
}

// wordByte reports whether b may be in a name or a number, which may
// have the + of an exponent.
func wordByte(c byte) bool { return nameByte(c) || c == '+' }

func (l *lexer) word() {
	from := l.pos
	for l.pos++; l.pos < len(l.src) && wordByte(l.src[l.pos]); l.pos++ {
	}
	l.token.symbol, l.token.text = word, l.src[from:l.pos]
}

func (l *lexer) quoted() {
	s, err := strconv.QuotedPrefix(l.src[l.pos:])
	if err != nil {
		l.fail(l.token, "a string does not end on its line")
		return
	}
	l.pos += len(s)
	l.token.symbol = quoted
	l.token.text, _ = strconv.Unquote(s) // a quoted prefix can be unquoted
}

func (l *lexer) punctuation(c byte) {
	switch c {
	case '(', '[':
		l.depth++
	case ')', ']':
		l.depth--
	case '{', '}', ',', '=':
	case '?': // a draft has ? for a missing name
		l.fail(l.token, "a ? stands where the name of a value is to be filled in")
		return
	default:
		l.fail(l.token, "character %q has no meaning here", c)
		return
	}
	l.pos++
	l.token.symbol, l.token.text = symbol(c), ""
}
