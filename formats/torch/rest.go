package torch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/tensor"
)

// listRest lists the values outside the chosen state dict on every level above it: counters,
// and the groups of tensors that are left out.
func (c *content) listRest(f *foreign.File, chosen stateDict) {
	if chosen.class != "" && len(chosen.path) == 0 {
		return // a module is the whole file
	}
	level := c.root
	for depth := 0; depth < max(len(chosen.path), 1); depth++ {
		entries, _ := branches(level)
		for _, e := range entries {
			name, err := nameOf(e.Key)
			if err != nil {
				continue
			}
			if len(chosen.path) == 0 {
				leaveWithin(f, name, e.Value)
				continue
			}
			if name == chosen.path[depth] {
				level = e.Value
				continue
			}
			leaveBeside(f, strings.Join(append(slices.Clone(chosen.path[:depth]), name), "."), e.Value)
		}
	}
}

// leaveWithin lists a branch of the state dict that was left out, if the state dict is the
// whole file. The collector records counters.
func leaveWithin(f *foreign.File, name string, v any) {
	if reason, advice := branchLeft(name, v); reason != "" {
		leave(f, name, v, reason, advice)
	}
}

// leaveBeside lists a value of the file that is not part of the chosen state dict. name is the value's key.
func leaveBeside(f *foreign.File, name string, v any) {
	if text, ok := scalar(v); ok {
		f.Count(name, text)
		return
	}
	reason, advice := branchLeft(name[strings.LastIndex(name, ".")+1:], v)
	switch {
	case reason != "":
	case isTensor(v):
		reason = looseTensor(name, v)
	default:
		reason, advice = "another state dict", "{key} "+name+" takes it"
	}
	if leave(f, name, v, reason, advice) {
		return
	}
	if call, ok := v.(*pickle.Call); ok && !isDict(call) {
		f.Find(name, "an object of "+className(call)+" was not opened", "")
	}
}

// branchLeft returns the reason why a branch of a checkpoint is left out because of its
// kind, and how to include it; "" if it need not be left out.
func branchLeft(name string, v any) (reason, advice string) {
	switch {
	case isTensor(v):
		return "", ""
	case trainingKey().MatchString(name), isOptimizerValue(v):
		return "state of the training", ""
	case averageKey().MatchString(name):
		return "average of the weights", "{ema} takes it"
	}
	return "", ""
}

// looseTensor describes a tensor next to the state dict.
func looseTensor(name string, v any) string {
	view, err := rebuild(v)
	if err != nil {
		return "a tensor that is not read"
	}
	if tensor.Count(view.shape) != 1 {
		return cmp.Or(foreign.Loose(name, view.dtype, view.shape), "a tensor beside the state dict")
	}
	if t, err := foreign.NewTensor(name, view.dtype, view.shape, view.read); err == nil {
		if v, err := t.Load(); err == nil {
			if v, err = v.ToF32(); err == nil {
				return fmt.Sprintf("a single value: %g", v.F32()[0])
			}
		}
	}
	return "a single value"
}

// leave records that the tensors under v were left out; it returns false if there are no
// tensors.
func leave(f *foreign.File, name string, v any, reason, advice string) bool {
	g := foreign.Group{Name: name, Reason: reason, Advice: advice}
	countTensors(v, &g, map[any]bool{}, 0)
	if g.Tensors > 0 {
		f.Left = append(f.Left, g)
	}
	return g.Tensors > 0
}

func hasTensors(v any) bool {
	var g foreign.Group
	countTensors(v, &g, map[any]bool{}, 0)
	return g.Tensors > 0
}

// isDict reports whether v is a dict, or a module, which contains one.
func isDict(v any) bool {
	_, ok := branches(v)
	return ok
}

func isOptimizerValue(v any) bool {
	entries, ok := entriesOf(v)
	return ok && isOptimizer(entries)
}

func countTensors(v any, g *foreign.Group, seen map[any]bool, depth int) {
	if depth > maxDepth {
		return
	}
	if isTensor(v) {
		if view, err := rebuild(v); err == nil {
			size, _ := tensor.Size(view.dtype, view.shape)
			g.Tensors, g.Bytes = g.Tensors+1, g.Bytes+int64(size)
		}
		return
	}
	if l, ok := v.(*pickle.List); ok && !seen[l] {
		seen[l] = true
		for _, item := range l.Items {
			countTensors(item, g, seen, depth+1)
		}
		return
	}
	if l, ok := v.(*pickle.Call); ok && seen[l] {
		return
	}
	d, ok := contents(v)
	if !ok || seen[v] {
		return
	}
	seen[v] = true
	for _, e := range d.entries {
		countTensors(e.Value, g, seen, depth+1)
	}
}
