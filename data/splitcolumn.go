package data

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// flagColumns are the columns, in lower case, with true or false for membership in a split.
var flagColumns = map[string]Split{
	"is_valid": Val, "is_val": Val, "is_validation": Val,
	"is_test": Test, "is_train": Train, "is_training": Train,
}

// foldColumns are the columns for the folds of a cross-validation.
var foldColumns = []string{"fold", "folds", "kfold", "cv_fold", "fold_id"}

// isSplitColumn reports whether a column of this name divides the rows, rather than naming
// a class.
func isSplitColumn(name string) bool {
	name = strings.ToLower(name)
	return flagColumns[name] != "" || slices.Contains(foldColumns, name)
}

// isYes returns the truth value of a field.
func isYes(field string) (yes, ok bool) {
	switch strings.ToLower(field) {
	case "true", "t", "yes", "y", "1", "1.0":
		return true, true
	case "false", "f", "no", "n", "0", "0.0":
		return false, true
	}
	return false, false
}

// splitInColumn returns the split that a field of the split column names; "" if it is not a
// split.
func (t *labelTable) splitInColumn(column int, field string) Split {
	of, isFlag := Split(""), false
	if t.header != nil {
		of, isFlag = flagColumns[strings.ToLower(t.header[column])]
	}
	if !isFlag {
		return splitOf(field)
	}
	yes, ok := isYes(field)
	switch {
	case !ok:
		return ""
	case yes:
		return of
	case of == Train:
		return Val
	}
	return Train
}

// splitByValue returns the column and the value in "split=NAME:VALUE": rows with this value
// are for validation.
func (t *labelTable) splitByValue(role, name string) (column int, value string, ok bool) {
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

func splitOfValue(field, validation string) Split {
	if field == validation {
		return Val
	}
	return Train
}

// checkValidation refuses a value that does not occur in any row.
func (t *labelTable) checkValidation(c columns) error {
	if c.validation == nil || slices.ContainsFunc(t.rows, func(r tableRow) bool {
		return r.fields[c.split] == *c.validation
	}) {
		return nil
	}
	var cells []string
	for _, row := range t.rows {
		cells = append(cells, row.fields[c.split])
	}
	return problem.New("csv-columns", "split="+t.header[c.split]+":"+*c.validation,
		"no row has this value in column "+t.header[c.split], "name one of "+firstNames(distinctCells(cells)))
}

// foldInWords returns a note about an unused column of folds; "" without one.
func (t *labelTable) foldInWords(c columns) string {
	at := t.usual(foldColumns)
	if at < 0 || c.split >= 0 || at == c.label || at == c.path || at == c.group ||
		slices.Contains(slices.Concat(c.targets, c.oneHot), at) {
		return ""
	}
	name, value := t.header[at], t.rows[0].fields[at]
	return fmt.Sprintf("column %s is not used (with split=%s:%s among the columns its rows with %s are for "+
		"validation)", name, name, value, value)
}

// noLabel returns the error for a row without a label.
func (t *labelTable) noLabel(row tableRow, c columns) error {
	if c.oneHot == nil && row.fields[c.label] != "" {
		return problem.Advise("take the row out, or write another name if it is a class",
			"line %d has no label: %s means that it is not known", row.line, row.fields[c.label])
	}
	return fmt.Errorf("line %d has no label", row.line)
}
