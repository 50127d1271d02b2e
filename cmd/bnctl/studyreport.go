package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/regular"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/study"
)

// load takes in what the folder holds of the same study.
func (s *studyRun) load() error {
	s.describe()
	if err := os.MkdirAll(s.folder, 0o777); err != nil {
		return err
	}
	was, err := s.read()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	now := s.results
	if was.Recipe != now.Recipe {
		return misuse("%s holds a study of another recipe; use another -o DIR", s.folder)
	}
	now.Runs, now.Speeds, now.Samplings, now.Commands = was.Runs, was.Speeds, was.Samplings, was.Commands
	now.Seeds = append(was.Seeds, beyond(now.Seeds, was.Seeds)...)
	now.PerReplica = append(was.PerReplica, beyond(now.PerReplica, was.PerReplica)...)
	slices.Sort(now.PerReplica)
	return nil
}

// maxResults bounds the results of a study, in bytes: a run takes a few thousand.
const maxResults = 64 << 20

// read returns what the folder holds.
func (s *studyRun) read() (*study.Results, error) {
	b, err := regular.Read(s.path("results.json"), maxResults)
	if err != nil {
		return nil, err
	}
	r := &study.Results{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w; use another -o DIR", s.path("results.json"), err)
	}
	return r, nil
}

// beyond returns what is in list and not in have.
func beyond[T comparable](list, have []T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(v T) bool { return slices.Contains(have, v) })
}

// describe fills in the head of the results.
func (s *studyRun) describe() {
	r, out := s.recipe, s.results
	out.Recipe = digest(r.JSON())
	out.Model, out.Data, out.Samples, out.Validation = r.Model, r.Data.Kind, r.Data.Samples, r.Validation.Samples
	out.Epochs, out.Steps, out.Batch = r.Epochs, r.TotalSteps(), r.Batch
	out.LearningRate, out.Schedule, out.Augment, out.Kernels = r.LR, r.Schedule, r.Augment, r.Kernels
}

func (s *studyRun) path(name string) string { return filepath.Join(s.folder, name) }

// save writes the results: a study that is stopped goes on from them.
func (s *studyRun) save() error {
	if line := commandLine(os.Args); !slices.Contains(s.results.Commands, line) {
		s.results.Commands = append(s.results.Commands, line)
	}
	return serialize.WriteFile(s.path("results.json"), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(s.results)
	})
}

// report writes table, plots and page, and prints table and answers.
func (s *studyRun) report() error {
	r := s.results
	plots, err := r.Plots()
	if err != nil {
		return err
	}
	text := map[string]string{"table.md": r.Text()}
	for _, p := range plots {
		text[p.Name+".svg"] = string(p.SVG)
	}
	for name, content := range text {
		err := serialize.WriteFile(s.path(name), func(w io.Writer) error {
			_, err := io.WriteString(w, content)
			return err
		})
		if err != nil {
			return err
		}
	}
	err = serialize.WriteFile(s.path("index.html"), func(w io.Writer) error { return r.Page(w) })
	if err != nil {
		return err
	}
	for _, row := range r.Table() {
		s.out.event("row", row)
	}
	s.out.result("%v", lines(r.Text()))
	for _, f := range r.Findings() {
		s.out.event("finding", f)
		s.out.result("%s\n   %s\n", f.Question, f.Answer)
	}
	s.out.event("study", map[string]any{"page": s.path("index.html"), "runs": len(r.Runs)})
	s.out.result("wrote %s", s.path("index.html"))
	return nil
}

// commandLine writes a command as it would be typed.
func commandLine(args []string) string {
	words := []string{"bnctl"}
	for _, a := range args[1:] {
		if strings.ContainsAny(a, " '\"$*?;&|<>()") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}
