package format

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/predict"
)

// Arrays returns the numbers of those outputs that NPY writes as arrays. It returns nil if NPY writes a
// single array of probabilities.
func Arrays(a *predict.Answers) []int {
	if !a.Raw {
		return nil
	}
	return a.Chosen
}

// Paths returns the paths of the arrays that NPY writes. A single array is written to path. For several
// arrays, the name of each output is inserted before the extension of path. Characters that are not permitted
// in a file name become underscores.
func Paths(a *predict.Answers, path string) []string {
	arrays := Arrays(a)
	if len(arrays) < 2 {
		return []string{path}
	}
	extension := filepath.Ext(path)
	var paths []string
	for i, name := range a.Names(arrays) {
		name = strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '-' {
				return r
			}
			return '_'
		}, name)
		full := strings.TrimSuffix(path, extension) + "." + name + extension
		for slices.ContainsFunc(paths, func(s string) bool { return strings.EqualFold(s, full) }) {
			full = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(full, extension), i, extension)
		}
		paths = append(paths, full)
	}
	return paths
}

// Files creates a file for each path, and calls write with writers of these files. The files replace older
// ones only when all of them are complete.
func Files(paths []string, write func([]io.Writer) error) error {
	var failed error
	err := nested(paths, nil, func(files []io.Writer) error {
		failed = write(files)
		return failed
	})
	if failed != nil {
		return failed // this error of write matters more than errors of the files
	}
	return err
}

func nested(paths []string, open []io.Writer, write func([]io.Writer) error) error {
	if len(paths) == 0 {
		return write(open)
	}
	return regular.WriteFile(paths[0], 0o666, func(w io.Writer) error {
		return nested(paths[1:], append(open, w), write)
	})
}
