package main

import (
	"context"
	"errors"
	"strings"

	"github.com/bnctl/bnctl/modelfile/strip"
	"github.com/bnctl/bnctl/problem"
)

// orTensors adds to an error of strip a command that needs no architecture, if no template can be made.
func orTensors(ctx context.Context, err error, o strip.Options) error {
	var no *strip.NoTemplate
	if !errors.As(err, &no) || code(ctx, err) == exitMisused {
		return err
	}
	inputs := strings.Join(o.Inputs, " ")
	return problem.Advise("this needs no architecture: bnctl strip "+inputs+" -o "+
		strings.TrimSuffix(o.Output, ".bnm")+".safetensors", "%s: %w", inputs, err)
}

// reportStrip prints what was removed from a file, and what remains.
func reportStrip(o *output, r *strip.Report) {
	noteSuspect(o, r.Suspect)
	for _, n := range r.Findings {
		o.note("%s", findingLine(n))
	}
	if r.Format != "bnc" && r.Model != nil {
		noteOfPictures(o, r.Output, r.Model, "strip")
	}
	o.event("strip", r)
	origins := []string{}
	for _, word := range []string{r.Architecture, r.Format} {
		if word != "" {
			origins = append(origins, word)
		}
	}
	if r.Replicas > 0 {
		origins = append(origins, plural(r.Replicas, "replica"))
	}
	o.result("removed from %s (%s):", strings.Join(r.Inputs, ", "), strings.Join(origins, ", "))
	for _, line := range r.Removed.Lines {
		o.result("   %s", line)
	}
	if len(r.Removed.Lines) == 0 && len(r.Findings) == 0 && len(r.Suspect) == 0 {
		o.result("   nothing: it was clean")
	}
	o.result("wrote %s  sha256 %s  (%s, %s, statistics %s, %s)", r.Output, r.SHA256,
		plural(r.Parameters, "parameter"), plural(r.BN.Layers, "batch norm"), r.BN.Merged,
		healthText(r.BN.Health, r.BN.Warnings))
	warnOfSickness(o, &r.Sick, r.Output)
}

// healthText describes the health of a model for people. If there are only warnings, the model is healthy,
// because a published model may well have silent channels.
func healthText(word string, warnings int) string {
	if word == "odd" {
		word = "healthy"
	}
	if warnings > 0 {
		word += ", " + plural(warnings, "warning")
	}
	return word
}
