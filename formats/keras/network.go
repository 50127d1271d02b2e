package keras

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// network is a model in the form of its description.
type network struct {
	name    string
	class   string // Sequential, Functional or Model
	layers  []*layer
	inputs  []tensorRef
	outputs []tensorRef
	inKeys  []string // path of each input in a dict; nil without one
	outKeys []string // path of each output in a dict; nil without one
	index   map[string]*layer
}

// layer is one layer of a network.
type layer struct {
	name      string
	class     string // current name of the class
	fileClass string // name of the class in the file
	fields    fields
	net       *network      // the nested model, if the layer is one
	calls     [][]tensorRef // the operands of every call
	keys      [][]string    // paths of the operands of each call in a dict; nil for a call without one

	foreign   error // why the class is not one of Keras
	operation bool  // the layer is a function of Keras 3, for example keras.ops.add
}

// tensorRef identifies a tensor: a result of a call of a layer.
type tensorRef struct {
	layer        string
	call, tensor int
}

// layerConfig is the JSON form of a layer or a model.
type layerConfig struct {
	Class      string          `json:"class_name"`
	Name       string          `json:"name"`
	Module     string          `json:"module"`
	Registered string          `json:"registered_name"`
	Config     json.RawMessage `json:"config"`
	Inbound    json.RawMessage `json:"inbound_nodes"`
}

// isModel reports whether a class is a model, which has layers.
func isModel(class string) bool {
	return class == "Sequential" || class == "Functional" || class == "Model"
}

// parseModel reads a model's description: the JSON of model_config or of an
// archive's config.json.
func parseModel(b []byte) (*network, error) {
	var d layerConfig
	if err := decode(b, &d); err != nil {
		return nil, err
	}
	if !isModel(d.Class) {
		return nil, problem.Advise("build a functional model of the same layers and save that",
			"the model is a %.80q: only Sequential and functional models describe their graph", d.Class)
	}
	return parseNetwork(d.Class, d.Config, 0)
}

func parseNetwork(class string, config json.RawMessage, depth int) (*network, error) {
	if depth >= maxNesting {
		return nil, fmt.Errorf("models are nested more than %d deep", maxNesting)
	}
	if class == "Sequential" {
		return parseSequential(config, depth)
	}
	var c struct {
		Name    string          `json:"name"`
		Layers  []layerConfig   `json:"layers"`
		Inputs  json.RawMessage `json:"input_layers"`
		Outputs json.RawMessage `json:"output_layers"`
	}
	if err := unmarshal(config, &c, "config"); err != nil {
		return nil, err
	}
	n := &network{name: c.Name, class: class}
	if err := n.addLayers(c.Layers, depth); err != nil {
		return nil, err
	}
	in, err := parseRefs(c.Inputs, "input_layers")
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", n.name, err)
	}
	out, err := parseRefs(c.Outputs, "output_layers")
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", n.name, err)
	}
	n.inputs, n.inKeys, n.outputs, n.outKeys = in.refs, in.keys, out.refs, out.keys
	n.renumber()
	return n, nil
}

// addLayers reads the layers, including layers of nested models.
func (n *network) addLayers(list []layerConfig, depth int) error {
	if len(list) > maxLayers {
		return fmt.Errorf("model %s has %d layers; at most %d are supported", n.name, len(list), maxLayers)
	}
	n.index = make(map[string]*layer, len(list))
	for _, d := range list {
		l, err := parseLayer(d, depth)
		if err != nil {
			return fmt.Errorf("layer %.80q (%.80s): %w", d.Name, d.Class, err)
		}
		if n.index[l.name] != nil {
			return fmt.Errorf("model %s has two layers called %.80q", n.name, l.name)
		}
		n.index[l.name] = l
		n.layers = append(n.layers, l)
	}
	return nil
}

func parseLayer(d layerConfig, depth int) (*layer, error) {
	l := &layer{name: d.Name, class: d.Class, fileClass: d.Class, foreign: d.checkMaker(),
		operation: strings.Contains(d.Module, ".ops.")}
	var err error
	if isModel(d.Class) {
		if l.net, err = parseNetwork(d.Class, d.Config, depth+1); err != nil {
			return nil, err
		}
		if l.name == "" {
			l.name = l.net.name
		}
	} else {
		if err := unmarshal(d.Config, &l.fields.m, "config"); err != nil {
			return nil, err
		}
		if l.fields.m == nil {
			l.fields.m = map[string]json.RawMessage{}
		}
		if l.name == "" {
			l.name = l.fields.text("name", "")
		}
		l.modernise()
	}
	if isOpLambda(d.Class) {
		if err := l.parseOpLambda(d.Inbound); err != nil {
			return nil, err
		}
		return l, l.fields.err
	}
	parse := parseCalls
	if d.Class == "MultiHeadAttention" {
		parse = parseAttention
	}
	calls, err := parse(d.Inbound)
	for _, c := range calls {
		l.calls, l.keys = append(l.calls, c.refs), append(l.keys, c.keys)
	}
	if err != nil {
		return nil, err
	}
	return l, l.fields.err
}

// find returns the layer with that name, or nil.
func (n *network) find(name string) *layer { return n.index[name] }

// refs calls f for every reference to a tensor in the network.
func (n *network) refs(f func(r *tensorRef)) {
	each := func(list []tensorRef) {
		for i := range list {
			f(&list[i])
		}
	}
	for _, l := range n.layers {
		for _, call := range l.calls {
			each(call)
		}
	}
	each(n.inputs)
	each(n.outputs)
}

// renumber makes the calls of nested models count from 0. Keras also counts the call that
// made a nested model, although the list of calls lacks it. The other calls then begin with
// 1, and renumber subtracts 1.
func (n *network) renumber() {
	nested := map[string]*layer{}
	for _, l := range n.layers {
		if l.net != nil {
			nested[l.name] = l
		}
	}
	fromZero := map[string]bool{}
	n.refs(func(r *tensorRef) {
		if nested[r.layer] != nil && r.call == 0 {
			fromZero[r.layer] = true
		}
	})
	n.refs(func(r *tensorRef) {
		if nested[r.layer] != nil && !fromZero[r.layer] {
			r.call--
		}
	})
}

// leaves calls f for every layer that is not a model, in the order of the
// description, with the names of the models around it joined by slashes.
func (n *network) leaves(path string, f func(path string, l *layer)) {
	for _, l := range n.layers {
		if l.net != nil {
			l.net.leaves(path+l.name+"/", f)
		} else {
			f(path+l.name, l)
		}
	}
}
