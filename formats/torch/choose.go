package torch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/problem"
)

// usualKeys are the usual keys of state dicts, the likeliest first.
var usualKeys = []string{"state_dict", "model_state_dict", "model_state", "model", "net", "network", "module",
	"weights", "params"}

// wholeKey is the key of the whole file.
const wholeKey = "."

// choose returns the state dict that the options select.
func choose(root any, o Options) (stateDict, error) {
	if o.Key != "" {
		return byKey(root, o.Key)
	}
	if call, ok := root.(*pickle.Call); ok {
		if !isDict(root) && !isTensor(root) {
			return stateDict{}, refuseModule(call)
		}
	}
	f := &finder{seen: map[any]bool{}}
	models := f.dictsUnder(root, nil)
	if o.EMA {
		return pick(f.averages, "state dict of averages (EMA)", root)
	}
	if len(models) == 0 && len(f.averages) > 0 {
		return stateDict{}, problem.Failure("",
			"only an average of the weights is here, "+foreign.List(paths(f.averages)), "use {ema} to take it")
	}
	return pick(models, "state dict", root)
}

// pick returns the only one of the dicts, or the one under the likeliest key among the
// dicts with tensors named like the tensors of layers.
func pick(dicts []stateDict, option string, root any) (stateDict, error) {
	if len(dicts) == 0 {
		return stateDict{}, noTensors(option, root)
	}
	likely := slices.DeleteFunc(slices.Clone(dicts), func(d stateDict) bool { return d.layers == 0 })
	if len(likely) == 0 {
		likely = dicts
	}
	for _, key := range usualKeys {
		var under []stateDict
		for _, d := range likely {
			if len(d.path) > 0 && d.path[len(d.path)-1] == key {
				under = append(under, d)
			}
		}
		if len(under) == 1 {
			return under[0], nil
		}
	}
	if len(dicts) > 1 {
		return stateDict{}, problem.Failure("", fmt.Sprintf("%d candidates for the %s: %s", len(dicts), option,
			foreign.List(paths(dicts))), "pick one with {key}")
	}
	return dicts[0], nil
}

// paths returns the keys that select the dicts.
func paths(dicts []stateDict) []string {
	var all []string
	for _, d := range dicts {
		if len(d.path) == 0 {
			all = append(all, wholeKey)
			continue
		}
		all = append(all, d.String())
	}
	return all
}

// noTensors explains a checkpoint without tensors of the requested kind.
func noTensors(key string, root any) error {
	entries, _ := entriesOf(root)
	for _, e := range entries {
		if call, ok := e.Value.(*pickle.Call); ok {
			if !isDict(call) && len(call.State) > 0 {
				return fmt.Errorf("key %q: %w", e.Key, refuseModule(call))
			}
		}
	}
	switch {
	case len(entries) == 0:
		return fmt.Errorf("no %s is in the file", key)
	case isOptimizer(entries):
		return problem.Failure("", "the state of an optimizer, without the model that it trains",
			"name the file of the model beside it")
	}
	return problem.Failure("", fmt.Sprintf("no %s is in the file, there are the keys %s", key,
		foreign.List(names(entries))), "if it is under one of them, name it with {key}")
}

// wrongKey returns an error for a key that the user has given.
func wrongKey(key, text, advice string) error {
	e := problem.Failure("key", text, advice)
	e.Value = key
	return e
}

// byKey walks a path of keys; a key may contain dots itself.
func byKey(v any, key string) (stateDict, error) {
	var path []string
	for rest := strings.TrimPrefix(key, wholeKey); rest != ""; {
		entries, ok := branches(v)
		if !ok {
			return stateDict{}, wrongKey(key, fmt.Sprintf("%s is %s, not a dict", strings.Join(path, "."),
				pickle.Describe(v)), "")
		}
		i := slices.IndexFunc(entries, func(e pickle.Entry) bool {
			name, err := nameOf(e.Key)
			return err == nil && (rest == name || strings.HasPrefix(rest, name+"."))
		})
		if i < 0 {
			return stateDict{}, wrongKey(key, "no "+rest, "there are "+foreign.List(names(entries)))
		}
		name, _ := nameOf(entries[i].Key)
		v, path = entries[i].Value, append(path, name)
		rest = strings.TrimPrefix(rest[len(name):], ".")
	}
	d, ok := contents(v)
	if !ok {
		return stateDict{}, problem.Failure("", "{key} "+key+" is "+pickle.Describe(v)+", not a dict", "")
	}
	d.path = path
	return d, nil
}

// names returns the keys of a dict that a user can name.
func names(entries []pickle.Entry) []string {
	var all []string
	for _, e := range entries {
		if name, err := nameOf(e.Key); err == nil {
			all = append(all, name)
		}
	}
	return all
}

// readable returns the keys of the dicts that have tensors and only supported values. Dicts
// inside another one of them are not listed.
func readable(root any) []string {
	var found []stateDict
	seen := map[any]bool{}
	var search func(v any, path []string)
	search = func(v any, path []string) {
		entries, ok := entriesOf(v)
		if !ok || seen[v] || len(path) > maxDepth || isOptimizer(entries) {
			return
		}
		seen[v] = true
		into := &collector{File: &foreign.File{}, seen: map[any]bool{}}
		if err := into.collect(entries, "", 0); err == nil && len(into.Tensors) > 0 {
			found = append(found, stateDict{path: path})
			return
		}
		for _, e := range entries {
			if name, err := nameOf(e.Key); err == nil && !trainingKey().MatchString(name) {
				search(e.Value, append(slices.Clip(path), name))
			}
		}
	}
	search(root, nil)
	return paths(found)
}
