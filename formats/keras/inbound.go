package keras

import (
	"encoding/json"
	"fmt"
)

// parseCalls reads inbound_nodes: a list of calls. Up to Keras 2 a call is a
// list of [layer, call, tensor, arguments]; in Keras 3 it is an object with
// args and kwargs in which tensors stand at any depth.
func parseCalls(b json.RawMessage) ([][]origin, error) {
	if len(b) == 0 || string(b) == "null" {
		return nil, nil
	}
	var calls []json.RawMessage
	if err := json.Unmarshal(b, &calls); err != nil {
		return nil, fmt.Errorf("inbound_nodes: %w", err)
	}
	var out [][]origin
	for i, c := range calls {
		refs, err := parseCall(c)
		if err != nil {
			return nil, fmt.Errorf("inbound_nodes: call %d: %w", i, err)
		}
		out = append(out, refs)
	}
	return out, nil
}

func parseCall(b json.RawMessage) ([]origin, error) {
	if len(b) > 0 && b[0] == '{' {
		var v struct{ Args, Kwargs any }
		if err := json.Unmarshal(b, &v); err != nil {
			return nil, err
		}
		if err := checkArguments(v.Kwargs); err != nil {
			return nil, err
		}
		return histories(v.Args)
	}
	return parseRefs(b)
}

// parseRefs reads a list of references, or one alone: [layer, call, tensor],
// with or without arguments. Keyword arguments that are tensors, such as a
// mask, are refused.
func parseRefs(b json.RawMessage) ([]origin, error) {
	var list []any
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, err
	}
	if len(list) > 0 {
		if _, alone := list[0].(string); alone {
			list = []any{any(list)}
		}
	}
	var refs []origin
	for _, x := range list {
		r, err := oneRef(x)
		if err != nil {
			return nil, err
		}
		refs = append(refs, r)
	}
	return refs, nil
}

func oneRef(x any) (origin, error) {
	l, _ := x.([]any)
	if len(l) < 3 || len(l) > 4 {
		return origin{}, fmt.Errorf("%.80v is not [layer, call, tensor]", x)
	}
	name, isName := l[0].(string)
	call, isCall := index(l[1])
	at, isTensor := index(l[2])
	if !isName || !isCall || !isTensor {
		return origin{}, fmt.Errorf("%.80v is not [layer, call, tensor]", x)
	}
	if len(l) == 4 {
		if err := checkArguments(l[3]); err != nil {
			return origin{}, err
		}
	}
	return origin{name, call, at}, nil
}

// checkArguments refuses a call's arguments, but for those that prediction
// does not heed.
func checkArguments(x any) error {
	args, ok := x.(map[string]any)
	if !ok && x != nil {
		return fmt.Errorf("arguments %.80v are not an object", x)
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

// index returns a number that is a small integer.
func index(x any) (int, bool) {
	f, ok := x.(float64)
	return int(f), ok && f >= 0 && f < maxLayers && f == float64(int(f))
}

// histories finds the tensors in a call's arguments as Keras 3 writes them:
// {"class_name": "__keras_tensor__", "config": {"keras_history": [layer, call, tensor]}}.
func histories(x any) ([]origin, error) {
	switch x := x.(type) {
	case []any:
		var refs []origin
		for _, y := range x {
			more, err := histories(y)
			if err != nil {
				return nil, err
			}
			refs = append(refs, more...)
		}
		return refs, nil
	case map[string]any:
		c, ok := x["config"].(map[string]any)
		if x["class_name"] != "__keras_tensor__" || !ok {
			return nil, fmt.Errorf("an argument of class %.80v is not supported", x["class_name"])
		}
		r, err := oneRef(c["keras_history"])
		return []origin{r}, err
	case nil:
		return nil, nil
	}
	return nil, fmt.Errorf("the argument %.80v is not a tensor", x)
}
