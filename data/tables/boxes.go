package tables

import (
	"bytes"
	"io"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/internal/regular"
)

// BoxColumns has the numbers of the columns of a table with a row for each box. The number of a missing
// column is -1.
type BoxColumns struct {
	Path, Label, Split int
	Width, Height      int    // size of the picture
	Corners            [4]int // x1, y1, x2, y2
}

// cornerNames are the usual names of the corners of boxes, in lower case.
var cornerNames = [4][]string{{"x1", "xmin", "x_min", "left"}, {"y1", "ymin", "y_min", "top"},
	{"x2", "xmax", "x_max", "right"}, {"y2", "ymax", "y_max", "bottom"}}

// FindBoxes returns the columns of a table with a row for each box, by their usual names. Without a
// header they are path, x1, y1, x2, y2, label. ok is false if there are no columns of corners.
func (t *Table) FindBoxes() (c BoxColumns, ok bool) {
	if t.header == nil {
		c = BoxColumns{Path: 0, Label: 5, Split: -1, Width: -1, Height: -1, Corners: [4]int{1, 2, 3, 4}}
		return c, len(t.Rows) > 0 && isBoxRow(t.Rows[0].Fields)
	}
	for i, names := range cornerNames {
		if c.Corners[i] = t.usual(names); c.Corners[i] < 0 {
			return c, false
		}
	}
	c.Path, c.Label, c.Split = t.usual(columnNames.path), t.usual(columnNames.label), t.usual([]string{"split",
		"set", "subset", "part", "partition"})
	c.Width, c.Height = t.usual([]string{"width", "image_width"}), t.usual([]string{"height", "image_height"})
	return c, true
}

// ColumnName returns the name of column i, or a text like "column 3" if the table has no header.
func (t *Table) ColumnName(i int) string { return t.columnName(i) }

// isBoxRow reports whether a row of a table without a header has a picture and a box, or a picture and empty
// corners.
func isBoxRow(fields []string) bool {
	return len(fields) == 6 && !slices.ContainsFunc(fields[1:5], func(text string) bool {
		_, err := strconv.ParseFloat(text, 64)
		return text != "" && err != nil
	})
}

// maxHead is the number of bytes that HasBoxes reads.
const maxHead = 64 << 10

// HasBoxes reports whether a CSV file begins like a table with boxes: see FindBoxes. It returns false if the
// file cannot be read.
func HasBoxes(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxHead))
	if err != nil {
		return false
	}
	return BeginsWithBoxes(head)
}

// BeginsWithBoxes reports whether the first two lines of a CSV text can be the beginning of a table with
// boxes.
func BeginsWithBoxes(text []byte) bool {
	lines := bytes.SplitAfterN(text, []byte("\n"), 3)
	t, err := Parse(bytes.Join(lines[:min(2, len(lines))], nil))
	if err != nil {
		return false
	}
	_, ok := t.FindBoxes()
	return ok
}
