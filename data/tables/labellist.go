package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// labelLists states the form of the lists in a column of labels.
type labelLists string

// The forms of lists of labels, by their names in Options.Columns.
const (
	noLists    labelLists = "none" // there are no lists: a cell is one label
	semicolons labelLists = "semicolon"
	bars       labelLists = "bar"
	commas     labelLists = "comma"
	blanks     labelLists = "space"
	brackets   labelLists = "brackets" // a list as Python or NumPy writes it: ['cat', 'dog']
)

var allLists = []labelLists{noLists, semicolons, bars, commas, blanks, brackets}

func listsInWords() string {
	var names []string
	for _, l := range allLists {
		names = append(names, string(l))
	}
	return strings.Join(names, ", ")
}

// separators are the texts between two labels of a list.
var separators = map[labelLists]string{semicolons: ";", bars: "|", commas: ",", blanks: " "}

// inWords describes the form of lists in a table.
func (l labelLists) inWords() string {
	switch l {
	case blanks:
		return "blanks are between them"
	case brackets:
		return "lists in brackets"
	}
	return separators[l] + " is between them"
}

// contains reports whether a cell looks like a list in this form.
func (l labelLists) contains(cell string) bool {
	switch l {
	case noLists:
		return false
	case brackets:
		return isBracketed(cell)
	}
	return strings.Contains(cell, separators[l])
}

// isSeveral reports whether a cell shows that labels do not exclude each other.
func (l labelLists) isSeveral(cell string) bool {
	if l != brackets {
		return l.contains(cell)
	}
	names, err := bracketedNames(cell)
	return !isMissing(cell) && (err != nil || len(names) != 1)
}

// names returns the labels in a cell, in their order.
func (l labelLists) names(cell string) ([]string, error) {
	switch l {
	case noLists:
		return []string{cell}, nil
	case blanks:
		return strings.Fields(cell), nil
	case brackets:
		return bracketedNames(cell)
	}
	separator := separators[l]
	if cell == separator {
		return nil, nil
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(cell, separator), separator) {
		names = append(names, strings.TrimSpace(name))
	}
	return names, nil
}

// findLists returns the form of the lists in a column of labels. Semicolons, bars and brackets are never part
// of a name. Commas and blanks may be. They separate labels if all labels of the lists are numbers, if each
// label is also the only label of another row, or if few labels make many lists.
func findLists(cells []string) (labelLists, error) {
	distinct := distinctCells(cells)
	for _, l := range []labelLists{semicolons, bars} {
		if slices.ContainsFunc(distinct, func(c string) bool { return l.contains(c) && !isBracketed(c) }) {
			return l, nil
		}
	}
	if slices.ContainsFunc(distinct, isBracketed) {
		return brackets, nil
	}
	for _, l := range []labelLists{commas, blanks} {
		switch evidence, example := listEvidence(l, distinct); evidence {
		case areLists:
			return l, nil
		case mayBeLists:
			return noLists, problem.Advise(fmt.Sprintf("add list=%s to {csv-columns} if it is, and list=%s if it is "+
				"one label", l, noLists), "label %q may be a list of labels with %s between them", example,
				map[labelLists]string{commas: "commas", blanks: "blanks"}[l])
		}
	}
	return noLists, nil
}

// distinctCells returns every different cell that has a label once, in the order of the rows.
func distinctCells(cells []string) (distinct []string) {
	seen := map[string]bool{}
	for _, c := range cells {
		if c != "" && !seen[c] {
			seen[c] = true
			distinct = append(distinct, c)
		}
	}
	return distinct
}

const (
	areNames   = iota // the separator is part of a name in these cells
	mayBeLists        // the cells may be lists
	areLists
)

// listEvidence states how likely it is that cells with the separator of l are lists. It also returns an
// example.
func listEvidence(l labelLists, distinct []string) (evidence int, example string) {
	whole, labels := map[string]bool{}, map[string]bool{}
	var lists [][]string
	for _, cell := range distinct {
		whole[cell] = true
		names, _ := l.names(cell)
		for _, name := range names {
			labels[name] = true
		}
		if len(names) > 1 {
			lists = append(lists, names)
			if example == "" {
				example = cell
			}
		}
	}
	hasNote := func(cell string) bool { return strings.Contains(cell, "(") }
	if len(lists) == 0 || slices.ContainsFunc(distinct, hasNote) {
		return areNames, ""
	}
	if l == blanks && allNumbers(labels) || allAreWhole(lists, whole) {
		return areLists, example
	}
	within := 0 // number of lists that contain a shorter list
	for _, names := range lists {
		if slices.ContainsFunc(distinct, func(c string) bool { return isPartOfList(l, c, names) }) {
			within++
		}
	}
	switch {
	case 2*within < len(lists):
		return areNames, ""
	case len(distinct) > len(labels):
		return areLists, example
	}
	return mayBeLists, example
}

func allNumbers(labels map[string]bool) bool {
	for name := range labels {
		if strings.Trim(name, "0123456789") != "" {
			return false
		}
	}
	return true
}

// allAreWhole reports whether each label of all lists is also the whole content of some cell.
func allAreWhole(lists [][]string, whole map[string]bool) bool {
	return !slices.ContainsFunc(lists, func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return !whole[name] })
	})
}

// isPartOfList reports whether a cell has some but not all of the labels of a list. The labels at the end of
// a list do not count: "egyptian cat" is a name, although "cat" is one too.
func isPartOfList(l labelLists, cell string, list []string) bool {
	names, _ := l.names(cell)
	if len(names) >= len(list) || slices.Equal(names, list[len(list)-len(names):]) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(list, name) })
}

// missing are the texts that programs write for a missing value.
var missing = []string{"", "NaN", "nan", "NAN", "NA", "N/A", "n/a", "#N/A", "<NA>", "NULL"}

// isMissing reports whether a field marks a missing value.
func isMissing(field string) bool { return slices.Contains(missing, field) }
