// Results prints the tables of pages from the measurements in docs/results. In a page a table is placed
// between two lines:
//
//	<!-- peers.json infer -->
//	<!-- end -->
//
// The first line names files of docs/results and the form of the table:
//
//	x.json               all rows and columns
//	x.json ... count     a list of the files with their numbers of rows
//	x.json GROUP         a group of comparisons
//	x.json ... summary GROUP ...
//	                     the summaries of groups of comparisons, of one file or several
//
// The program replaces the text between the two lines. In each page it prints the origin of a file once. make
// results runs the program. Its test names the pages that are not up to date.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bnctl/bnctl/scripts/internal/report"
)

// folder is the folder that has the measurements.
const folder = "docs/results"

func main() {
	changed, err := run(".", true)
	for _, name := range changed {
		fmt.Println("wrote", name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}

// pages lists the pages that may have tables.
func pages(root string) ([]string, error) {
	list, err := filepath.Glob(filepath.Join(root, folder, "*.md"))
	return append(list, filepath.Join(root, "README.md")), err
}

// run brings the pages below root up to date, and returns those that have changed. Without write it only
// returns the pages that are not up to date.
func run(root string, write bool) (changed []string, err error) {
	list, err := pages(root)
	if err != nil {
		return nil, err
	}
	var all error
	for _, name := range list {
		old, err := os.ReadFile(name)
		if err != nil {
			return changed, err
		}
		text, err := printed(root, string(old))
		if err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", name, err))
			continue
		}
		if text == string(old) {
			continue
		}
		changed = append(changed, name)
		if write {
			all = errors.Join(all, os.WriteFile(name, []byte(text), 0o666))
		}
	}
	return changed, all
}

// marked matches a table in a page, together with the two lines around it.
var marked = regexp.MustCompile(`(?s)<!-- ([\w.-]+\.json(?: [\w.,-]+)*) -->\n.*?<!-- end -->`)

// printed returns a page with its tables printed again.
func printed(root, page string) (string, error) {
	var all error
	seen := map[string]bool{}
	text := marked.ReplaceAllStringFunc(page, func(found string) string {
		marker := marked.FindStringSubmatch(found)[1]
		table, err := table(root, strings.Fields(marker), seen)
		all = errors.Join(all, err)
		return fmt.Sprintf("<!-- %s -->\n%s<!-- end -->", marker, table)
	})
	return text, all
}

// table prints a measurement, or groups of one or several, and its origin. It leaves out the origin of a file
// in seen, because the page has it further up.
func table(root string, words []string, seen map[string]bool) (string, error) {
	var names []string
	var list []*report.Measurement
	for len(words) > 0 && strings.HasSuffix(words[0], ".json") {
		m, err := report.Read(filepath.Join(root, folder, words[0]))
		if err != nil {
			return "", err
		}
		names, list, words = append(names, strings.TrimSuffix(words[0], ".json")), append(list, m), words[1:]
	}
	if len(words) > 1 && words[0] == "summary" {
		if err := checkGroups(names, list, words[1:]); err != nil {
			return "", err
		}
		if len(list) > 1 {
			return report.Summaries(names, list, words[1:]...), nil
		}
	}
	if len(words) == 1 && words[0] == "count" {
		return counted(names, list)
	}
	if len(list) != 1 {
		return "", fmt.Errorf("%s: only a summary and a count have several files", strings.Join(names, ", "))
	}
	text, err := form(names[0], list[0], words)
	origin := list[0].Origin()
	if seen[names[0]] {
		origin = fmt.Sprintf("The same run: [%s.json](%[1]s.json).\n", names[0])
	}
	seen[names[0]] = true
	return text + "\n" + origin, err
}

// form prints a measurement in the form that words describe.
func form(name string, m *report.Measurement, words []string) (string, error) {
	switch {
	case len(m.Rows) > 0 && len(words) == 0:
		return m.Table(), nil
	case len(words) > 1 && words[0] == "summary":
		return m.Summary(words[1:]...), nil
	case len(words) == 1 && len(m.Group(words[0])) > 0:
		return m.Compared(words[0], false), nil
	}
	return "", fmt.Errorf("%s.json: %q names no table of it; there are %s", name, strings.Join(words, " "),
		strings.Join(m.Groups(), ", "))
}

// counted prints a list of measurements with their numbers of rows.
func counted(names []string, list []*report.Measurement) (string, error) {
	for i, m := range list {
		if len(m.Rows) == 0 {
			return "", fmt.Errorf("%s.json: it has comparisons, not rows to count", names[i])
		}
	}
	return report.Counts(names, list), nil
}

// checkGroups checks that each group occurs in a file, and that each file has at least one of the groups.
func checkGroups(names []string, list []*report.Measurement, groups []string) error {
	found := map[string]bool{}
	for i, m := range list {
		has := false
		for _, g := range groups {
			if len(m.Group(g)) > 0 {
				has, found[g] = true, true
			}
		}
		if !has {
			return fmt.Errorf("%s.json: it has none of the groups %s", names[i], strings.Join(groups, ", "))
		}
	}
	for _, g := range groups {
		if !found[g] {
			return fmt.Errorf("%s.json: there is no group %q", strings.Join(names, ".json, "), g)
		}
	}
	return nil
}
