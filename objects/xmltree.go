package objects

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// element is an XML element with the line of its start tag.
type element struct {
	name     string
	text     string
	line     int
	children []*element
}

// maxDepth is the largest accepted depth of nested elements. VOC needs 4.
const maxDepth = 32

// parseXML returns the root element of a document, or the line of the first error.
func parseXML(b []byte) (root *element, line int, err error) {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))))
	top := &element{}
	open := []*element{top}
	for {
		line, _ = d.InputPos()
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			line, _ = d.InputPos()
			return nil, line, plainXML(err)
		}
		last := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			e := &element{name: t.Name.Local, line: line}
			last.children = append(last.children, e)
			if open = append(open, e); len(open) > maxDepth {
				return nil, line, fmt.Errorf("more than %d elements in one another", maxDepth)
			}
		case xml.EndElement:
			last.text = strings.TrimSpace(last.text)
			open = open[:len(open)-1]
		case xml.CharData:
			last.text += string(t)
		}
	}
	if len(top.children) != 1 {
		return nil, 1, errors.New("this is not an XML document with one root element")
	}
	return top.children[0], 0, nil
}

// plainXML removes the number of the line from a syntax error, because the caller reports the line.
func plainXML(err error) error {
	if s := new(xml.SyntaxError); errors.As(err, &s) {
		return errors.New(s.Msg)
	}
	return err
}

// child returns the first child with a name, or nil if there is none.
func (e *element) child(name string) *element {
	if e == nil {
		return nil
	}
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// value returns the text of the first child with a name, or "" if there is none.
func (e *element) value(name string) string {
	if c := e.child(name); c != nil {
		return c.text
	}
	return ""
}
