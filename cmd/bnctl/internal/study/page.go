package study

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/internal/style"
	"github.com/bnctl/bnctl/problem"
)

//go:embed page.html
var pageText string

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"hyphenated": hyphenated}).Parse(pageText))
})

// hyphenated returns a heading of the table with a mark where it may be broken on a narrow page.
func hyphenated(heading string) string {
	return strings.ReplaceAll(heading, "synchronising", "synchron\u00adising")
}

// Page writes the results as an HTML page that needs no other file.
func (r *Results) Page(w io.Writer) error {
	var rows [][]string
	for _, row := range r.Table() {
		rows = append(rows, row.cells())
	}
	rows = append(rows, r.refused()...)
	return page().Execute(w, map[string]any{"Style": template.CSS(style.CSS()), "Results": r,
		"Columns": r.headings(), "Rows": rows, "Findings": r.Findings(), "Plots": r.Plots(), "Length": r.length(),
		"Kept": r.retained()})
}

// length describes how long a run is, in epochs or steps.
func (r *Results) length() string {
	if r.Epochs > 0 {
		return problem.Plural(r.Epochs, "epoch") + " (" + problem.Plural(r.Steps, "step") + ")"
	}
	return problem.Plural(r.Steps, "step")
}

// retained describes, for each number of samples per replica, the share of the variance that the merge rule
// mean has kept.
func (r *Results) retained() []string {
	var out []string
	for _, k := range r.PerReplica {
		var ratios []float64
		low, high := VarianceRatio{Ratio: 2}, VarianceRatio{}
		for _, run := range r.Runs {
			for _, l := range run.Retained {
				if run.Setting != r.setting(Replica, k) {
					continue
				}
				ratios = append(ratios, l.Ratio)
				if l.Ratio < low.Ratio {
					low = l
				}
				if l.Ratio > high.Ratio {
					high = l
				}
			}
		}
		if len(ratios) > 0 {
			out = append(out, fmt.Sprintf("%s per replica: %.4f on average, from %.4f (%s) to %.4f (%s)",
				problem.Plural(k, "sample"), figure(ratios).Mean, low.Ratio, low.Layer, high.Ratio, high.Layer))
		}
	}
	return out
}
