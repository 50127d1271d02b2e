// Package names compares, orders and lists the names of files and classes.
package names

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// First returns the first few names, and the number of the others, as text.
func First(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// InOrderOfNumbers returns the names of classes sorted by number, if all of them are numbers. Otherwise it
// leaves them in alphabetical order.
func InOrderOfNumbers(names []string) []string {
	number := func(name string) int {
		n, err := strconv.ParseUint(name, 10, 31)
		if err != nil || strconv.FormatUint(n, 10) != name {
			return -1
		}
		return int(n)
	}
	if !slices.ContainsFunc(names, func(name string) bool { return number(name) < 0 }) {
		slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	}
	return names
}
