package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/problem"
)

// The names of splits.
const (
	train = "train"
	val   = "val"
	test  = "test"
)

// splitNames are the names that folders, lists and cells may use for each split, in lower case. Names are
// compared without regard to case.
var splitNames = map[string]string{
	"train": train, "training": train, "val": val, "valid": val, "validation": val,
	"test": test, "testing": test,
}

// SplitNamed returns the split that a name represents, like "val" for "valid", or "" for other names.
func SplitNamed(name string) string { return splitNames[strings.ToLower(name)] }

// flagColumns are names of columns, in lower case, that state for each row whether it is in a split, by true
// or false.
var flagColumns = map[string]string{
	"is_valid": val, "is_val": val, "is_validation": val,
	"is_test": test, "is_train": train, "is_training": train,
}

// foldColumns are names of columns that have the folds of a cross-validation.
var foldColumns = []string{"fold", "folds", "kfold", "cv_fold", "fold_id"}

// isSplitColumn reports whether a column of this name divides the rows into parts, so that it is not a class.
func isSplitColumn(name string) bool {
	name = strings.ToLower(name)
	return flagColumns[name] != "" || slices.Contains(foldColumns, name)
}

// isYes returns whether a field means true. ok is false if it means neither true nor false.
func isYes(field string) (yes, ok bool) {
	switch strings.ToLower(field) {
	case "true", "t", "yes", "y", "1", "1.0":
		return true, true
	case "false", "f", "no", "n", "0", "0.0":
		return false, true
	}
	return false, false
}

// splitInColumn returns the split that a field of the split column names, or "" for other fields.
func (t *Table) splitInColumn(column int, field string) string {
	of, isFlag := "", false
	if t.header != nil {
		of, isFlag = flagColumns[strings.ToLower(t.header[column])]
	}
	if !isFlag {
		return SplitNamed(field)
	}
	yes, ok := isYes(field)
	switch {
	case !ok:
		return ""
	case yes:
		return of
	case of == train:
		return val
	}
	return train
}

// splitByValue returns the column and the value in an option "split=NAME:VALUE". The rows with this value are
// for validation.
func (t *Table) splitByValue(role, name string) (column int, value string, ok bool) {
	if role != "split" || slices.Contains(t.header, name) {
		return 0, "", false
	}
	at := strings.LastIndex(name, ":")
	if at < 0 {
		return 0, "", false
	}
	column = slices.Index(t.header, name[:at])
	return column, name[at+1:], column >= 0
}

func splitOfValue(field, validation string) string {
	if field == validation {
		return val
	}
	return train
}

// checkValidation returns an error if no row has the value of the option "split=NAME:VALUE".
func (t *Table) checkValidation(c Columns) error {
	if c.validation == nil || slices.ContainsFunc(t.Rows, func(r Row) bool {
		return r.Fields[c.split] == *c.validation
	}) {
		return nil
	}
	var cells []string
	for _, row := range t.Rows {
		cells = append(cells, row.Fields[c.split])
	}
	return problem.New("csv-columns", "split="+t.header[c.split]+":"+*c.validation,
		"no row has this value in column "+t.header[c.split], "name one of "+names.First(distinctCells(cells)))
}

// foldInWords returns a note if the table has a column of folds that is not used, and otherwise "".
func (t *Table) foldInWords(c Columns) string {
	at := t.usual(foldColumns)
	if at < 0 || c.split >= 0 || at == c.label || at == c.Path || at == c.Group ||
		slices.Contains(slices.Concat(c.Targets, c.OneHot), at) {
		return ""
	}
	name, value := t.header[at], t.Rows[0].Fields[at]
	return fmt.Sprintf("column %s is not used (with split=%s:%s among the columns its rows with %s are for "+
		"validation)", name, name, value, value)
}

// NoLabel returns the error for a row without a label.
func (t *Table) NoLabel(row Row, c Columns) error {
	if c.OneHot == nil && row.Fields[c.label] != "" {
		return problem.Advise("take the row out, or write another name if it is a class",
			"line %d has no label: %s means that it is not known", row.Line, row.Fields[c.label])
	}
	return fmt.Errorf("line %d has no label", row.Line)
}

// SplitOf returns the split of a row: "" in a table without a split column.
func (t *Table) SplitOf(row Row, c Columns) (string, error) {
	if c.split < 0 {
		return "", nil
	}
	if c.validation != nil {
		return splitOfValue(row.Fields[c.split], *c.validation), nil
	}
	split := t.splitInColumn(c.split, row.Fields[c.split])
	if split == "" {
		return "", problem.Advise("write train, val or test, or take another column with {csv-columns} split=NAME",
			"line %d: %q is no split", row.Line, row.Fields[c.split])
	}
	return split, nil
}
