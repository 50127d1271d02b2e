package data

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

// maxTableFile is the largest size of a table of samples: a hundred bytes for each of
// maxMembers/10.
const maxTableFile = 200 << 20

// labelTable is a CSV file with a row for each sample.
type labelTable struct {
	header []string // names of the columns; nil if the first row is a sample
	rows   []tableRow
}

// tableRow is a row of a table and the number of its line.
type tableRow struct {
	line   int
	fields []string
}

// readTable reads a CSV file in UTF-8: fields separated by commas, tabs or semicolons,
// whichever the first line contains, quoted as in RFC 4180 if necessary.
func readTable(path string) (*labelTable, error) {
	text, err := regular.Read(path, maxTableFile)
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
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
	t := &labelTable{}
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
		t.rows = append(t.rows, tableRow{line, fields})
	}
	if len(t.rows) == 0 {
		return nil, errors.New("there is no row in it")
	}
	if !isSampleRow(t.rows[0].fields) {
		t.header, t.rows = t.rows[0].fields, t.rows[1:]
	}
	return t, t.checkColumns()
}

// checkColumns refuses a table with rows of different lengths, or without samples.
func (t *labelTable) checkColumns() error {
	if len(t.rows) == 0 {
		return errors.New("there is a header and no row below it")
	}
	want := len(t.rows[0].fields)
	if t.header != nil {
		want = len(t.header)
	}
	for _, row := range t.rows {
		if len(row.fields) != want {
			return fmt.Errorf("line %d has %s, the first line %d", row.line,
				problem.Plural(len(row.fields), "column"), want)
		}
	}
	return nil
}

// quoting returns an error with the position of wrong quotes in a table.
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

// separator returns the separator of the fields of the first line.
func separator(text []byte) rune {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	for _, c := range ",\t;" {
		if bytes.ContainsRune(line, c) {
			return c
		}
	}
	return ','
}

// isSampleRow reports whether a first row is not a header: one of its fields is the name of
// a picture.
func isSampleRow(fields []string) bool { return slices.ContainsFunc(fields, images.IsFileName) }

// columns are the numbers of the columns of a table; -1 for a missing one.
type columns struct {
	path, label, split, group int
	weight                    int        // weights for drawing samples
	oneHot                    []int      // a column of 0 and 1 for each class, instead of label
	targets                   []int      // columns of numbers, likewise
	lists                     labelLists // in the column label
	multi                     bool       // labels do not exclude each other
	validation                *string    // the value of split that means val; nil: cells name the split
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

// find returns the columns of a table: the columns that wanted names,
// "path=ID,label=BREED", otherwise columns with usual names. Without a header path and
// label are the first two.
func (t *labelTable) find(wanted string) (columns, error) {
	c := columns{path: -1, label: -1, split: -1, group: -1, weight: -1}
	all := []struct {
		name  string
		to    *int
		usual []string
	}{{"path", &c.path, columnNames.path}, {"label", &c.label, columnNames.label},
		{"split", &c.split, columnNames.split}, {"group", &c.group, columnNames.group}, {"weight", &c.weight, nil}}
	for k := range all {
		*all[k].to = t.usual(all[k].usual)
	}
	if t.header == nil { // columns of an unknown header are not guessed
		c.path, c.label = 0, 1
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
			c.targets = append(c.targets, slices.Index(t.header, name))
			if slices.Index(c.targets, slices.Index(t.header, name)) < len(c.targets)-1 {
				return c, problem.New("csv-columns", wanted, "it has target "+name+" twice", "")
			}
			if c.targets[len(c.targets)-1] < 0 {
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
	if c.targets == nil && c.label < 0 {
		c.oneHot = t.oneHot(c)
	}
	if err := errors.Join(t.checkFound(c), t.checkValidation(c)); err != nil {
		return c, err
	}
	taken := slices.Concat(c.targets, c.oneHot)
	if at := t.usual(columnNames.weight); c.weight < 0 && !slices.Contains(taken, at) {
		c.weight = at
	}
	if err := t.decideLists(&c); err != nil {
		return c, err
	}
	c.multi = t.isMultiLabel(c)
	return c, nil
}

// noColumn returns the error for a named column that does not exist.
func (t *labelTable) noColumn(wanted, name string) error {
	return problem.New("csv-columns", wanted, "there is no column "+name, "name one of "+names.First(t.header))
}

// namesOf returns the names of columns.
func (t *labelTable) namesOf(all []int) (names []string) {
	for _, i := range all {
		names = append(names, t.columnName(i))
	}
	return names
}

// oneHot returns the columns that are not in c, if all of them contain only 0, 1 or
// nothing, and represent classes.
func (t *labelTable) oneHot(c columns) (classes []int) {
	for i := range t.header {
		if i == c.path || i == c.split || i == c.group || i == c.weight || isSplitColumn(t.header[i]) {
			continue
		}
		if slices.ContainsFunc(t.rows, func(r tableRow) bool { return !isFlag(r.fields[i]) }) {
			return nil
		}
		classes = append(classes, i)
	}
	if len(classes) < 2 {
		return nil
	}
	return classes
}

// label returns the class of a row, or the texts that form its label.
func (t *labelTable) label(row tableRow, c columns) string {
	switch {
	case c.targets != nil || c.multi && c.oneHot != nil:
		var all []string
		for _, i := range append(c.targets, c.oneHot...) {
			all = append(all, row.fields[i])
		}
		return strings.Join(all, between)
	case c.oneHot == nil:
		return c.className(row.fields[c.label])
	}
	for _, i := range c.oneHot {
		if isOne(row.fields[i]) {
			return t.header[i]
		}
	}
	return ""
}

// usual returns the first column with one of the names.
func (t *labelTable) usual(names []string) int {
	for _, name := range names {
		for i, h := range t.header {
			if strings.EqualFold(h, name) {
				return i
			}
		}
	}
	return -1
}

func (t *labelTable) checkFound(c columns) error {
	width := len(t.rows[0].fields)
	for _, column := range []struct {
		name string
		at   int
	}{{"path", c.path}, {"label", c.label}} {
		if (column.at < 0 || column.at >= width) && (column.name == "path" || c.oneHot == nil &&
			c.targets == nil) {
			return problem.Advise("name it with {csv-columns} "+column.name+"=NAME",
				"no column is called as those of a %s are; there are %s", column.name, names.First(t.header))
		}
	}
	return nil
}

// inWords describes the use of each column; "" without a header.
func (t *labelTable) inWords(c columns) string {
	if t.header == nil {
		return ""
	}
	labels := "a column for each class"
	switch {
	case c.targets != nil:
		labels = "targets are columns " + strings.Join(t.namesOf(c.targets), ", ")
	case c.label >= 0:
		labels = "label is column " + t.header[c.label]
	}
	if c.multi {
		labels += ", and labels do not exclude each other"
	}
	if c.multi && c.oneHot == nil {
		labels += " (" + c.lists.inWords() + ")"
	}
	text := "path is column " + t.header[c.path] + ", " + labels
	if c.split >= 0 {
		text += ", split is column " + t.header[c.split]
	}
	if c.validation != nil {
		text += " (" + *c.validation + ": val)"
	}
	if c.group >= 0 {
		text += ", group is column " + t.header[c.group]
	}
	if c.weight >= 0 && c.weight != t.usual(columnNames.weight) {
		text += ", weight is column " + t.header[c.weight]
	}
	if note := t.foldInWords(c); note != "" {
		text += "; " + note
	}
	return text
}
