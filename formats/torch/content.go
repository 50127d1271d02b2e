package torch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// file turns the value of the main pickle into a foreign.File.
func (c *content) file(o Options) (*foreign.File, error) {
	c.root = numbered(c.root)
	chosen, err := choose(c.root, o)
	if err != nil {
		return nil, err
	}
	f := &foreign.File{Format: c.format, Key: chosen.String(), Keys: c.tensorKeys()}
	if len(chosen.path) > 0 {
		f.Wrappers = []string{chosen.String()}
	}
	if chosen.err != nil {
		return nil, f.Chosen(fmt.Errorf("a pickled module (%s): %w", chosen.class, chosen.err))
	}
	sayModule(f, chosen)
	into := &collector{File: f, seen: map[any]bool{}}
	if err := into.collect(chosen.entries, "", 0); err != nil {
		f.Keys = readable(c.root)
		return nil, f.Chosen(err)
	}
	if len(f.Tensors) == 0 {
		return nil, f.Chosen(fmt.Errorf("no tensor is under key %q", chosen))
	}
	if err := foreign.CheckTensors(f.Tensors, c.size); err != nil {
		return nil, err
	}
	if err := refuseZero(c.root, f.Tensors); err != nil {
		return nil, err
	}
	c.listRest(f, chosen)
	f.Labels = labels(c.root)
	return f, nil
}

// labels returns the names of classes in an attribute of a state dict, as Write stores
// them.
func labels(root any) (names []string) {
	call, ok := root.(*pickle.Call)
	if !ok {
		return nil
	}
	for _, s := range call.State {
		attributes, ok := s.(*pickle.Dict)
		if !ok {
			continue
		}
		v, _ := attributes.Get(labelAttribute)
		l, ok := v.(*pickle.List)
		for i := 0; ok && i < len(l.Items); i++ {
			name, text := l.Items[i].(string)
			if !text {
				return nil
			}
			names = append(names, name)
		}
	}
	return names
}

// sayModule reports that the tensors come from a module, and which parts of it were not
// read.
func sayModule(f *foreign.File, d stateDict) {
	if d.class == "" {
		return
	}
	f.Wrappers = append(f.Wrappers, "module "+d.class)
	f.Find(d.String(), fmt.Sprintf("a pickled module of %s: its parameters and buffers are here as its "+
		"state_dict() gives them; its code was neither read nor run", d.class), "")
	if d.hooked != "" {
		f.Find(d.String(), fmt.Sprintf("%s has hooks that may change what state_dict() gives; they were not run",
			d.hooked), "compare with state_dict() in Python")
	}
}

// tensorKeys lists the top keys that have tensors and could be chosen.
func (c *content) tensorKeys() []string {
	var keys []string
	entries, _ := entriesOf(c.root)
	for _, e := range entries {
		name, err := nameOf(e.Key)
		if err != nil || !isDict(e.Value) || !hasTensors(e.Value) {
			continue
		}
		if left, _ := branchLeft(name, e.Value); left == "" {
			keys = append(keys, name)
		}
	}
	return keys
}

// collector gathers the tensors of a state dict.
type collector struct {
	*foreign.File
	seen map[any]bool // dicts; a repeated one could make the tree arbitrarily large
}

// collect adds the tensors of a dict and of the dicts in it.
func (c *collector) collect(entries []pickle.Entry, prefix string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("key %q: dicts nested more than %d deep", strings.TrimSuffix(prefix, "."), maxDepth)
	}
	for _, e := range entries {
		name, err := nameOf(e.Key)
		if err != nil {
			return err
		}
		if err := c.entry(prefix+name, name, e.Value, depth); err != nil {
			return fmt.Errorf("key %q: %w", name, err)
		}
	}
	return nil
}

func (c *collector) entry(full, key string, v any, depth int) error {
	if isTensor(v) {
		return c.tensor(full, v)
	}
	if inner, ok := entriesOf(v); ok {
		if depth == 0 && (trainingKey().MatchString(key) || averageKey().MatchString(key) || isOptimizer(inner)) {
			return nil // listed as left out
		}
		if c.seen[v] {
			return fmt.Errorf("a dict that occurs twice")
		}
		c.seen[v] = true
		return c.collect(inner, full+".", depth+1)
	}
	if text, ok := scalar(v); ok {
		c.Count(full, text)
		return nil
	}
	if key == "_extra_state" || strings.HasSuffix(key, "._extra_state") {
		c.Count(full, "extra state of a layer, for its own code, not opened")
		return nil
	}
	if l, ok := v.(*pickle.List); ok && !slices.ContainsFunc(l.Items, isTensor) {
		return nil
	}
	if call, ok := v.(*pickle.Call); ok && depth == 0 && slices.Contains(settings, className(call)) {
		c.Count(full, "an object of "+className(call)+", not opened")
		return nil
	}
	return refuseObject(v)
}

// settings are the classes of objects that hold the settings of a training run. In some
// files these objects are stored next to the tensors, without a separate key.
var settings = []string{"argparse.Namespace", "types.SimpleNamespace", "easydict.EasyDict",
	"yacs.config.CfgNode", "omegaconf.dictconfig.DictConfig", "mmcv.utils.config.ConfigDict",
	"addict.addict.Dict"}

func (c *collector) tensor(name string, v any) error {
	if len(c.Tensors) == foreign.MaxTensors {
		return fmt.Errorf("more than %d tensors", foreign.MaxTensors)
	}
	view, err := rebuild(v)
	if err != nil {
		return err
	}
	t, err := foreign.NewTensor(name, view.dtype, view.shape, view.read)
	c.Tensors = append(c.Tensors, t)
	return err
}

// refuseZero rejects a DeepSpeed checkpoint with weights in other files.
func refuseZero(root any, tensors []foreign.Tensor) error {
	entries, _ := entriesOf(root)
	sharded := slices.ContainsFunc(entries, func(e pickle.Entry) bool { return e.Key == "param_shapes" })
	empty := slices.ContainsFunc(tensors, func(t foreign.Tensor) bool { return tensor.Count(t.Shape) == 0 })
	if sharded && empty {
		return problem.Advise(adviceZero, "a DeepSpeed ZeRO-3 checkpoint, whose weights are in other files")
	}
	return nil
}
