package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/study"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// results is the name of the file of results in a folder.
const results = "results.json"

// load reads earlier results of the same study from the folder.
func (s *runner) load() error {
	s.describe()
	if err := os.MkdirAll(s.o.Folder, 0o777); err != nil {
		return err
	}
	was, err := Read(s.o.Folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	now := s.results
	if was.Recipe != now.Recipe {
		return problem.New("output", s.o.Folder, "it holds a study of another recipe", "use another {output}")
	}
	now.Runs, now.Speeds, now.Samplings, now.Commands = was.Runs, was.Speeds, was.Samplings, was.Commands
	now.Refused, now.Durations = was.Refused, was.Durations
	if was.Arms == nil {
		was.Arms = study.DefaultArms()
	}
	if now.Arms == nil {
		now.Arms = study.DefaultArms()
	}
	now.Arms = append(was.Arms, missingFrom(now.Arms, was.Arms)...)
	now.Seeds = append(was.Seeds, missingFrom(now.Seeds, was.Seeds)...)
	now.PerReplica = append(was.PerReplica, missingFrom(now.PerReplica, was.PerReplica)...)
	slices.Sort(now.PerReplica)
	return nil
}

// maxResults is the largest accepted size of the results of a study, in bytes. A run needs a few thousand
// bytes.
const maxResults = 64 << 20

// Read returns the results of a study in a folder. The error is os.ErrNotExist if there are
// no results.
func Read(folder string) (*study.Results, error) {
	path := filepath.Join(folder, results)
	b, err := regular.Read(path, maxResults)
	if err != nil {
		return nil, err
	}
	r := &study.Results{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, problem.Advise("use another folder", "%s: %w", path, err)
	}
	return r, nil
}

// missingFrom returns the elements of list that are not in have.
func missingFrom[T comparable](list, have []T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(v T) bool { return slices.Contains(have, v) })
}

// describe sets the fields of the results that describe the study.
func (s *runner) describe() {
	r, out := s.recipe, s.results
	out.Recipe = sum(r.JSON())
	out.Model, out.Data, out.Samples, out.Validation = r.Model, r.Data.Kind, r.Data.Samples, r.Validation.Samples
	out.Epochs, out.Steps, out.Batch = r.Epochs, r.TotalSteps(), r.Batch
	out.LearningRate, out.Schedule, out.Augment, out.Kernels = r.LR, r.Schedule, r.Augment.String(), r.Kernels
}

// save writes the results so far. If the study is stopped, it can continue from them.
func (s *runner) save() error {
	if line := s.o.Command; line != "" && !slices.Contains(s.results.Commands, line) {
		s.results.Commands = append(s.results.Commands, line)
	}
	return regular.WriteFile(filepath.Join(s.o.Folder, results), 0o666, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(s.results)
	})
}

// sum returns the SHA-256 of b, in hexadecimal digits.
func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// Write writes the table, the plots and the page of a study into a folder, and
// returns the path of the page.
func Write(folder string, r *study.Results) (page string, err error) {
	text := map[string]string{"table.md": r.Text()}
	for _, p := range r.Plots() {
		text[p.Name+".svg"] = string(p.File())
	}
	for name, content := range text {
		err := regular.WriteFile(filepath.Join(folder, name), 0o666, func(w io.Writer) error {
			_, err := io.WriteString(w, content)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	page = filepath.Join(folder, "index.html")
	return page, regular.WriteFile(page, 0o666, func(w io.Writer) error { return r.Page(w) })
}
