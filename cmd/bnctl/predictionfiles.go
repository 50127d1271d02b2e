package main

import (
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/format"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/predict"
)

// checkFiles returns an error if several arrays would be written to standard output, which can only have one,
// or if a file cannot be written. It writes a note if the meaning of the outputs is unknown.
func (p *prediction) checkFiles(o *output, a *predict.Answers) error {
	if a.AmbiguousLogits {
		o.note("%s is written as it is: nothing shows that it is logits of classes. If it is, "+
			"add --task classify; strip --labels makes a template with labels", a.Name(a.Scores))
	}
	if format.IsFolder(p.format) {
		return format.CheckFolder(p.format, a, p.output)
	}
	if p.output == "" {
		arrays := format.Arrays(a)
		if p.format != "npy" || len(arrays) < 2 {
			return nil
		}
		if !a.KeepLogits() {
			return misadvise("add -o FILE.npy, or pick one with --only",
				"the model has %s, %s, and --format npy writes an array for each",
				plural(len(arrays), "output"), strings.Join(a.Names(arrays), ", "))
		}
		o.note("standard output holds one array: %s; -o FILE.npy writes the others too", a.Name(a.Chosen[0]))
		return nil
	}
	if p.format == "npy" && !strings.EqualFold(filepath.Ext(p.output), ".npy") {
		return misuse("-o %s: want a name that ends with .npy", p.output)
	}
	for _, path := range p.paths(a) {
		if err := regular.Writable(path); err != nil {
			return err
		}
	}
	return nil
}

// paths returns the paths of the files that -o names.
func (p *prediction) paths(a *predict.Answers) []string {
	if p.format == "npy" {
		return format.Paths(a, p.output)
	}
	return []string{p.output}
}
