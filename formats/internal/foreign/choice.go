package foreign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// maxListed limits the names listed in a message.
const maxListed = 12

// List returns names in quotes, joined by commas, for a message. If there are more than
// maxListed, it gives the number of the others.
func List(names []string) string {
	quoted := make([]string, 0, maxListed+1)
	for _, name := range names[:min(len(names), maxListed)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if n := len(names) - maxListed; n > 0 {
		quoted = append(quoted, fmt.Sprintf("%d more", n))
	}
	return strings.Join(quoted, ", ")
}

// Chosen adds the place of the chosen tensors to err, and advises to choose another place,
// if f has several places with tensors.
func (f *File) Chosen(err error) error {
	others := slices.DeleteFunc(slices.Clone(f.Keys), func(k string) bool {
		return k == f.Key || strings.HasPrefix(f.Key, k+".")
	})
	if err == nil || len(others) == 0 {
		return err
	}
	where := "at the top of the file"
	if f.Key != "" {
		where = fmt.Sprintf("under %q", f.Key)
	}
	return fmt.Errorf("%w; %w", err, problem.Failure("", fmt.Sprintf(
		"the tensors are those %s, there are the keys %s", where, List(f.Keys)), "pick another with {key}"))
}

// Leave removes a tensor and records the reason.
func (f *File) Leave(name, reason string) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		return
	}
	f.Left = append(f.Left, Group{Name: name, Reason: reason, Tensors: 1, Bytes: int64(f.Tensors[i].Size())})
	f.Tensors = slices.Delete(slices.Clone(f.Tensors), i, i+1)
}
