package formats

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/problem"
)

// renaming is a parsed REGEX=REPLACEMENT.
type renaming struct {
	text    string
	pattern *regexp.Regexp // matches whole names
	name    string         // $1 is the first group
}

// parseRenaming reads REGEX=REPLACEMENT.
func parseRenaming(text string) (renaming, error) {
	pattern, name, found := strings.Cut(text, "=")
	if !found || pattern == "" {
		return renaming{}, notRenamed(text, "want REGEX=REPLACEMENT, as in 'backbone.(.*)=$1'", "")
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return renaming{}, notRenamed(text, err.Error(), "").Because(err)
	}
	re := regexp.MustCompile("^(?:" + pattern + ")$")
	for _, m := range groupReference().FindAllStringSubmatch(name, -1) {
		group := m[1] + m[2]
		if n, err := strconv.Atoi(group); m[0] != "$$" && (err != nil || n > re.NumSubexp()) &&
			re.SubexpIndex(group) < 0 {
			return renaming{}, notRenamed(text, fmt.Sprintf("%s stands for no group of the pattern, which has %d",
				m[0], re.NumSubexp()), "write ${1} where a letter or a digit follows")
		}
	}
	return renaming{text, re, name}, nil
}

// groupReference matches a reference to a group in a replacement, and $$, an escaped
// dollar.
var groupReference = compiled(`\$(?:\$|\{(\w+)\}|(\w+))`)

// rename renames tensors by each REGEX=REPLACEMENT in turn and records the changed and
// unchanged names. A rule without a match is an error, and so are two tensors with one
// name.
func rename(f *File, texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	before := slices.Clone(f.Tensors)
	renamed := make([]bool, len(before))
	for _, text := range texts {
		r, err := parseRenaming(text)
		if err != nil {
			return err
		}
		var examples []string
		count := 0
		for i, t := range f.Tensors {
			if !r.pattern.MatchString(t.Name) {
				continue
			}
			to := r.pattern.ReplaceAllString(t.Name, r.name)
			if to == "" {
				return notRenamed(text, fmt.Sprintf("leaves nothing of the name %q", t.Name), "")
			}
			if count++; count <= 2 {
				examples = append(examples, fmt.Sprintf("%q is %q now", t.Name, to))
			}
			f.Tensors[i], renamed[i] = t.Renamed(to), true
		}
		if count == 0 {
			return notRenamed(text, "matches no name; it has to match a whole one", "there are "+listed(f.Tensors))
		}
		f.Find(text, fmt.Sprintf("renames %s: %s", problem.Plural(count, "tensor"),
			strings.Join(examples, ", ")), "")
	}
	if err := distinctNames(before, f.Tensors); err != nil {
		return err
	}
	sayKept(f, renamed)
	return nil
}

// sayKept notes which tensors kept their names.
func sayKept(f *File, renamed []bool) {
	var remaining []Tensor
	for i, t := range f.Tensors {
		if !renamed[i] {
			remaining = append(remaining, t)
		}
	}
	if len(remaining) > 0 {
		f.Find("", fmt.Sprintf("not renamed: %s: %s", problem.Plural(len(remaining), "tensor"),
			listed(remaining)), "")
	}
}

// distinctNames rejects two tensors that would get the same name.
func distinctNames(oldTensors, newTensors []Tensor) error {
	was := map[string]string{}
	for i, t := range newTensors {
		if other, taken := was[t.Name]; taken {
			return problem.Failure("rename", fmt.Sprintf("%q and %q would both be called %q", other,
				oldTensors[i].Name,
				t.Name), "leave one of them out with {drop}")
		}
		was[t.Name] = oldTensors[i].Name
	}
	return foreign.CheckNames(newTensors)
}

// notRenamed returns an error for a rule that cannot be applied.
func notRenamed(text, why, advice string) *problem.Error {
	e := problem.Failure("rename", why, advice)
	e.Value = text
	return e
}
