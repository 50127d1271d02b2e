package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		s    Sample
		want float64
	}{{nil, 0}, {Sample{3}, 3}, {Sample{1, 4}, 2.5}, {Sample{1, 2, 9}, 2}} {
		if got := c.s.Median(); got != c.want {
			t.Errorf("%v: got %g, want %g", []float64(c.s), got, c.want)
		}
	}
}

func TestCompared(t *testing.T) {
	row := func(unit string, less bool, ours, theirs float64) Comparison {
		return Comparison{Group: "infer", Unit: unit, Less: less, Must: 1.3, Aim: 2, Bnctl: Sample{ours},
			Theirs: Sample{theirs}}
	}
	m := Measurement{Comparisons: []Comparison{row("img/s", false, 300, 100), row("s", true, 4, 3),
		row("s", true, 4, 6)}}
	table := m.Compared("infer", true)
	for _, want := range []string{"| 3.00 | |", "| **0.75** | |", "geometric mean of 3** (least 0.75) | | | **1.50** | |",
		"| infer (must 1.3, aim 2) |", "| is | FMA |\n|---|---|---|---|---|\n"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is missing in\n%s", want, table)
		}
	}
	if short := m.Compared("infer", false); strings.Contains(short, "FMA") || !strings.Contains(short, "| 3.00 |\n") {
		t.Errorf("without rates:\n%s", short)
	}
}

// Groups from several files become one table. Below it is a line for the origin of each file.
func TestSummaries(t *testing.T) {
	measured := func(group string, ours float64) *Measurement {
		return &Measurement{Processor: "P", Command: "c", Measured: "2026-11-26", Comparisons: []Comparison{
			{Group: group, Unit: "img/s", Must: 1, Aim: 2, Bnctl: Sample{ours}, Theirs: Sample{10}}}}
	}
	got := Summaries([]string{"x", "y"}, []*Measurement{measured("infer", 30), measured("train", 5)}, "infer", "train")
	want := "| file | group | cases | geometric mean | least | must | aim |\n|---|---|---|---|---|---|---|\n" +
		"| [x](x.json) | infer | 1 | 3.00 | 3.00 | 1 | 2 |\n| [y](y.json) | train | 1 | **0.50** | 0.50 | 1 | 2 |\n\n" +
		"- P: x (2026-11-26, `c`), y (2026-11-26, `c`)\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCounts(t *testing.T) {
	m := &Measurement{Processor: "P", Command: "c", Measured: "2026-11-26", Columns: []string{"recipe", "sha256"},
		Rows: [][]string{{"a", "b"}, {"c", "d"}}}
	got := Counts([]string{"x", "y"}, []*Measurement{m, m})
	want := "- [x](x.json), 2 rows: P, 2026-11-26, `c`\n- [y](y.json), 2 rows: P, 2026-11-26, `c`\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A file without the origin of its figures is rejected.
func TestRead(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"processor":"P","command":"c","measured":"2026-11-26","columns":["a"],"rows":[["1"]]}`, ""},
		{`{"command":"c","measured":"2026-11-26","columns":["a"],"rows":[["1"]]}`, "processor"},
		{`{"processor":"P","measured":"2026-11-26","columns":["a"],"rows":[["1"]]}`, "command"},
		{`{"processor":"P","command":"c","measured":"May","columns":["a"],"rows":[["1"]]}`, "want a day"},
		{`{"processor":"P","command":"c","measured":"2026-11-26"}`, "want comparisons"},
		{`{"processor":"P","command":"c","measured":"2026-11-26","columns":["a"],"rows":[["1","2"]]}`, "2 cells"},
		{`{"processor":"P","command":"c","measured":"2026-11-26","date":"x"}`, "unknown field"},
		{`{"processor":"P","command":"c","measured":"2026-11-26","comparisons":[{"ours":[2,1]}]}`, "sorted"},
	} {
		name := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(name, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Read(name)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}
