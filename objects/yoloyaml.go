package objects

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/bnctl/bnctl/data"
)

// yoloDescription is the content of data.yaml.
type yoloDescription struct {
	file    string
	folder  string // value of path:
	classes []string
	splits  map[data.Split][]string // folders or lists of pictures
	lines   map[data.Split]int
}

// maxDescription is the largest accepted size of data.yaml, in bytes.
const maxDescription = 64 << 10

// parseDescription reads data.yaml. Fields that describe training or downloads are ignored.
func (f *faults) parseDescription(file string, b []byte) *yoloDescription {
	d := &yoloDescription{file: file, splits: map[data.Split][]string{}, lines: map[data.Split]int{}}
	const advice = "write path, train, val and names, as in data.yaml of YOLO"
	if len(b) > maxDescription {
		f.add(file, 0, advice, "%d bytes; at most %d are read", len(b), maxDescription)
		return d
	}
	root, err := parseYAML(b)
	if err != nil {
		line, text := yamlFault(err)
		f.add(file, line, advice, "the YAML is broken: %s", text)
		return d
	}
	count, hasNames := -1, false
	for _, entry := range root {
		line, key := lineOf(entry), scalar(entry.Key)
		switch key {
		case "path":
			d.folder = scalar(entry.Value)
		case "train", "val", "valid", "test":
			split := data.SplitOfFolder(key)
			d.splits[split], d.lines[split] = scalars(entry.Value), line
		case "names":
			hasNames = true
			f.yoloNames(d, entry.Value, line)
		case "nc":
			if count, err = strconv.Atoi(scalar(entry.Value)); err != nil {
				f.add(file, line, "write a number", "nc is %s", quote(scalar(entry.Value)))
				count = -1
			}
		}
	}
	if !hasNames {
		f.add(file, 0, advice, "it has no names of classes")
	} else if count >= 0 && len(d.classes) > 0 && count != len(d.classes) {
		f.add(file, 0, "correct one of them", "nc is %d, and names has %d classes", count, len(d.classes))
	}
	return d
}

// maxBrackets is the largest accepted number of lists and maps in brackets. The parser would need seconds and
// much memory for 60,000 nested ones.
const maxBrackets = 1000

// yamlFault returns the line and the text of an error of the YAML parser. The method Error of this error
// would add an excerpt of the file in several lines.
func yamlFault(err error) (line int, text string) {
	var e interface {
		error
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &e) {
		return 0, err.Error()
	}
	if t := e.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	return line, e.GetMessage()
}

// parseYAML returns the fields of a document. If the YAML parser, which is from another project, panics on
// broken input, parseYAML returns an error.
func parseYAML(b []byte) (fields []*ast.MappingValueNode, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	brackets := bytes.Count(b, []byte("[")) + bytes.Count(b, []byte("{"))
	if brackets > maxBrackets || bytes.Contains(b, []byte("- - -")) {
		return nil, errors.New("lists in lists; data.yaml has none")
	}
	doc, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, err
	}
	if len(doc.Docs) != 1 {
		return nil, fmt.Errorf("%d documents, want 1", len(doc.Docs))
	}
	switch n := doc.Docs[0].Body.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	}
	return nil, fmt.Errorf("this is not a list of fields")
}

// lineOf returns the line of a field.
func lineOf(n *ast.MappingValueNode) int {
	if t := n.Key.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// scalar returns the text of a string or number; "" for a list or map.
func scalar(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case ast.ScalarNode:
		if n.Type() == ast.NullType {
			return ""
		}
		return n.GetToken().Value
	}
	return ""
}

// scalars returns the texts of a list, or a list with the only text.
func scalars(n ast.Node) []string {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return slices.DeleteFunc([]string{scalar(n)}, func(s string) bool { return s == "" })
	}
	var all []string
	for _, v := range list.Values {
		all = append(all, scalar(v))
	}
	return all
}

// yoloNames reads the names of classes: a list, or a map from 0, 1, 2 ... to names.
func (f *faults) yoloNames(d *yoloDescription, n ast.Node, line int) {
	entries := []*ast.MappingValueNode{}
	switch m := n.(type) {
	case *ast.MappingNode:
		entries = m.Values
	case *ast.MappingValueNode:
		entries = append(entries, m)
	default:
		d.classes = scalars(n)
	}
	names := map[string]string{}
	for _, e := range entries {
		names[scalar(e.Key)] = scalar(e.Value)
	}
	for i := range len(entries) {
		name, ok := names[strconv.Itoa(i)]
		if !ok {
			f.add(d.file, line, "number the classes from 0", "names has %d classes, and class %d is missing",
				len(entries), i)
			d.classes = nil
			return
		}
		d.classes = append(d.classes, name)
	}
	for i, name := range d.classes {
		if name == "" || slices.Contains(d.classes[:i], name) {
			f.add(d.file, line, "give each class a name of its own", "class %d is called %s, as another or not at all",
				i, quote(name))
			return
		}
	}
	if len(d.classes) == 0 {
		f.add(d.file, line, "write a list of names", "names has no class")
	}
}
