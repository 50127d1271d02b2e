// Package names compares, orders and lists the names of files and classes.
package names

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// First lists a few names and counts the rest.
func First(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// InOrderOfNumbers sorts the names of classes by their numbers if all of them are numbers.
// Otherwise their alphabetical order stays.
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
