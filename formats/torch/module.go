package torch

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
)

// module is a pickled torch.nn.Module: the tensors and modules in its __dict__. Its class
// is only a name, and its code is not read.
type module struct {
	class                        string
	parameters, buffers, modules []pickle.Entry
	transient                    []any // names of buffers that state_dict() leaves out
	hooked                       bool  // hooks may change the result of state_dict()
}

// Limits on a tree of modules: one module may appear in several places.
const (
	maxModuleDepth = 64
	maxModules     = 1 << 16
)

// moduleOf returns an object as a module, recognised by the three dicts that
// torch.nn.Module.__init__ makes.
func moduleOf(v any) (*module, bool) {
	call, ok := v.(*pickle.Call)
	if !ok {
		return nil, false
	}
	for _, state := range stateOf(call) {
		m := &module{class: className(call)}
		found := 0
		for _, e := range state.Entries {
			switch e.Key {
			case "_parameters":
				m.parameters, ok = entriesOf(e.Value)
			case "_buffers":
				m.buffers, ok = entriesOf(e.Value)
			case "_modules":
				m.modules, ok = entriesOf(e.Value)
			case "_non_persistent_buffers_set":
				m.transient = setItems(e.Value)
				continue
			case "_state_dict_hooks":
				hooks, _ := entriesOf(e.Value)
				m.hooked = len(hooks) > 0
				continue
			default:
				continue
			}
			if ok {
				found++
			}
		}
		if found == 3 {
			return m, true
		}
	}
	return nil, false
}

// stateOf returns the dicts that may be the __dict__ of an object: its state, the first
// part of a state with slots, or the first argument of the function that rebuilds a
// GraphModule.
func stateOf(call *pickle.Call) []*pickle.Dict {
	var dicts []*pickle.Dict
	for _, v := range slices.Concat(call.State, call.Args[:min(len(call.Args), 1)]) {
		if pair, ok := v.(pickle.Tuple); ok && len(pair) == 2 {
			v = pair[0]
		}
		if d, ok := v.(*pickle.Dict); ok {
			dicts = append(dicts, d)
		}
	}
	return dicts
}

// setItems returns the items of a set, pickled by protocol 4 or by an earlier one.
func setItems(v any) []any {
	switch v := v.(type) {
	case *pickle.Set:
		return v.Items
	case *pickle.Call:
		g, _ := v.Func.(pickle.Global)
		if g.Name == "set" && (g.Module == "builtins" || g.Module == "__builtin__") && len(v.Args) == 1 {
			if l, ok := v.Args[0].(*pickle.List); ok {
				return l.Items
			}
		}
	}
	return nil
}

// contents returns the entries of a dict, or the state dict of a module.
func contents(v any) (stateDict, bool) {
	if entries, ok := entriesOf(v); ok {
		return stateDict{entries: entries}, true
	}
	m, ok := moduleOf(v)
	if !ok {
		return stateDict{}, false
	}
	d := moduleDict{modules: map[*pickle.Call]*module{}}
	err := d.add(m, "", 0)
	return stateDict{entries: d.entries, class: m.class, hooked: d.hooked, err: err}, true
}

// branches returns the entries of a dict, or the modules of a module.
func branches(v any) ([]pickle.Entry, bool) {
	if m, ok := moduleOf(v); ok {
		return m.modules, true
	}
	return entriesOf(v)
}

// moduleDict holds the result of a module's state_dict(), with the same names and order
// (torch.nn.Module._save_to_state_dict): its parameters, its persistent buffers, then its
// modules. A tensor or module that appears in several places is listed under each of its
// names.
type moduleDict struct {
	entries []pickle.Entry
	modules map[*pickle.Call]*module // modules by their objects
	visited int
	hooked  string // the first class with hooks that may change the result of state_dict()
}

func (d *moduleDict) add(m *module, prefix string, depth int) error {
	if d.visited++; d.visited > maxModules || depth > maxModuleDepth || len(prefix) > foreign.MaxName {
		return fmt.Errorf("more than %d modules, or nested more than %d deep", maxModules, maxModuleDepth)
	}
	if m.hooked && d.hooked == "" {
		d.hooked = m.class
	}
	if err := d.tensors(m.parameters, prefix, nil); err != nil {
		return err
	}
	if err := d.tensors(m.buffers, prefix, m.transient); err != nil {
		return err
	}
	for _, e := range m.modules {
		name, err := nameOf(e.Key)
		if err != nil {
			return err
		}
		if e.Value == nil {
			continue
		}
		inner, err := d.module(e.Value)
		if err != nil {
			return fmt.Errorf("module %q: %w", prefix+name, err)
		}
		if err := d.add(inner, prefix+name+".", depth+1); err != nil {
			return err
		}
	}
	return nil
}

// module is like moduleOf, but examines each object only once.
func (d *moduleDict) module(v any) (*module, error) {
	call, ok := v.(*pickle.Call)
	if m := d.modules[call]; ok && m != nil {
		return m, nil
	}
	m, ok := moduleOf(v)
	if !ok {
		return nil, fmt.Errorf("%s has no _modules, _parameters and _buffers", pickle.Describe(v))
	}
	d.modules[call] = m
	return m, nil
}

// tensors adds all entries except None and the names in out.
func (d *moduleDict) tensors(entries []pickle.Entry, prefix string, out []any) error {
	for _, e := range entries {
		name, err := nameOf(e.Key)
		if err != nil {
			return err
		}
		if e.Value == nil || slices.Contains(out, e.Key) {
			continue
		}
		if len(prefix+name) > foreign.MaxName {
			return fmt.Errorf("a name of %d bytes; at most %d are supported", len(prefix+name), foreign.MaxName)
		}
		if len(d.entries) == foreign.MaxTensors {
			return fmt.Errorf("more than %d tensors", foreign.MaxTensors)
		}
		if !isTensor(e.Value) {
			return fmt.Errorf("%q: %w", prefix+name, refuseObject(e.Value))
		}
		d.entries = append(d.entries, pickle.Entry{Key: prefix + name, Value: e.Value})
	}
	return nil
}
