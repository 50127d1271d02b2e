package formats

import (
	"path"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// drop leaves out the tensors whose names match a pattern, and returns the
// patterns that match none.
func drop(f *File, patterns []string) (unmatched []string, err error) {
	for _, p := range patterns {
		matched := false
		for _, t := range slices.Clone(f.Tensors) {
			ok, err := matches(p, t.Name)
			if err != nil {
				return nil, notDropped(p, err.Error(), "").Because(err)
			}
			if ok {
				f.Leave(t.Name, "{drop} "+p)
				matched = true
			}
		}
		if !matched {
			unmatched = append(unmatched, p)
		}
	}
	return unmatched, nil
}

// notDropped refuses a pattern.
func notDropped(pattern, text, advice string) *problem.Error {
	e := problem.Failure("drop", text, advice)
	e.Value = pattern
	return e
}

// matches is path.Match with * for slashes too.
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

// auxiliaryHead begins what torchvision calls the head that helps training of a
// network for pixels.
const auxiliaryHead = "aux_classifier."

// looseBeside says why t, which is none of the state of m, may be left out: it
// plainly is no layer's, or one of an auxiliary head, and m has no layers where it
// stands. It is "" if it may not.
func looseBeside(t Tensor, m *models.Model) string {
	reason := t.Loose()
	if reason == "" && strings.HasPrefix(t.Name, auxiliaryHead) {
		reason = "the auxiliary head, which has a use in training alone"
	}
	if reason == "" {
		return ""
	}
	place := t.Name[:strings.LastIndexAny(t.Name, "./")+1]
	for _, s := range m.Graph.State {
		if s.Name == t.Name || place != "" && strings.HasPrefix(s.Name, place) {
			return ""
		}
	}
	return reason
}

// leaveLoose leaves out what looseBeside finds.
func leaveLoose(f *File, m *models.Model) {
	for _, t := range slices.Clone(f.Tensors) {
		if reason := looseBeside(t, m); reason != "" {
			f.Leave(t.Name, reason)
		}
	}
}

// Doubtful returns the names of tensors that plainly are no layer's but are
// kept, since no architecture says that it has none of that name.
func Doubtful(f *File) []string {
	var names []string
	for _, t := range f.Tensors {
		if t.Loose() != "" {
			names = append(names, t.Name)
		}
	}
	return names
}
