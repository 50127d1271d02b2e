package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/scripts/internal/report"
)

// The tables in the pages equal those that make results prints.
func TestPagesAreCurrent(t *testing.T) {
	changed, err := run("../..", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range changed {
		t.Errorf("%s is not what its measurements say: run make results", name)
	}
}

// Every stored measurement is shown on a page, and every table on a page of figures is printed from a
// measurement.
func TestEveryMeasurementIsShown(t *testing.T) {
	files, err := filepath.Glob("../../" + folder + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Errorf("only %d measurements were found", len(files))
	}
	list, err := pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, p := range list {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all += string(b)
	}
	for _, f := range files {
		shown := regexp.MustCompile(`<!-- (?:[\w.-]+\.json )*` + regexp.QuoteMeta(filepath.Base(f)) + `[ \w.,-]* -->`)
		if !shown.MatchString(all) {
			t.Errorf("%s is kept and shown on no page", f)
		}
	}
	for _, theme := range strings.Fields("inference training serving ranks survival files") {
		b, err := os.ReadFile("../../" + folder + "/" + theme + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if rest := marked.ReplaceAllString(string(b), ""); strings.Contains(rest, "\n|---") {
			t.Errorf("%s.md has a table that no measurement prints", theme)
		}
	}
}

func TestTables(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, folder), 0o777); err != nil {
		t.Fatal(err)
	}
	m := report.Measurement{Processor: "P", Command: "c", Measured: "2026-11-26", Comparisons: []report.Comparison{
		{Group: "infer", Name: "a", Unit: "img/s", Must: 1.3, Aim: 2, Bnctl: report.Sample{30}, Against: "X",
			Theirs: report.Sample{10, 20, 40}}}}
	if err := m.Write(filepath.Join(root, folder, "x.json")); err != nil {
		t.Fatal(err)
	}
	page := "before\n<!-- x.json infer -->\nold\n<!-- end -->\nafter\n"
	want := "before\n<!-- x.json infer -->\n| infer (must 1.3, aim 2) | ours | theirs | is |\n" +
		"|---|---|---|---|\n" +
		"| a, img/s | 30.0 (30.0 to 30.0) | X 20.0 (10.0 to 40.0) | 1.50 |\n" +
		"\nP; 2026-11-26; `c`\n<!-- end -->\nafter\n"
	if got, err := printed(root, page); err != nil || got != want {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	twice, err := printed(root, page+"<!-- x.json summary infer -->\n<!-- end -->\n")
	if err != nil || !strings.HasSuffix(twice, "| 1.3 | 2 |\n\nThe same run: [x.json](x.json).\n<!-- end -->\n") {
		t.Errorf("got %q, %v: the origin is printed twice", twice, err)
	}
	for _, wrong := range []string{"<!-- y.json -->\n<!-- end -->", "<!-- x.json -->\n<!-- end -->",
		"<!-- x.json train -->\n<!-- end -->", "<!-- x.json summary train -->\n<!-- end -->", "<!-- x.json count -->\n<!-- end -->",
		"<!-- x.json x.json infer -->\n<!-- end -->"} {
		if _, err := printed(root, wrong); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}
