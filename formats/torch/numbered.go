package torch

import (
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
)

// numbered converts a list or tuple with dicts or modules to a dict of its items, by their
// numbers: some files hold [net.state_dict(), settings], or
// {"state_dict": [a.state_dict(), b.state_dict()]}.
func numbered(root any) any {
	if items, ok := itemsOf(root); ok && slices.ContainsFunc(items, isDict) {
		root = byNumber(items)
	}
	if d, ok := root.(*pickle.Dict); ok {
		numberWithin(d, 0)
	}
	return root
}

// numberWithin does the same with lists of state dicts that are values of a dict, or of
// nested dicts.
func numberWithin(d *pickle.Dict, depth int) {
	const deepest = 3
	for i, e := range d.Entries {
		name, err := nameOf(e.Key)
		if err != nil || trainingKey().MatchString(name) || isOptimizerValue(e.Value) {
			continue
		}
		if inner, ok := e.Value.(*pickle.Dict); ok && depth < deepest {
			numberWithin(inner, depth+1)
		}
		if items, ok := itemsOf(e.Value); ok && slices.ContainsFunc(items, isStateDict) {
			d.Entries[i].Value = byNumber(items)
		}
	}
}

// isStateDict reports whether a dict, or module, has tensors.
func isStateDict(v any) bool { return isDict(v) && !isOptimizerValue(v) && hasTensors(v) }

// itemsOf returns the items of a list or tuple.
func itemsOf(v any) ([]any, bool) {
	switch v := v.(type) {
	case pickle.Tuple:
		return v, true
	case *pickle.List:
		return v.Items, true
	}
	return nil, false
}

func byNumber(items []any) *pickle.Dict {
	d := &pickle.Dict{}
	for i, item := range items {
		d.Entries = append(d.Entries, pickle.Entry{Key: strconv.Itoa(i), Value: item})
	}
	return d
}
