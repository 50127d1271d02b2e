package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/problem"
)

// Labels of a sample in a table without exclusive classes:
//
// 	column of labels    "cat;dog"  these and no others    ";", "[]"  none    ""  not known
// 	column per class    1 of it    0 not of it    ""  not known
// 	columns of numbers  any        ""  not known
//
// A class that a column of labels never names is absent from all its samples. Without a
// column for a class, its labels are unknown.
//
// Unknown labels count neither in a loss nor in a figure.

// between separates the texts that form a label of several columns.
const between = ";"

// decideLists finds the form of the lists of labels, if Options.Columns has not named it.
func (t *labelTable) decideLists(c *columns) (err error) {
	if c.lists != "" || c.oneHot != nil || c.targets != nil || c.label < 0 {
		return nil
	}
	var cells []string
	for _, row := range t.rows {
		if cell := row.fields[c.label]; !isMissing(cell) {
			cells = append(cells, cell)
		}
	}
	c.lists, err = findLists(cells)
	return err
}

// isMultiLabel reports whether the labels of a table do not exclude each other: a cell has
// several, or some row does not have exactly one 1 in the columns of classes.
func (t *labelTable) isMultiLabel(c columns) bool {
	switch {
	case c.targets != nil:
		return false
	case c.oneHot == nil:
		return c.label >= 0 && slices.ContainsFunc(t.rows, func(row tableRow) bool {
			return c.lists.isSeveral(row.fields[c.label])
		})
	}
	return slices.ContainsFunc(t.rows, func(row tableRow) bool {
		ones := 0
		for _, i := range c.oneHot {
			if isMissing(row.fields[i]) {
				return true
			}
			if isOne(row.fields[i]) {
				ones++
			}
		}
		return ones != 1
	})
}

// className returns the label in a cell of a table with one label per cell.
func (c columns) className(cell string) string {
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

// isFlag reports whether a field is 1, 0 or missing: whether a sample is of a class.
func isFlag(field string) bool {
	return isOne(field) || field == "0" || field == "0.0" || isMissing(field)
}

// namesIn returns the labels of a row with a single column of labels.
func namesIn(row tableRow, c columns) ([]string, error) {
	cell := row.fields[c.label]
	if isMissing(cell) {
		return nil, nil
	}
	names, err := c.lists.names(cell)
	if err != nil {
		return nil, fmt.Errorf("line %d: label %q: %w", row.line, cell, err)
	}
	for i, name := range names {
		switch {
		case name == "":
			return nil, fmt.Errorf("line %d has a label without a name: %q", row.line, cell)
		case slices.Contains(names[:i], name):
			return nil, fmt.Errorf("line %d has label %s twice", row.line, name)
		}
	}
	return names, nil
}

// multiClasses returns the classes of labels that do not exclude each other: the columns,
// or the names in the rows of train, or without train in all rows.
func (t *labelTable) multiClasses(c columns) ([]string, error) {
	if c.oneHot != nil {
		var names []string
		for _, i := range c.oneHot {
			names = append(names, t.header[i])
		}
		return names, nil
	}
	all := map[string][]string{}
	for _, row := range t.rows {
		names, err := namesIn(row, c)
		if err != nil {
			return nil, err
		}
		split, err := t.splitOf(row, c)
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

// flags returns the label of a row with labels that do not exclude each other.
func (t *labelTable) flags(row tableRow, c columns, classes []string) ([]int32, error) {
	label := make([]int32, len(classes))
	if c.oneHot != nil {
		for k, i := range c.oneHot {
			switch {
			case isMissing(row.fields[i]):
				label[k] = -1
			case isOne(row.fields[i]):
				label[k] = 1
			}
		}
		return label, nil
	}
	if isMissing(row.fields[c.label]) {
		return slices.Repeat([]int32{-1}, len(classes)), nil
	}
	names, err := namesIn(row, c)
	for _, name := range names {
		k := slices.Index(classes, name)
		if k < 0 {
			return nil, problem.Advise("add it there, or take it out",
				"line %d has a label that no row of train has: %s", row.line, name)
		}
		label[k] = 1
	}
	return label, err
}

// numbers returns the label of a row with columns of numbers.
func (t *labelTable) numbers(row tableRow, c columns) ([]int32, error) {
	label := make([]int32, len(c.targets))
	for k, i := range c.targets {
		field := row.fields[i]
		if isMissing(field) {
			label[k] = -1
			continue
		}
		v, err := strconv.ParseFloat(field, 32)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, problem.Advise("write a number of float32, such as 3.5, or nothing where none is known",
				"line %d, column %s: %q is no number", row.line, t.columnName(i), field)
		}
		label[k] = int32(math.Float32bits(float32(v)))
	}
	return label, nil
}

func (t *labelTable) columnName(i int) string {
	if t.header == nil {
		return strconv.Itoa(i + 1)
	}
	return t.header[i]
}

// Number returns the number that an element of a label represents if Info.Targets is set:
// its bits are a float32. It is NaN for a missing number.
func Number(label int32) float32 { return math.Float32frombits(uint32(label)) }
