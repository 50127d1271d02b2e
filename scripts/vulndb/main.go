// Command vulndb makes a database for govulncheck from the reports in the module golang.org/x/vulndb. With
// it, govulncheck needs no network other than the module proxy:
//
//	vulndb FOLDER-OF-OSV-FILES DATABASE
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// report has the fields of an OSV file, a report on a vulnerability, that the indices of the database need
// (https://go.dev/doc/security/vuln/database).
type report struct {
	ID       string `json:"id"`
	Modified string `json:"modified"`
	Affected []struct {
		Package struct{ Name string }
	} `json:"affected,omitempty"`
}

// vulnerability is a part of an entry of index/modules.json. If an entry does not have the version that fixes
// the vulnerability, govulncheck reads the report.
type vulnerability struct {
	ID       string `json:"id"`
	Modified string `json:"modified"`
}

type module struct {
	Path  string          `json:"path"`
	Vulns []vulnerability `json:"vulns"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: vulndb FOLDER-OF-OSV-FILES DATABASE")
		os.Exit(2)
	}
	if err := convert(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "vulndb:", err)
		os.Exit(1)
	}
}

// convert reads the OSV files in the folder from, and writes the database to the folder to.
func convert(src, dst string) error {
	files, err := filepath.Glob(filepath.Join(src, "GO-*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s: no reports, %v", src, err)
	}
	modules, last := map[string]*module{}, ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		last = max(last, r.Modified)
		r.index(modules)
		if err := write(filepath.Join(dst, "ID", filepath.Base(file)), text); err != nil {
			return err
		}
	}
	all := []*module{}
	for _, m := range modules {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
	if err := writeJSON(filepath.Join(dst, "index/modules.json"), all); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dst, "index/db.json"), map[string]string{"modified": last})
}

// index adds the report to the entry of each module that it affects.
func (r *report) index(modules map[string]*module) {
	for _, a := range r.Affected {
		m := modules[a.Package.Name]
		if m == nil {
			m = &module{Path: a.Package.Name}
			modules[m.Path] = m
		}
		v := vulnerability{r.ID, r.Modified}
		if !slices.Contains(m.Vulns, v) {
			m.Vulns = append(m.Vulns, v)
		}
	}
}

func writeJSON(file string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return write(file, text)
}

func write(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
