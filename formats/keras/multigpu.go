package keras

import (
	"encoding/json"
	"fmt"
	"strings"
)

// singleDevice removes the layers that multi_gpu_model of Keras 2, or kuza55's
// make_parallel of Keras 1, adds around a model: layers that slice the batch, one nested
// model that is called for every slice, and layers that join the results. It returns the
// nested model and the name of the wrapper, or n and "" if n has no wrapper. If only some
// layers fit the pattern, singleDevice removes nothing and returns an error that lists the
// others.
func (n *network) singleDevice() (template *network, wrapper string, err error) {
	cuts := map[string]batchSlice{}
	wrapper = "multi_gpu_model(gpus=%d)"
	for _, l := range n.layers {
		if c, old, ok := l.batchSlice(); ok {
			cuts[l.name] = c
			if old {
				wrapper = "make_parallel(%d)"
			}
		}
	}
	if len(cuts) == 0 {
		return n, "", nil
	}
	inside, err := n.innerModel(cuts)
	if err == nil {
		err = n.checkReplicas(inside, cuts)
	}
	if err != nil {
		return nil, "", fmt.Errorf("model %s cuts its batch for several devices: %w", n.name, err)
	}
	return inside.net, fmt.Sprintf(wrapper, len(inside.calls)), nil
}

// innerModel returns the nested model between the layers that slice and the layers that
// join.
func (n *network) innerModel(cuts map[string]batchSlice) (*layer, error) {
	var inside *layer
	var odd []string
	for _, l := range n.layers {
		_, isCut := cuts[l.name]
		switch {
		case isCut || l.class == "InputLayer" || l.joins():
		case l.net != nil && inside == nil:
			inside = l
		default:
			odd = append(odd, fmt.Sprintf("%s (%s)", l.name, l.class))
		}
	}
	if len(odd) > 0 {
		return nil, fmt.Errorf("these layers neither cut, join nor are the one model inside: %.400s",
			strings.Join(odd, ", "))
	}
	if inside == nil {
		return nil, fmt.Errorf("there is no model inside")
	}
	return inside, nil
}

// batchSlice is the setting of a Lambda layer that slices the batch: slice index of count.
type batchSlice struct{ index, count int }

// batchSlice reads the arguments of a Lambda layer. old reports whether they are
// make_parallel's.
func (l *layer) batchSlice() (c batchSlice, old, ok bool) {
	var args map[string]json.RawMessage
	if l.class != "Lambda" || json.Unmarshal(l.fields.m["arguments"], &args) != nil {
		return batchSlice{}, false, false
	}
	f := fields{m: args}
	old = f.has("idx")
	f.rename("idx", "i")
	if !f.has("i") || !f.has("parts") {
		return batchSlice{}, false, false
	}
	c = batchSlice{f.int("i", -1), f.int("parts", -1)}
	return c, old, f.err == nil
}

// joins reports whether l joins results along the batch axis.
func (l *layer) joins() bool {
	return l.class == "Concatenate" && l.fields.has("axis") && l.fields.int("axis", -1) == 0
}

// checkReplicas verifies that call i of the nested model reads slice i of all its inputs,
// and that output j of the whole model joins result j of each call, in order.
func (n *network) checkReplicas(nested *layer, cuts map[string]batchSlice) error {
	replicas := len(nested.calls)
	if replicas < 2 {
		return fmt.Errorf("the model inside, %s, is called %d times", nested.name, replicas)
	}
	for i, call := range nested.calls {
		if len(call) != len(nested.net.inputs) {
			return fmt.Errorf("call %d of %s takes %d inputs, want %d", i, nested.name, len(call),
				len(nested.net.inputs))
		}
		for _, r := range call {
			if c, ok := cuts[r.layer]; !ok || c != (batchSlice{i, replicas}) {
				return fmt.Errorf("call %d of %s takes %s, which is not part %d of %d", i, nested.name,
					r.layer, i, replicas)
			}
		}
	}
	if len(n.outputs) != len(nested.net.outputs) {
		return fmt.Errorf("it has %d outputs, %s has %d", len(n.outputs), nested.name, len(nested.net.outputs))
	}
	for j, r := range n.outputs {
		if err := n.find(r.layer).checkJoin(nested, j); err != nil {
			return err
		}
	}
	return nil
}

// checkJoin verifies that l joins result j of all calls of the model inside.
func (l *layer) checkJoin(nested *layer, j int) error {
	if l == nil || !l.joins() || len(l.calls) != 1 || len(l.calls[0]) != len(nested.calls) {
		return fmt.Errorf("output %d does not join %d results", j, len(nested.calls))
	}
	for i, r := range l.calls[0] {
		if r != (tensorRef{nested.name, i, j}) {
			return fmt.Errorf("operand %d of %s is not result %d of call %d of %s", i, l.name, j, i, nested.name)
		}
	}
	return nil
}
