package keras

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// parseCalls reads inbound_nodes: a list of calls. Up to Keras 2 a call is a list of
// [layer, call, tensor, arguments]; in Keras 3 it is an object with args and kwargs that
// contain tensors at any depth.
func parseCalls(b json.RawMessage) ([]tensorRefs, error) {
	if len(b) == 0 || string(b) == "null" {
		return nil, nil
	}
	var calls []json.RawMessage
	if err := unmarshal(b, &calls, "inbound_nodes"); err != nil {
		return nil, err
	}
	var out []tensorRefs
	for i, c := range calls {
		r, err := parseCall(c)
		if err != nil {
			return nil, fmt.Errorf("inbound_nodes: call %d: %w", i, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseCall(b json.RawMessage) (tensorRefs, error) {
	var object map[string]json.RawMessage
	if len(b) == 0 || b[0] != '{' || json.Unmarshal(b, &object) != nil || object["args"] == nil {
		return parseRefs(b, "operands")
	}
	var kwargs any
	if object["kwargs"] != nil {
		if err := unmarshal(object["kwargs"], &kwargs, "kwargs"); err != nil {
			return tensorRefs{}, err
		}
	}
	if err := checkArguments(kwargs); err != nil {
		return tensorRefs{}, err
	}
	var args []json.RawMessage
	if err := unmarshal(object["args"], &args, "args"); err != nil {
		return tensorRefs{}, err
	}
	if len(args) == 1 { // the usual form: the first argument has all tensors
		return parseRefs(args[0], "args")
	}
	return parseRefs(object["args"], "args")
}

// tensorRefs are the tensors in a structure of lists and dicts, in the order in which Keras
// flattens it: lists in order, dicts by sorted key.
type tensorRefs struct {
	refs []tensorRef
	keys []string // path of each: keys and indices, joined by dots; nil without a dict
}

// parseRefs reads a structure of references to tensors, or a single one: [layer, call,
// tensor], with or without arguments, or the object of Keras 3. Tensors as keyword
// arguments, for example a mask, are rejected.
func parseRefs(b json.RawMessage, subject string) (tensorRefs, error) {
	if len(b) == 0 {
		return tensorRefs{}, fmt.Errorf("there is no %s", subject)
	}
	var x any
	if err := unmarshal(b, &x, subject); err != nil {
		return tensorRefs{}, err
	}
	if _, list := x.([]any); !list {
		if _, dict := x.(map[string]any); !dict {
			return tensorRefs{}, fmt.Errorf("%s is %.80s, want a list or a dict of tensors", subject, b)
		}
	}
	var r tensorRefs
	dict := false
	err := r.flatten(x, "", &dict)
	if err != nil {
		return tensorRefs{}, fmt.Errorf("%s: %w", subject, err)
	}
	if !dict {
		r.keys = nil
	}
	return r, nil
}

// flatten adds the tensors in x to r. path is the path of x in the whole structure.
func (r *tensorRefs) flatten(x any, path string, dict *bool) error {
	below := func(key string) string { return strings.TrimPrefix(path+"."+key, ".") }
	switch x := x.(type) {
	case nil:
		return nil
	case []any:
		if len(x) > 0 {
			if _, alone := x[0].(string); alone {
				return r.add(x, path)
			}
		}
		for i, y := range x {
			if err := r.flatten(y, below(strconv.Itoa(i)), dict); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		switch config, _ := x["config"].(map[string]any); {
		case x["class_name"] == "__keras_tensor__" && config != nil:
			return r.add(config["keras_history"], path)
		case x["class_name"] == "__tuple__":
			return r.flatten(x["items"], path, dict)
		case x["class_name"] != nil:
			return fmt.Errorf("an argument of class %s is not supported", quoted(x["class_name"]))
		}
		*dict = true
		for _, key := range slices.Sorted(maps.Keys(x)) {
			if err := r.flatten(x[key], below(key), dict); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("the argument %s is not a tensor", quoted(x))
}

func (r *tensorRefs) add(x any, path string) error {
	o, err := oneRef(x)
	r.refs, r.keys = append(r.refs, o), append(r.keys, path)
	return err
}

func oneRef(x any) (tensorRef, error) {
	l, _ := x.([]any)
	if len(l) < 3 || len(l) > 4 {
		return tensorRef{}, fmt.Errorf("%s is not [layer, call, tensor]", quoted(x))
	}
	name, isName := l[0].(string)
	call, isCall := index(l[1])
	at, isTensor := index(l[2])
	if !isName || !isCall || !isTensor {
		return tensorRef{}, fmt.Errorf("%s is not [layer, call, tensor]", quoted(x))
	}
	if len(l) == 4 {
		if err := checkArguments(l[3]); err != nil {
			return tensorRef{}, err
		}
	}
	return tensorRef{name, call, at}, nil
}

// checkArguments rejects a call's arguments, except for those that prediction does not
// read.
func checkArguments(x any) error {
	args, ok := x.(map[string]any)
	if !ok && x != nil {
		return fmt.Errorf("arguments %s are not an object", quoted(x))
	}
	for key, v := range args {
		if key != "training" && v != nil {
			return fmt.Errorf("the argument %.80q of the call is not supported", key)
		}
	}
	if args["training"] == true {
		return fmt.Errorf("the layer is called with training=True, so that it never leaves training")
	}
	return nil
}

// quoted returns the JSON text of x, cut after 80 characters.
func quoted(x any) string {
	b, _ := json.Marshal(x)
	return fmt.Sprintf("%.80s", b)
}

// index returns x as a small integer; ok is false for anything else.
func index(x any) (int, bool) {
	f, ok := x.(float64)
	return int(f), ok && f >= 0 && f < maxLayers && f == float64(int(f))
}
