package torch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
)

// maxDepth is how deep dicts are searched for state dicts.
const maxDepth = 16

// Names of what a checkpoint holds beside the model.
var (
	trainingKey = regexp.MustCompile(`(?i)optim|sched|scaler|^amp$|^grad`)
	averageKey  = regexp.MustCompile(`(?i)(^|_)ema($|_)|^averaged?_|^swa_`)
)

// usualKeys are where state dicts are found, the likeliest first.
var usualKeys = []string{"state_dict", "model_state_dict", "model_state", "model", "net", "network", "module",
	"weights", "params"}

// stateDict is a dict with tensors in it.
type stateDict struct {
	path    []string // keys that lead to it
	entries []pickle.Entry
}

func (d stateDict) String() string { return strings.Join(d.path, ".") }

// matches reports whether a key on the way to d is one of re's.
func (d stateDict) matches(re *regexp.Regexp) bool {
	return slices.ContainsFunc(d.path, re.MatchString)
}

// find lists the dicts under v that hold tensors themselves, each once. A
// state dict's own branches belong to it and are not listed.
func find(v any, path []string, seen map[any]bool, found []stateDict) []stateDict {
	entries, ok := entriesOf(v)
	if !ok || seen[v] || len(path) > maxDepth || isOptimizer(entries) {
		return found
	}
	seen[v] = true
	d := stateDict{path, entries}
	if slices.ContainsFunc(entries, func(e pickle.Entry) bool { return isTensor(e.Value) }) {
		found = append(found, d)
	}
	for _, e := range entries {
		if name, err := nameOf(e.Key); err == nil {
			found = find(e.Value, append(slices.Clip(path), name), seen, found)
		}
	}
	return found
}

// isOptimizer reports whether entries are the state dict of an optimizer.
func isOptimizer(entries []pickle.Entry) bool {
	has := func(key string) bool {
		return slices.ContainsFunc(entries, func(e pickle.Entry) bool { return e.Key == key })
	}
	return has("state") && has("param_groups")
}

// choose picks the state dict that the options ask for.
func choose(root any, o Options) (stateDict, error) {
	if o.Key != "" {
		return byKey(root, o.Key)
	}
	if call, ok := root.(*pickle.Call); ok {
		if _, isDict := entriesOf(root); !isDict && !isTensor(root) {
			return stateDict{}, refuseModule(call)
		}
	}
	var models, averages []stateDict
	for _, d := range find(root, nil, map[any]bool{}, nil) {
		switch {
		case d.matches(trainingKey):
		case d.matches(averageKey):
			averages = append(averages, d)
		default:
			models = append(models, d)
		}
	}
	if o.EMA {
		return pick(averages, "average of the weights (EMA)", root)
	}
	if len(models) == 0 && len(averages) > 0 {
		return stateDict{}, fmt.Errorf("only an average of the weights is here, %s: use --ema to take it",
			list(averages))
	}
	return pick(outermost(models), "state dict", root)
}

// outermost drops the dicts that are branches of another one.
func outermost(all []stateDict) []stateDict {
	var out []stateDict
	for _, d := range all {
		inside := slices.ContainsFunc(all, func(o stateDict) bool {
			return len(o.path) < len(d.path) && slices.Equal(o.path, d.path[:len(o.path)])
		})
		if !inside {
			out = append(out, d)
		}
	}
	return out
}

// pick returns the only one of the dicts, or the one under the likeliest key.
func pick(from []stateDict, what string, root any) (stateDict, error) {
	if len(from) == 0 {
		return stateDict{}, noTensors(what, root)
	}
	for _, key := range usualKeys {
		var under []stateDict
		for _, d := range from {
			if len(d.path) > 0 && d.path[len(d.path)-1] == key {
				under = append(under, d)
			}
		}
		if len(under) == 1 {
			return under[0], nil
		}
	}
	if len(from) > 1 {
		return stateDict{}, fmt.Errorf("%d candidates for the %s: %s: pick one with --key",
			len(from), what, list(from))
	}
	return from[0], nil
}

// noTensors explains a checkpoint without tensors of the kind that is wanted.
func noTensors(what string, root any) error {
	entries, _ := entriesOf(root)
	for _, e := range entries {
		if call, ok := e.Value.(*pickle.Call); ok {
			if _, isDict := entriesOf(call); !isDict && len(call.State) > 0 {
				return fmt.Errorf("key %q: %w", e.Key, refuseModule(call))
			}
		}
	}
	return fmt.Errorf("no %s is in the file", what)
}

// byKey walks a path of keys; a key may contain dots itself.
func byKey(v any, key string) (stateDict, error) {
	var path []string
	for rest := key; rest != ""; {
		entries, ok := entriesOf(v)
		if !ok {
			return stateDict{}, fmt.Errorf("--key %s: %s is %s, not a dict",
				key, strings.Join(path, "."), pickle.Describe(v))
		}
		i := slices.IndexFunc(entries, func(e pickle.Entry) bool {
			name, err := nameOf(e.Key)
			return err == nil && (rest == name || strings.HasPrefix(rest, name+"."))
		})
		if i < 0 {
			return stateDict{}, fmt.Errorf("--key %s: no %s; there are %s", key, rest, keys(entries))
		}
		name, _ := nameOf(entries[i].Key)
		v, path = entries[i].Value, append(path, name)
		rest = strings.TrimPrefix(rest[len(name):], ".")
	}
	entries, ok := entriesOf(v)
	if !ok {
		return stateDict{}, fmt.Errorf("--key %s is %s, not a dict", key, pickle.Describe(v))
	}
	return stateDict{path, entries}, nil
}

// maxListed is how many names a message lists.
const maxListed = 12

func list(dicts []stateDict) string {
	var names []string
	for _, d := range dicts {
		names = append(names, fmt.Sprintf("%q", d.String()))
	}
	return abridge(names)
}

func keys(entries []pickle.Entry) string {
	var names []string
	for _, e := range entries {
		if name, err := nameOf(e.Key); err == nil {
			names = append(names, fmt.Sprintf("%q", name))
		}
	}
	return abridge(names)
}

func abridge(names []string) string {
	if n := len(names) - maxListed; n > 0 {
		names = append(slices.Clip(names[:maxListed]), fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}
