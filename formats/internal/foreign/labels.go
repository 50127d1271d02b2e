package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// LabelKey is the key of class names in the metadata of written files. Ultralytics uses the
// same key.
const LabelKey = "names"

// labelKeys are the keys for class names, in the order of their use. They
// include the keys of Ultralytics, Deepness and others.
var labelKeys = []string{LabelKey, "class_names", "class_labels", "labels", "classes", "categories",
	"id2label"}

// IsLabels reports whether metadata under a key may be names of classes.
func IsLabels(key string) bool { return slices.Contains(labelKeys, key) }

// Label reads the names of the classes from metadata, if it has any.
func (f *File) Label(metadata map[string]string) {
	for _, key := range labelKeys {
		if f.Labels == nil {
			f.Labels = ParseLabels(metadata[key])
		}
	}
}

// LabelText writes class names as a literal that Python and YAML read:
//
//	{0: "cat", 1: "dog"}
func LabelText(labels []string) string {
	texts := make([]string, len(labels))
	for i, l := range labels {
		q, err := json.Marshal(l)
		if err != nil {
			panic(err) // cannot happen: every string has a form in JSON
		}
		texts[i] = fmt.Sprintf("%d: %s", i, q)
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// ParseLabels reads class names in any of these forms: a list, a dict from numbers to names
// or a dict from names to numbers, in the syntax of JSON or Python; lines like "0:cat";
// lines with a name each; or names separated by commas. It returns nil for anything else.
func ParseLabels(text string) []string {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || !utf8.ValidString(text):
		return nil
	case strings.ContainsAny(text[:1], "[({"):
		p := &literal{text: text[1:], close: map[byte]byte{'[': ']', '(': ')', '{': '}'}[text[0]]}
		return p.labels()
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if len(lines) == 1 {
		lines = strings.Split(text, ",")
	}
	if len(lines) == 1 {
		return nil
	}
	numbered := true
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
		numbered = numbered && strings.HasPrefix(lines[i], strconv.Itoa(i)+":")
	}
	for i := range lines {
		if numbered {
			_, lines[i], _ = strings.Cut(lines[i], ":")
			lines[i] = strings.TrimSpace(lines[i])
		}
		if lines[i] == "" {
			return nil
		}
	}
	return lines
}

// literal is a list or a dict of strings and numbers, in Python's syntax, that is being
// read.
type literal struct {
	text  string
	close byte
}

// labels reads up to the closing bracket, which must be the end of the text. Entries of a
// dict may be in any order, and must be complete from 0.
func (p *literal) labels() []string {
	names, next := map[int]string{}, 0
	for {
		if p.skip(); p.take(p.close) {
			break
		}
		key, isText, ok := p.value()
		if !ok {
			return nil
		}
		name, at := key, next
		if p.skip(); p.take(':') {
			if p.skip(); !p.entry(key, isText, &name, &at) {
				return nil
			}
		} else if !isText || p.close == '}' {
			return nil
		}
		if _, twice := names[at]; twice {
			return nil
		}
		names[at] = name
		next++
		if p.skip(); !p.take(',') && (p.text == "" || p.text[0] != p.close) {
			return nil
		}
	}
	if strings.TrimSpace(p.text) != "" || len(names) == 0 {
		return nil
	}
	out := make([]string, len(names))
	for i := range out {
		name, ok := names[i]
		if !ok {
			return nil
		}
		out[i] = name
	}
	return out
}

// entry reads the value of a dict's key: a name for a number, or a number for a name.
func (p *literal) entry(key string, keyIsText bool, name *string, label *int) bool {
	value, isText, ok := p.value()
	if !ok {
		return false
	}
	number := key
	if *name = value; !isText {
		if !keyIsText {
			return false
		}
		number, *name = value, key
	}
	n, err := strconv.Atoi(number)
	*label = n
	return err == nil
}

func (p *literal) skip() { p.text = strings.TrimLeft(p.text, " \t\r\n") }

func (p *literal) take(c byte) bool {
	if p.text == "" || p.text[0] != c {
		return false
	}
	p.text = p.text[1:]
	return true
}

// value reads a string in either quotes, or a number as its digits.
func (p *literal) value() (text string, isText, ok bool) {
	if p.text == "" {
		return "", false, false
	}
	if q := p.text[0]; q == '\'' || q == '"' {
		return p.quoted(q)
	}
	n := 0
	for n < len(p.text) && p.text[n] >= '0' && p.text[n] <= '9' {
		n++
	}
	text, p.text = p.text[:n], p.text[n:]
	return text, false, n > 0
}

// quoted reads a string with the escapes that JSON and Python share, and \xhh.
func (p *literal) quoted(quote byte) (string, bool, bool) {
	rest := p.text[1:]
	var b strings.Builder
	for rest != "" {
		if rest[0] == quote {
			p.text = rest[1:]
			return strings.ToValidUTF8(b.String(), "\uFFFD"), true, true
		}
		if strings.HasPrefix(rest, `\'`) || strings.HasPrefix(rest, `\"`) || strings.HasPrefix(rest, `\/`) {
			b.WriteByte(rest[1])
			rest = rest[2:]
			continue
		}
		r, multi, tail, err := strconv.UnquoteChar(rest, 0)
		if err != nil {
			return "", false, false
		}
		if multi || r < utf8.RuneSelf || rest[0] == '\\' {
			b.WriteRune(r)
		} else {
			b.WriteByte(byte(r))
		}
		rest = tail
	}
	return "", false, false
}
