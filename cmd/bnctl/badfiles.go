package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
)

// tellOfFiles says which part of a source is taken for another, and which files are no samples.
func tellOfFiles(o *output, flag string, i data.Info) {
	if i.Requested != "" {
		o.note("%s: there is no part %s: %s is taken", flag, i.Requested, i.Split)
	}
	if n := len(i.Skipped); n > 0 {
		o.note("%s: %s left out, which cannot be read: %s", flag, counted(n, "file"), namesOf(i.Skipped))
	}
	if n := len(i.Absent); n > 0 {
		o.note("%s: no pixel of any mask is of %s: %s", flag, counted(n, "class"), firstOf(i.Absent))
	}
	if len(i.Ignored) > 0 {
		o.note("%s: files that are no pictures are ignored: %s", flag, kindList(i.Ignored))
	}
	if len(i.Empty) > 0 {
		o.note("%s: %s without a picture: %s", flag, counted(len(i.Empty), "folder"), firstOf(i.Empty))
	}
}

func namesOf(bad []data.Bad) string {
	var names []string
	for _, b := range bad {
		names = append(names, b.Name)
	}
	return firstOf(names)
}

func firstOf(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// kindList writes how many files there are of each extension: "120 .jpg, 3 .png".
func kindList(kinds map[string]int) string {
	var counts []string
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		name := k
		if name == "" {
			name = "without ending"
		}
		counts = append(counts, fmt.Sprintf("%d %s", kinds[k], name))
	}
	return strings.Join(counts, ", ")
}
