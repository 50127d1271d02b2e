package data

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/problem"
)

// Notes returns messages about a split that replaces another one, and about files that are not samples.
func (i Info) Notes() (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if i.columns != "" {
		note("%s", i.columns)
	}
	if i.requested != "" {
		note("there is no part %s: %s is taken", i.requested, i.Split)
	}
	if n := len(i.Skipped); n > 0 {
		var skipped []string
		for _, bad := range i.Skipped {
			skipped = append(skipped, bad.Name)
		}
		note("%s left out, which cannot be read: %s", problem.Plural(n, "file"), names.First(skipped))
	}
	if n := len(i.Absent); n > 0 {
		note("no pixel of any mask is of %s: %s", problem.Plural(n, "class"), names.First(i.Absent))
	}
	if len(i.Ignored) > 0 {
		note("files that are no pictures are ignored: %s", countByExtension(i.Ignored))
	}
	if n := len(i.Empty); n > 0 {
		note("%s without a picture: %s", problem.Plural(n, "folder"), names.First(i.Empty))
	}
	return notes
}

// Notes returns messages about the number of samples that were set apart, and the classes with too few
// samples to set one apart.
func (h *HeldOut) Notes() []string {
	notes := []string{fmt.Sprintf("%s set apart for validation, %d left to train on",
		problem.Plural(h.Validation.Info().Len, "sample"), h.Training.Info().Len)}
	if len(h.Single) > 0 {
		notes = append(notes, "one sample is too few to set apart: "+names.First(h.Single))
	}
	return notes
}

// countByExtension returns the numbers of files by extension as text: "120 .jpg, 3 .png".
func countByExtension(files map[string]int) string {
	var counts []string
	for _, k := range slices.Sorted(maps.Keys(files)) {
		name := k
		if name == "" {
			name = "without ending"
		}
		counts = append(counts, fmt.Sprintf("%d %s", files[k], name))
	}
	return strings.Join(counts, ", ")
}
