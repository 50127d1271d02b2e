// Package tables reads tables of samples: CSV files with a row for each picture, and columns for its path,
// its label or labels, its split, its group and its weight.
//
// Use Read and Find to read only the table. Use package data to read the pictures that it names.
package tables

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// maxTableFile is the largest accepted size of a table of samples in bytes: about 100 for each of
// maxMembers/10 rows.
const maxTableFile = 200 << 20

// Table is a CSV file with a row for each sample.
type Table struct {
	header []string // names of the columns; nil if the first row is a sample
	Rows   []Row
}

// Row is a row of a table and the number of its line.
type Row struct {
	Line   int
	Fields []string
}

// Read reads a CSV file with Parse.
func Read(path string) (*Table, error) {
	text, err := regular.Read(path, maxTableFile)
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
	return Parse(text)
}

// Parse reads CSV in UTF-8. Fields are separated by commas, tabs or semicolons, whichever the first line
// contains, and may be quoted as in RFC 4180.
func Parse(text []byte) (*Table, error) {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, problem.Advise("save it as UTF-8", "the text is UTF-16")
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return nil, problem.Advise("save it as UTF-8", "line %d has a zero byte: the text may be UTF-16",
			1+bytes.Count(text[:at], []byte("\n")))
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if at := invalidUTF8(text); at >= 0 {
		line := 1 + bytes.Count(text[:at], []byte("\n"))
		return nil, problem.Advise("save it as UTF-8", "line %d is no UTF-8", line)
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = separator(text), -1, true
	t := &Table{}
	for {
		fields, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, quoting(err)
		}
		line, _ := r.FieldPos(0)
		for i := range fields {
			fields[i] = names.Composed(strings.TrimSpace(fields[i]))
		}
		t.Rows = append(t.Rows, Row{line, fields})
	}
	if len(t.Rows) == 0 {
		return nil, errors.New("there is no row in it")
	}
	if !isSampleRow(t.Rows[0].Fields) {
		t.header, t.Rows = t.Rows[0].Fields, t.Rows[1:]
	}
	return t, t.checkColumns()
}

// checkColumns returns an error if rows have different lengths, or without a sample.
func (t *Table) checkColumns() error {
	if len(t.Rows) == 0 {
		return errors.New("there is a header and no row below it")
	}
	want := len(t.Rows[0].Fields)
	if t.header != nil {
		want = len(t.header)
	}
	for _, row := range t.Rows {
		if len(row.Fields) != want {
			return fmt.Errorf("line %d has %s, the first line %d", row.Line,
				problem.Plural(len(row.Fields), "column"), want)
		}
	}
	return nil
}

// quoting returns an error of the CSV reader about wrong quotes, with their position in the table.
func quoting(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return err
	}
	return problem.Advise("put a field with quotes in it between quotes, and write each of its own twice",
		"line %d: %v", p.Line, p.Err)
}

func invalidUTF8(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
	return -1
}

// separator returns the character that separates the fields in the first line.
func separator(text []byte) rune {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	for _, c := range ",\t;" {
		if bytes.ContainsRune(line, c) {
			return c
		}
	}
	return ','
}

// isSampleRow reports whether the first row is a sample, not a header: then one of its fields is the name of
// a picture.
func isSampleRow(fields []string) bool { return slices.ContainsFunc(fields, images.IsFileName) }

// Columns has the numbers of the columns of a table. The number of a missing column is -1.
type Columns struct {
	Path, label, split, Group int
	Weight                    int        // weights for drawing samples
	OneHot                    []int      // columns of 0 and 1, one for each class, in place of Label
	Targets                   []int      // columns of numbers, in place of Label
	lists                     labelLists // form of the lists in the column of labels
	Multi                     bool       // labels do not exclude each other
	validation                *string    // value of the column split that means val; nil: cells name the split
}

// columnNames are the usual names of columns in published tables, in lower case.
var columnNames = struct{ path, label, split, group, weight []string }{
	path: []string{"path", "file", "filename", "file_name", "filepath", "file_path", "image", "image_path",
		"imagepath", "image index", "image_id", "image_name", "imagename", "img", "img_path", "picture",
		"id", "name"},
	label: []string{"label", "labels", "class", "classes", "category", "target", "class_name", "classname",
		"label_name", "class_id", "classid", "tag", "tags", "species", "breed", "diagnosis", "finding labels",
		"finding_labels", "y"},
	split: []string{"split", "set", "subset", "part", "partition", "is_valid", "is_val", "is_validation",
		"is_test", "is_train", "is_training"},
	group:  []string{"group", "groups", "patient", "patient_id", "subject", "subject_id", "camera"},
	weight: []string{"weight", "weights", "sample_weight", "sampling_weight"},
}

// Find returns the columns of a table. wanted may name them, "path=ID,label=BREED". Columns that it does not
// name are found by their usual names. In a table without a header, path and label are the first two columns.
func (t *Table) Find(wanted string) (Columns, error) {
	c := Columns{Path: -1, label: -1, split: -1, Group: -1, Weight: -1}
	all := []struct {
		name  string
		to    *int
		usual []string
	}{{"path", &c.Path, columnNames.path}, {"label", &c.label, columnNames.label},
		{"split", &c.split, columnNames.split}, {"group", &c.Group, columnNames.group}, {"weight", &c.Weight, nil}}
	for k := range all {
		*all[k].to = t.usual(all[k].usual)
	}
	if t.header == nil { // in a table without a header nothing else is guessed
		c.Path, c.label = 0, 1
	}
	for choice := range strings.SplitSeq(wanted, ",") {
		if choice == "" {
			continue
		}
		role, name, _ := strings.Cut(choice, "=")
		if role == "list" && slices.Contains(allLists, labelLists(name)) {
			c.lists = labelLists(name)
			continue
		}
		if role == "target" && name != "" {
			c.Targets = append(c.Targets, slices.Index(t.header, name))
			if slices.Index(c.Targets, slices.Index(t.header, name)) < len(c.Targets)-1 {
				return c, problem.New("csv-columns", wanted, "it has target "+name+" twice", "")
			}
			if c.Targets[len(c.Targets)-1] < 0 {
				return c, t.noColumn(wanted, name)
			}
			continue
		}
		k := slices.IndexFunc(all, func(a struct {
			name  string
			to    *int
			usual []string
		}) bool {
			return a.name == role
		})
		if k < 0 || name == "" {
			return c, problem.New("csv-columns", wanted, "want path=NAME, label=NAME, target=NAME, split=NAME, "+
				"group=NAME, weight=NAME, or list= with one of "+listsInWords(), "")
		}
		if at, value, ok := t.splitByValue(role, name); ok {
			c.split, c.validation = at, &value
			continue
		}
		if *all[k].to = slices.Index(t.header, name); *all[k].to < 0 {
			return c, t.noColumn(wanted, name)
		}
	}
	if c.Targets == nil && c.label < 0 {
		c.OneHot = t.oneHot(c)
	}
	if err := errors.Join(t.checkFound(c), t.checkValidation(c)); err != nil {
		return c, err
	}
	taken := slices.Concat(c.Targets, c.OneHot)
	if at := t.usual(columnNames.weight); c.Weight < 0 && !slices.Contains(taken, at) {
		c.Weight = at
	}
	if err := t.decideLists(&c); err != nil {
		return c, err
	}
	c.Multi = t.isMultiLabel(c)
	return c, nil
}

// noColumn returns the error for a named column that does not exist.
func (t *Table) noColumn(wanted, name string) error {
	return problem.New("csv-columns", wanted, "there is no column "+name, "name one of "+names.First(t.header))
}

// NamesOf returns the names of columns.
func (t *Table) NamesOf(columns []int) (names []string) {
	for _, i := range columns {
		names = append(names, t.columnName(i))
	}
	return names
}

// oneHot returns all columns that are not in c, if they contain only 0, 1 or nothing and seem to be classes.
// Otherwise it returns nil.
func (t *Table) oneHot(c Columns) (classes []int) {
	for i := range t.header {
		if i == c.Path || i == c.split || i == c.Group || i == c.Weight || isSplitColumn(t.header[i]) {
			continue
		}
		if slices.ContainsFunc(t.Rows, func(r Row) bool { return !isFlag(r.Fields[i]) }) {
			return nil
		}
		classes = append(classes, i)
	}
	if len(classes) < 2 {
		return nil
	}
	return classes
}

// Label returns the name of the class of a row, or the texts that together form its label.
func (t *Table) Label(row Row, c Columns) string {
	switch {
	case c.Targets != nil || c.Multi && c.OneHot != nil:
		var all []string
		for _, i := range append(c.Targets, c.OneHot...) {
			all = append(all, row.Fields[i])
		}
		return strings.Join(all, between)
	case c.OneHot == nil:
		return c.className(row.Fields[c.label])
	}
	for _, i := range c.OneHot {
		if isOne(row.Fields[i]) {
			return t.header[i]
		}
	}
	return ""
}

// usual returns the first column with one of the names.
func (t *Table) usual(names []string) int {
	for _, name := range names {
		for i, h := range t.header {
			if strings.EqualFold(h, name) {
				return i
			}
		}
	}
	return -1
}

func (t *Table) checkFound(c Columns) error {
	width := len(t.Rows[0].Fields)
	for _, column := range []struct {
		name string
		at   int
	}{{"path", c.Path}, {"label", c.label}} {
		if (column.at < 0 || column.at >= width) && (column.name == "path" || c.OneHot == nil &&
			c.Targets == nil) {
			return problem.Advise("name it with {csv-columns} "+column.name+"=NAME",
				"no column is called as those of a %s are; there are %s", column.name, names.First(t.header))
		}
	}
	return nil
}

// InWords describes the use of each column. It returns "" for a table without a header.
func (t *Table) InWords(c Columns) string {
	if t.header == nil {
		return ""
	}
	labels := "a column for each class"
	switch {
	case c.Targets != nil:
		labels = "targets are columns " + strings.Join(t.NamesOf(c.Targets), ", ")
	case c.label >= 0:
		labels = "label is column " + t.header[c.label]
	}
	if c.Multi {
		labels += ", and labels do not exclude each other"
	}
	if c.Multi && c.OneHot == nil {
		labels += " (" + c.lists.inWords() + ")"
	}
	text := "path is column " + t.header[c.Path] + ", " + labels
	if c.split >= 0 {
		text += ", split is column " + t.header[c.split]
	}
	if c.validation != nil {
		text += " (" + *c.validation + ": val)"
	}
	if c.Group >= 0 {
		text += ", group is column " + t.header[c.Group]
	}
	if c.Weight >= 0 && c.Weight != t.usual(columnNames.weight) {
		text += ", weight is column " + t.header[c.Weight]
	}
	if note := t.foldInWords(c); note != "" {
		text += "; " + note
	}
	return text
}
