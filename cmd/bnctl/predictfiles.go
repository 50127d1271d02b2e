package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// arrays returns the outputs of which --format npy makes an array each: all
// that are written; none if it writes one of probabilities.
func (p *predictions) arrays() []int {
	if p.format != "npy" || !p.Raw {
		return nil
	}
	return p.Chosen
}

// checkFiles refuses several arrays for standard output, which holds one, and
// files that cannot be written.
func (p *predictions) checkFiles(c *cli.Context) error {
	path := c.String("output")
	arrays := p.arrays()
	if path == "" {
		if len(arrays) < 2 {
			return nil
		}
		if p.Answer != models.Probabilities {
			return misuse("the model has %d outputs, %s, and --format npy writes an array for each: add -o FILE.npy, "+
				"or pick one with --only", len(arrays), strings.Join(p.Names(arrays), ", "))
		}
		p.KeepLogits()
		outputOf(c).note("standard output holds one array: %s; -o FILE.npy writes the others too",
			p.Name(p.Chosen[0]))
		return nil
	}
	if p.format == "npy" && !strings.EqualFold(filepath.Ext(path), ".npy") {
		return misuse("-o %s: want a name that ends with .npy", path)
	}
	for _, path := range p.paths(path) {
		if err := serialize.Writable(path); err != nil {
			return err
		}
	}
	return nil
}

// paths returns the files that -o asks for. Those of several arrays have the
// name of the output before the ending; what a file should not be called
// becomes an underscore.
func (p *predictions) paths(path string) []string {
	arrays := p.arrays()
	if len(arrays) < 2 {
		return []string{path}
	}
	ending := filepath.Ext(path)
	var paths []string
	for i, name := range p.Names(arrays) {
		name = strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '-' {
				return r
			}
			return '_'
		}, name)
		full := strings.TrimSuffix(path, ending) + "." + name + ending
		for slices.ContainsFunc(paths, func(s string) bool { return strings.EqualFold(s, full) }) {
			full = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(full, ending), i, ending)
		}
		paths = append(paths, full)
	}
	return paths
}

// write has predict write to standard output, or to the files of -o, which
// replace others of their names only when all of them are complete.
func (p *predictions) write(c *cli.Context, width int, predict func(predictionWriter) error) error {
	path := c.String("output")
	if path == "" {
		out := bufio.NewWriter(c.App.Writer)
		err := predict(p.writer([]io.Writer{out}, width))
		if err == nil {
			err = out.Flush()
		}
		return err
	}
	paths := p.paths(path)
	var failed error
	err := writeFiles(paths, nil, func(files []io.Writer) error {
		failed = predict(p.writer(files, width))
		return failed
	})
	if failed != nil {
		return failed
	}
	if err == nil {
		outputOf(c).note("wrote %s", strings.Join(paths, ", "))
	}
	return err
}

// writeFiles has write fill the files of all paths at once.
func writeFiles(paths []string, open []io.Writer, write func([]io.Writer) error) error {
	if len(paths) == 0 {
		return write(open)
	}
	return serialize.WriteFile(paths[0], func(w io.Writer) error {
		return writeFiles(paths[1:], append(open, w), write)
	})
}

// writer returns what writes the format to the files.
func (p *predictions) writer(files []io.Writer, width int) predictionWriter {
	switch p.format {
	case "json":
		return &jsonPredictions{p, &output{stdout: files[0], json: true}}
	case "csv":
		return &csvPredictions{p, csv.NewWriter(files[0]), false}
	case "npy":
		return &npyPredictions{p, files, false}
	}
	return &tablePredictions{p, files[0], width}
}
