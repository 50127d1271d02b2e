package keras

import (
	"encoding/json"
	"fmt"
	"maps"
)

// parseSequential reads the configuration of a Sequential model as a chain of calls. The
// configuration is a list of layers up to Keras 2.2.2, and an object after that.
func parseSequential(config json.RawMessage, depth int) (*network, error) {
	var c struct {
		Name   string          `json:"name"`
		Layers []layerConfig   `json:"layers"`
		Built  json.RawMessage `json:"build_input_shape"`
	}
	if len(config) > 0 && config[0] == '[' {
		if err := unmarshal(config, &c.Layers, "config"); err != nil {
			return nil, err
		}
		c.Name = "sequential"
	} else if err := unmarshal(config, &c, "config"); err != nil {
		return nil, err
	}
	n := &network{name: c.Name, class: "Sequential"}
	if err := n.addLayers(c.Layers, depth); err != nil {
		return nil, err
	}
	if len(n.layers) == 0 {
		return nil, fmt.Errorf("model %s has no layers", n.name)
	}
	n.addInput(c.Built)
	n.chain()
	return n, nil
}

// addInput puts an input layer in front if the description has no input. Its shape comes
// from the first layer, or is the one that the model was built with.
func (n *network) addInput(built json.RawMessage) {
	first := n.layers[0]
	if first.class == "InputLayer" {
		return
	}
	in := &layer{name: first.name + "_input", class: "InputLayer",
		fields: fields{m: map[string]json.RawMessage{}}}
	if v, ok := first.fields.m["batch_shape"]; ok {
		in.fields.m["batch_shape"] = v
	}
	if first.net != nil && len(first.net.inputs) > 0 {
		if inner := first.net.find(first.net.inputs[0].layer); inner != nil {
			maps.Copy(in.fields.m, inner.fields.m)
		}
	}
	if len(in.fields.m) == 0 && len(built) > 0 {
		in.fields.m["batch_shape"] = built
	}
	n.layers = append([]*layer{in}, n.layers...)
	n.index[in.name] = in
}

// chain makes each layer read the result of the one before it.
func (n *network) chain() {
	for i, l := range n.layers[1:] {
		l.calls = [][]tensorRef{{{layer: n.layers[i].name}}}
	}
	n.inputs = []tensorRef{{layer: n.layers[0].name}}
	n.outputs = []tensorRef{{layer: n.layers[len(n.layers)-1].name}}
}
