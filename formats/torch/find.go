package torch

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/tensor"
)

// maxDepth limits the depth of the search for state dicts.
const maxDepth = 16

// Names of the parts of a checkpoint other than the model.
var (
	trainingKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)optim|sched|scaler|^amp$|^grad|^hyper_?param|^hparams|^callbacks$|` +
			`^loops$|rng|random_state`)
	})
	averageKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(^|_)ema($|_)|^averaged?_|^swa_`)
	})
)

// stateDict is a dict with tensors in it.
type stateDict struct {
	path    []string // keys that lead to it
	entries []pickle.Entry
	layers  int    // direct tensors named like the tensors of layers
	others  int    // other direct tensors of more than one element that may belong to a layer
	plain   bool   // names of tensors have no dots: it is one layer, or a branch
	class   string // class of the pickled module; "" for a dict
	hooked  string // class of a module in it with a state_dict() that may return something else
	err     error  // error in the module
}

func (d stateDict) String() string { return strings.Join(d.path, ".") }

// weighed returns d with the numbers of tensors that are directly in the dict.
func (d stateDict) weighed() stateDict {
	d.plain = true
	if d.err != nil {
		d.layers++ // choosing the module reports its error
		return d
	}
	for _, e := range d.entries {
		name, err := nameOf(e.Key)
		if !isTensor(e.Value) {
			continue
		}
		v, bad := rebuild(e.Value)
		if err != nil || bad != nil {
			d.others++ // reading it reports the error
			continue
		}
		d.plain = d.plain && !strings.Contains(name, ".")
		switch {
		case foreign.LayerLike(name, v.dtype, v.shape):
			d.layers++
		case tensor.Count(v.shape) != 1 && foreign.Loose(name, v.dtype, v.shape) == "":
			d.others++
		}
	}
	return d
}

// finder collects the state dicts of a checkpoint.
type finder struct {
	seen     map[any]bool
	averages []stateDict
}

// dictsUnder returns the state dicts below v, and modules that hold one; they are never nested
// in each other. Averages of the weights are kept apart, and state that only training needs
// is left out.
func (f *finder) dictsUnder(v any, path []string) []stateDict {
	if call, ok := v.(*pickle.Call); ok && f.seen[call] {
		return nil
	}
	d, ok := contents(v)
	if !ok || f.seen[v] || len(path) > maxDepth || isOptimizer(d.entries) {
		return nil
	}
	f.seen[v] = true
	d.path = path
	if d.class != "" {
		return d.weighed().choose(nil)
	}
	var inside []stateDict
	for _, e := range d.entries {
		name, err := nameOf(e.Key)
		if err != nil || trainingKey().MatchString(name) {
			continue
		}
		found := f.dictsUnder(e.Value, append(slices.Clip(path), name))
		if averageKey().MatchString(name) {
			f.averages = append(f.averages, found...)
			continue
		}
		inside = append(inside, found...)
	}
	return d.weighed().choose(inside)
}

// choose chooses among a dict d and the state dicts inside it. It returns only d if the
// others are its branches, only the others if d's direct tensors are something else, or all
// of them if this is undecidable.
func (d stateDict) choose(inner []stateDict) []stateDict {
	layers, most, branches := 0, 0, true
	for _, s := range inner {
		layers, branches = layers+s.layers, branches && s.plain
		if slices.Contains(usualKeys, s.path[len(s.path)-1]) {
			most = max(most, s.layers)
		}
	}
	switch {
	case d.layers == 0 && (d.others == 0 || layers > 0):
		return inner
	case d.layers < most:
		return inner
	case layers == 0, branches, d.layers >= layers:
		return []stateDict{d}
	}
	return append(inner, d)
}

// isOptimizer reports whether entries are the state dict of an optimizer.
func isOptimizer(entries []pickle.Entry) bool {
	has := func(key string) bool {
		return slices.ContainsFunc(entries, func(e pickle.Entry) bool { return e.Key == key })
	}
	return has("state") && has("param_groups")
}
