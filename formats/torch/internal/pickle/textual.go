package pickle

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The opcodes that protocols 0 and 1 write as lines of text, including those that Python 2
// still used in protocol 2.

// lineInt reads a decimal, or a bool as 00 or 01. Python 2 uses this for integers of more
// than 32 bits, for example the ids of parameters in the state of an optimizer.
func lineInt(m *machine) error {
	text, err := m.line(maxLine)
	if err != nil {
		return err
	}
	if text == "00" || text == "01" {
		return m.push(text == "01")
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no number of 64 bits", text)
	}
	return m.push(v)
}

// lineLong reads a decimal of any length, followed by an L.
func lineLong(m *machine) error {
	text, err := m.line(maxLine)
	if err != nil {
		return err
	}
	v, ok := new(big.Int).SetString(strings.TrimSuffix(text, "L"), 10)
	if !ok {
		return fmt.Errorf("%q is no whole number", text)
	}
	return m.pushInteger(v)
}

func lineFloat(m *machine) error {
	text, err := m.line(maxLine)
	if err != nil {
		return err
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is no number", text)
	}
	return m.push(v)
}

// lineString reads a byte string as Python 2's repr writes it.
func lineString(m *machine) error {
	line, err := m.line(m.remaining)
	if err != nil {
		return err
	}
	if n := len(line); n < 2 || line[0] != line[n-1] || line[0] != '\'' && line[0] != '"' {
		return fmt.Errorf("%.32q has no quotes around it", line)
	}
	s, err := unescape(line[1:len(line)-1], byteEscapes)
	if err != nil {
		return err
	}
	return m.push(s)
}

// lineUnicode reads text in Python's raw-unicode-escape.
func lineUnicode(m *machine) error {
	line, err := m.line(m.remaining)
	if err != nil {
		return err
	}
	if err := m.charge(int64(len(line))); err != nil { // bytes above 127 become two
		return err
	}
	var runes strings.Builder
	for i := range len(line) {
		runes.WriteRune(rune(line[i])) // latin-1
	}
	s, err := unescape(runes.String(), runeEscapes)
	if err != nil {
		return err
	}
	return m.push(s)
}

// escape describes what may follow a backslash: a number with a given count of digits.
type escape struct {
	digits, base int
	literal      string // the result of the escape; digits is 0 then
}

var (
	runeEscapes = map[byte]escape{'u': {digits: 4, base: 16}, 'U': {digits: 8, base: 16}}
	byteEscapes = map[byte]escape{'x': {digits: 2, base: 16}, '\\': {literal: `\`}, '\'': {literal: `'`},
		'"': {literal: `"`}, 'a': {literal: "\a"}, 'b': {literal: "\b"}, 'f': {literal: "\f"},
		'n': {literal: "\n"}, 'r': {literal: "\r"}, 't': {literal: "\t"}, 'v': {literal: "\v"}}
)

// unescape replaces the escapes in known; any other backslash is literal, as in Python.
func unescape(s string, known map[byte]escape) (string, error) {
	var b strings.Builder
	for len(s) > 0 {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			break
		}
		s = after
		e, ok := escape{}, false
		if after != "" {
			e, ok = known[after[0]]
		}
		switch {
		case !ok:
			b.WriteByte('\\')
		case e.digits == 0:
			b.WriteString(e.literal)
			s = after[1:]
		case len(after) <= e.digits:
			return "", fmt.Errorf(`\%s ends early`, after)
		default:
			v, err := strconv.ParseUint(after[1:1+e.digits], e.base, 32)
			if err != nil || v > utf8.MaxRune {
				return "", fmt.Errorf(`\%s is no character`, after[:1+e.digits])
			}
			s = after[1+e.digits:]
			if e.digits == 2 {
				b.WriteByte(byte(v))
			} else {
				b.WriteRune(rune(v))
			}
		}
	}
	return b.String(), nil
}

func linePut(m *machine) error {
	i, err := m.lineIndex()
	if err != nil {
		return err
	}
	return m.remember(i)
}

func lineGet(m *machine) error {
	i, err := m.lineIndex()
	if err != nil {
		return err
	}
	return m.recall(i)
}

func (m *machine) lineIndex() (uint64, error) {
	text, err := m.line(maxLine)
	if err != nil {
		return 0, err
	}
	i, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number of the memo", text)
	}
	return i, nil
}

// inst records an object of an old-style class. Its arguments are the values above the last
// MARK.
func inst(m *machine) error {
	module, err := m.line(maxLine)
	if err != nil {
		return err
	}
	name, err := m.line(maxLine)
	if err != nil {
		return err
	}
	args, err := m.takeMarked()
	if err != nil {
		return err
	}
	return m.pushInstance(Global{module, name}, args)
}

// obj is like inst but with the class as the first of the values above the last MARK.
func obj(m *machine) error {
	values, err := m.takeMarked()
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return fmt.Errorf("an object without a class")
	}
	return m.pushInstance(values[0], values[1:])
}

func (m *machine) pushInstance(class any, args []any) error {
	if err := m.charge(costHeader + costSlot*int64(len(args))); err != nil {
		return err
	}
	return m.pushCall(class, append(Tuple(nil), args...))
}

func dup(m *machine) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	return m.push(v)
}
