package torch

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
)

// moduleWith returns an object with the dicts of a torch.nn.Module. pack wraps its state.
func moduleWith(pack func(*pickle.Dict) any, parameters, buffers, modules *pickle.Dict,
	more ...any) *pickle.Call {
	state := dict("_parameters", parameters, "_buffers", buffers, "_modules", modules)
	state.Entries = append(state.Entries, dict(more...).Entries...)
	return &pickle.Call{Func: pickle.Global{Module: "torch.nn", Name: "Net"}, State: []any{pack(state)}}
}

func plainState(d *pickle.Dict) any { return d }

// gives returns the names in a module's state dict, or the reason why it was refused.
func gives(v any) string {
	d, ok := contents(v)
	if !ok {
		return "no module"
	}
	if d.err != nil {
		return d.err.Error()
	}
	var names []string
	for _, e := range d.entries {
		names = append(names, e.Key.(string))
	}
	return strings.Join(names, " ")
}

// TestModuleDict: a pickled module has the tensors of its state_dict(), however its state is pickled.
func TestModuleDict(t *testing.T) {
	weight, both := dict("w", of(2)), dict("kept", of(2), "dropped", of(2))
	slots := func(d *pickle.Dict) any { return pickle.Tuple{d, dict("slot", int64(1))} }
	single := func(d *pickle.Dict) any { return pickle.Tuple{d} }
	set := func(module, name string, items ...any) any {
		return object(module, name, &pickle.List{Items: items})
	}
	leaving := func(transient any) any {
		return moduleWith(plainState, dict(), both, dict(), "_non_persistent_buffers_set", transient)
	}
	long := func(n int) string { return strings.Repeat("n", n) }
	inside := func(module any, parameters *pickle.Dict) any {
		return moduleWith(plainState, dict("kept", of(2)), dict(),
			dict(module, moduleWith(plainState, parameters, dict(), dict())))
	}
	deep := moduleWith(plainState, weight, dict(), dict())
	for range maxModuleDepth {
		deep = moduleWith(plainState, dict(), dict(), dict("m", deep))
	}
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"a dict":                {moduleWith(plainState, weight, dict(), dict()), "w"},
		"a dict and slots":      {moduleWith(slots, weight, dict(), dict()), "w"},
		"a tuple of one":        {moduleWith(single, weight, dict(), dict()), "no module"},
		"a set":                 {leaving(&pickle.Set{Items: []any{"dropped"}}), "kept"},
		"a set of protocol 3":   {leaving(set("builtins", "set", "dropped")), "kept"},
		"a set of protocol 2":   {leaving(set("__builtin__", "set", "dropped")), "kept"},
		"another class's set":   {leaving(set("mine", "set", "dropped")), "kept dropped"},
		"a list of builtins":    {leaving(set("builtins", "list", "dropped")), "kept dropped"},
		"as deep as it may":     {deep, strings.Repeat("m.", maxModuleDepth) + "w"},
		"deeper than it may":    {moduleWith(plainState, dict(), dict(), dict("m", deep)), "nested more than 64 deep"},
		"a dict for a module":   {moduleWith(plainState, dict(), dict(), dict("a", deep.State[0], "b", deep)), "has no _modules"},
		"a tuple as a name":     {moduleWith(plainState, dict(pickle.Tuple{}, of(2)), dict(), dict()), "want a string"},
		"a nameless module":     {inside(nil, weight), "want a string"},
		"a name at the limit":   {inside("m", dict(long(foreign.MaxName-2), of(2))), "kept m." + long(foreign.MaxName-2)},
		"a name beyond it":      {inside("m", dict(long(foreign.MaxName-1), of(2))), "a name of 1025 bytes"},
		"an empty module there": {inside(long(foreign.MaxName-1), dict()), "kept"},
		"a number as a name":    {moduleWith(plainState, dict(int64(3), of(2)), dict(), dict()), "3"},
		"a buffer that is none": {moduleWith(plainState, dict(), dict("b", "text"), dict()), `"b"`},
	} {
		got := gives(c.v)
		if exact := strings.HasPrefix(c.want, "kept"); got != c.want && (exact || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}
