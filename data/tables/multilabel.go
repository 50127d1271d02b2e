package tables

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/problem"
)

// A table may have classes that do not exclude each other. Then the labels of a sample are
//
//	column of labels    "cat;dog" has these labels only; ";" or "[]" has no label; "" is unknown
//	column per class    1 is of the class; 0 is not; "" is unknown
//	columns of numbers  any number; "" is unknown
//
// If a class is never named in a column of labels, it is absent from all samples of this table. If a table
// with a column per class has no column for a class, the label for this class is unknown.
//
// Unknown labels count neither in a loss nor in a figure.

// between separates the cells of several columns that together form a label.
const between = ";"

// decideLists finds the form of the lists of labels, unless Options.Columns names it.
func (t *Table) decideLists(c *Columns) (err error) {
	if c.lists != "" || c.OneHot != nil || c.Targets != nil || c.label < 0 {
		return nil
	}
	var cells []string
	for _, row := range t.Rows {
		if cell := row.Fields[c.label]; !isMissing(cell) {
			cells = append(cells, cell)
		}
	}
	c.lists, err = findLists(cells)
	return err
}

// isMultiLabel reports whether the labels of a table do not exclude each other. This is so if a cell has
// several labels, or if some row does not have exactly one 1 in the columns of classes.
func (t *Table) isMultiLabel(c Columns) bool {
	switch {
	case c.Targets != nil:
		return false
	case c.OneHot == nil:
		return c.label >= 0 && slices.ContainsFunc(t.Rows, func(row Row) bool {
			return c.lists.isSeveral(row.Fields[c.label])
		})
	}
	return slices.ContainsFunc(t.Rows, func(row Row) bool {
		ones := 0
		for _, i := range c.OneHot {
			if isMissing(row.Fields[i]) {
				return true
			}
			if isOne(row.Fields[i]) {
				ones++
			}
		}
		return ones != 1
	})
}

// className returns the label in a cell of a table where each cell has one label.
func (c Columns) className(cell string) string {
	if isMissing(cell) {
		return ""
	}
	if c.lists != brackets {
		return cell
	}
	names, err := bracketedNames(cell)
	if err != nil || len(names) != 1 {
		return cell
	}
	return names[0]
}

func isOne(field string) bool { return field == "1" || field == "1.0" }

// isFlag reports whether a field is 1, 0 or missing, so that it can state whether a sample is of a class.
func isFlag(field string) bool {
	return isOne(field) || field == "0" || field == "0.0" || isMissing(field)
}

// namesIn returns the labels of a row, if the table has a single column of labels.
func namesIn(row Row, c Columns) ([]string, error) {
	cell := row.Fields[c.label]
	if isMissing(cell) {
		return nil, nil
	}
	names, err := c.lists.names(cell)
	if err != nil {
		return nil, fmt.Errorf("line %d: label %q: %w", row.Line, cell, err)
	}
	for i, name := range names {
		switch {
		case name == "":
			return nil, fmt.Errorf("line %d has a label without a name: %q", row.Line, cell)
		case slices.Contains(names[:i], name):
			return nil, fmt.Errorf("line %d has label %s twice", row.Line, name)
		}
	}
	return names, nil
}

// MultiClasses returns the classes of labels that do not exclude each other. They are the columns of classes,
// or the names in the rows of train or, without train, in all rows.
func (t *Table) MultiClasses(c Columns) ([]string, error) {
	if c.OneHot != nil {
		var names []string
		for _, i := range c.OneHot {
			names = append(names, t.header[i])
		}
		return names, nil
	}
	all := map[string][]string{}
	for _, row := range t.Rows {
		names, err := namesIn(row, c)
		if err != nil {
			return nil, err
		}
		split, err := t.SplitOf(row, c)
		if err != nil {
			return nil, err
		}
		all[split] = append(all[split], names...)
	}
	classes := all[train]
	if classes == nil {
		for _, more := range all {
			classes = append(classes, more...)
		}
	}
	return names.InOrderOfNumbers(slices.Compact(slices.Sorted(slices.Values(classes)))), nil
}

// Flags returns the label of a row if labels do not exclude each other: 1, 0 or -1 for each class.
func (t *Table) Flags(row Row, c Columns, classes []string) ([]int32, error) {
	label := make([]int32, len(classes))
	if c.OneHot != nil {
		for k, i := range c.OneHot {
			switch {
			case isMissing(row.Fields[i]):
				label[k] = -1
			case isOne(row.Fields[i]):
				label[k] = 1
			}
		}
		return label, nil
	}
	if isMissing(row.Fields[c.label]) {
		return slices.Repeat([]int32{-1}, len(classes)), nil
	}
	names, err := namesIn(row, c)
	for _, name := range names {
		k := slices.Index(classes, name)
		if k < 0 {
			return nil, problem.Advise("add it there, or take it out",
				"line %d has a label that no row of train has: %s", row.Line, name)
		}
		label[k] = 1
	}
	return label, err
}

// Numbers returns the label of a row if the table has columns of numbers.
func (t *Table) Numbers(row Row, c Columns) ([]int32, error) {
	label := make([]int32, len(c.Targets))
	for k, i := range c.Targets {
		field := row.Fields[i]
		if isMissing(field) {
			label[k] = -1
			continue
		}
		v, err := strconv.ParseFloat(field, 32)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, problem.Advise("write a number of float32, such as 3.5, or nothing where none is known",
				"line %d, column %s: %q is no number", row.Line, t.columnName(i), field)
		}
		label[k] = int32(math.Float32bits(float32(v)))
	}
	return label, nil
}

func (t *Table) columnName(i int) string {
	if t.header == nil {
		return strconv.Itoa(i + 1)
	}
	return t.header[i]
}
