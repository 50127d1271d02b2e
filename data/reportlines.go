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
		add("sizes        %s (width x height)", r.Sizes) // the option --size has the height first, unlike this
	}
	add("mean         %s", figures(r.Mean))
	add("deviation    %s", figures(r.Std))
	add("fingerprint  %s", r.Fingerprint)
	if len(r.Targets) > 0 {
		add("%s:", problem.Plural(len(r.Targets), "target"))
	}
	for _, t := range r.Targets {
		add("   %s", t.line(r.Samples))
	}
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

// line describes a target. samples is the number of samples of the source.
func (t Target) line(samples int) string {
	text := t.Name + "  no sample has a number"
	if t.N > 0 {
		text = fmt.Sprintf("%s  %.6g to %.6g, mean %.6g, deviation %.6g", t.Name, t.Smallest, t.Largest, t.Mean,
			t.Std)
	}
	if t.N > 0 && t.N < samples {
		text += fmt.Sprintf(", missing in %s", problem.Plural(samples-t.N, "sample"))
	}
	return text
}

func figures(v []float64) string {
	texts := make([]string, len(v))
	for i, x := range v {
		texts[i] = fmt.Sprintf("%.3f", x)
	}
	return strings.Join(texts, "  ")
}
