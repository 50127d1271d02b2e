package torch

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
)

// entriesOf returns the entries of a dict or of one of its standard
// subclasses; ok is false for anything else.
func entriesOf(v any) (entries []pickle.Entry, ok bool) {
	switch v := v.(type) {
	case *pickle.Dict:
		return v.Entries, true
	case *pickle.Call:
		if g, _ := v.Func.(pickle.Global); g.Module == "collections" &&
			(g.Name == "OrderedDict" || g.Name == "Counter" || g.Name == "defaultdict") {
			return append(pairsOf(v.Args), v.Items.Entries...), true
		}
	}
	return nil, false
}

// pairsOf reads the pairs that Python 2 gave the constructor of OrderedDict.
func pairsOf(args pickle.Tuple) []pickle.Entry {
	if len(args) != 1 {
		return nil
	}
	list, ok := args[0].(*pickle.List)
	if !ok {
		return nil
	}
	var entries []pickle.Entry
	for _, item := range list.Items {
		pair, ok := item.(pickle.Tuple)
		if inner, isList := item.(*pickle.List); isList {
			pair, ok = inner.Items, true
		}
		if ok && len(pair) == 2 {
			entries = append(entries, pickle.Entry{Key: pair[0], Value: pair[1]})
		}
	}
	return entries
}

// nameOf returns a key as the name of a tensor, or as a part of one.
func nameOf(key any) (string, error) {
	switch key := key.(type) {
	case string:
		if key == "" || len(key) > foreign.MaxName || !utf8.ValidString(key) {
			return "", fmt.Errorf("a key of %d bytes; want UTF-8 of 1 to %d bytes", len(key), foreign.MaxName)
		}
		return key, nil
	case int64:
		return strconv.FormatInt(key, 10), nil
	}
	return "", fmt.Errorf("a key is %s, want a string", pickle.Describe(key))
}

// scalar returns the text of a number, string or None.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "None", true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case string:
		return strings.ToValidUTF8(v, "?"), len(v) <= 256
	}
	return "", false
}
