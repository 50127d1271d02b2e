package formats

import (
	"path"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/problem"
)

// drop removes the tensors with names that match a pattern, and returns the patterns
// without a match.
func drop(f *File, patterns []string) (unmatched []string, err error) {
	for _, p := range patterns {
		g := Group{Name: p, Reason: "{drop}"}
		for _, t := range slices.Clone(f.Tensors) {
			ok, err := matches(p, t.Name)
			if err != nil {
				return nil, notDropped(p, err.Error(), "").Because(err)
			}
			if ok {
				g.Tensors, g.Bytes = g.Tensors+1, g.Bytes+int64(t.Size())
				f.Tensors = slices.DeleteFunc(slices.Clone(f.Tensors), func(u Tensor) bool { return u.Name == t.Name })
			}
		}
		if g.Tensors == 0 {
			unmatched = append(unmatched, p)
			continue
		}
		f.Left = append(f.Left, g)
	}
	return unmatched, nil
}

// notDropped returns an error for a pattern of names to drop.
func notDropped(pattern, text, advice string) *problem.Error {
	e := problem.Failure("drop", text, advice)
	e.Value = pattern
	return e
}

// matches is like path.Match, but * matches slashes too.
func matches(pattern, name string) (bool, error) {
	flat := strings.NewReplacer("/", "\x00")
	return path.Match(flat.Replace(pattern), flat.Replace(name))
}

func listed(tensors []Tensor) string {
	var names []string
	for _, t := range tensors {
		names = append(names, t.Name)
	}
	return foreign.List(names)
}
