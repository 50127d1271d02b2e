// Results prints the tables of pages from the measurements that are kept next to them. In a page a table
// is placed between two lines:
//
//	<!-- peers.json infer -->
//	<!-- end -->
//
// The first names a file of docs/results and, for comparisons, a group, or "summary" and groups. The
// text between the lines is replaced. make results runs it; its test names pages that are not current.
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

// folder is the folder of the measurements.
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

// run brings the pages below root up to date or, without write, returns those that are not.
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

// marked is a table of a page, between its two lines.
var marked = regexp.MustCompile(`(?s)<!-- ([\w.-]+\.json)((?: [\w,-]+)*) -->\n.*?<!-- end -->`)

// printed returns a page with its tables printed again.
func printed(root, page string) (string, error) {
	var all error
	text := marked.ReplaceAllStringFunc(page, func(found string) string {
		m := marked.FindStringSubmatch(found)
		table, err := table(root, m[1], strings.Fields(m[2]))
		all = errors.Join(all, err)
		return fmt.Sprintf("<!-- %s%s -->\n%s<!-- end -->", m[1], m[2], table)
	})
	return text, all
}

// table prints a measurement, or a group of it, with its origin.
func table(root, file string, words []string) (string, error) {
	m, err := report.Read(filepath.Join(root, folder, file))
	if err != nil {
		return "", err
	}
	text := ""
	switch {
	case len(m.Rows) > 0 && len(words) == 0:
		text = m.Table()
	case len(words) > 1 && words[0] == "summary":
		for _, g := range words[1:] {
			if len(m.Group(g)) == 0 {
				return "", fmt.Errorf("%s: there is no group %q", file, g)
			}
		}
		text = m.Summary(words[1:]...)
	case len(words) == 1 && len(m.Group(words[0])) > 0:
		text = m.Compared(words[0])
	default:
		return "", fmt.Errorf("%s: %q names no table of it; there are %s", file, strings.Join(words, " "),
			strings.Join(m.Groups(), ", "))
	}
	return text + "\n" + m.Origin(), nil
}
