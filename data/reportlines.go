package data

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Lines returns the report as text.
func (r *Report) Lines() (lines []string) {
	add := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
	split := ""
	if r.Split != "" {
		split = " (" + r.Split + ")"
	}
	add("%s%s: %s, each %s", r.Kind, split, problem.Plural(r.Samples, "sample"), r.Sample)
	if len(r.Kinds) > 0 {
		add("kinds        %s", countByExtension(r.Kinds))
	}
	if r.Sizes != "" {
		add("sizes        %s (width x height)", r.Sizes) // --size has the height first
	}
	add("mean         %s", figures(r.Mean))
	add("deviation    %s", figures(r.Std))
	add("fingerprint  %s", r.Fingerprint)
	if len(r.Classes) == 0 {
		return lines
	}
	unit := ""
	if r.Masks {
		unit = ", in pixels"
	}
	add("%s%s:", problem.Plural(len(r.Classes), "class"), unit)
	for _, name := range r.Classes {
		add("   %7d  %s", r.PerClass[name], name)
	}
	if r.Unlabelled > 0 {
		add("   %7d  ignored (-1)", r.Unlabelled)
	}
	return lines
}

func figures(v []float64) string {
	texts := make([]string, len(v))
	for i, x := range v {
		texts[i] = fmt.Sprintf("%.3f", x)
	}
	return strings.Join(texts, "  ")
}
