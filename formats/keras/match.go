package keras

import (
	"fmt"
	"strings"
)

// params lists the weights of a layer in the order in which Keras makes them: trainable
// weights, then the others.
func (l *layer) params() (trainable, nonTrainable []string) {
	add := func(name, field string) {
		if field == "" || l.fields.bool(field, true) {
			trainable = append(trainable, name)
		}
	}
	switch l.class {
	case "Conv1D", "Conv2D", "Conv2DTranspose", "Dense":
		add("kernel", "")
		add("bias", "use_bias")
	case "DepthwiseConv2D":
		add("depthwise_kernel", "")
		add("bias", "use_bias")
	case "SeparableConv2D":
		add("depthwise_kernel", "")
		add("pointwise_kernel", "")
		add("bias", "use_bias")
	case "BatchNormalization":
		add("gamma", "scale")
		add("beta", "center")
		nonTrainable = []string{"moving_mean", "moving_variance"}
	case "LayerNormalization", "GroupNormalization":
		add("gamma", "scale")
		add("beta", "center")
	case "Normalization":
		if !l.fields.has("mean") { // the statistics of adapt(), and the number of samples
			nonTrainable = []string{"mean", "variance", "count"}
		}
	case "MultiHeadAttention":
		for _, p := range attentionParts {
			add(p.name+"_kernel", "")
			add(p.name+"_bias", "use_bias")
		}
	case "PReLU":
		add("alpha", "")
	}
	return trainable, nonTrainable
}

// oldNames gives the present name of a weight by the end of its name in Keras 1.
// running_std is the variance, despite its name.
var oldNames = []struct{ end, name string }{
	{"_running_mean", "moving_mean"}, {"_running_std", "moving_variance"},
	{"_gamma", "gamma"}, {"_beta", "beta"},
	{"_alphas", "alpha"}, {"_W", "kernel"}, {"_b", "bias"},
}

// splitName splits a weight's name into its layer and its name within the layer.
func splitName(name string) (layer, param string) {
	name = strings.TrimSuffix(name, ":0")
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		layer, name = name[:at], name[at+1:]
		layer = layer[strings.LastIndexByte(layer, '/')+1:]
	}
	for _, o := range oldNames {
		if before, ok := strings.CutSuffix(name, o.end); ok {
			return before, o.name
		}
	}
	return layer, name
}

// slot is one weight of a layer.
type slot struct {
	l     *layer
	path  string
	param string
}

// weights holds the arrays of every layer by the name of the weight.
type weights map[*layer]map[string]array

func (w weights) put(s slot, a array) {
	if w[s.l] == nil {
		w[s.l] = map[string]array{}
	}
	w[s.l][s.param] = a
}

// slotsOf lists the weights of layers in the order in which Keras writes the weights of a
// model: all trainable ones, then all others.
func slotsOf(leaves []slot) []slot {
	var first, second []slot
	for _, s := range leaves {
		trainable, nonTrainable := s.l.params()
		if !s.l.fields.bool("trainable", true) {
			trainable, nonTrainable = nil, append(trainable, nonTrainable...)
		}
		for _, p := range trainable {
			first = append(first, slot{s.l, s.path, p})
		}
		for _, p := range nonTrainable {
			second = append(second, slot{s.l, s.path, p})
		}
	}
	return append(first, second...)
}

// match assigns the arrays of a group to the slots of its layers: by name if every slot
// finds one array, otherwise by order.
func (w weights) match(leaves []slot, g group) error {
	slots := slotsOf(leaves)
	if len(slots) != len(g.arrays) {
		return fmt.Errorf("layer %s has %d weights in the file, its description asks for %d", g.name,
			len(g.arrays), len(slots))
	}
	ordered := g.arrays
	if named, ok := byName(slots, g, len(leaves) == 1); ok {
		ordered = named
	}
	for i, s := range slots {
		w.put(s, ordered[i])
	}
	return nil
}

// byName returns the arrays in the order of the slots; ok is false if a slot has no array
// or two slots have the same one. If single is set, all names belong to one layer and need not
// contain its name.
func byName(slots []slot, g group, single bool) (ordered []array, ok bool) {
	named := map[string]array{}
	for _, a := range g.arrays {
		layer, param := splitName(a.name)
		if !single {
			param = layer + "/" + param
		}
		named[param] = a
	}
	for _, s := range slots {
		key := s.param
		if !single {
			key = s.l.name + "/" + s.param
		}
		a, found := named[key]
		if !found || len(named) != len(slots) {
			return nil, false
		}
		ordered = append(ordered, a)
	}
	return ordered, true
}

// matchGroups assigns the arrays of all groups to the layers of n.
func (c *content) matchGroups(n *network) (weights, error) {
	w, only := weights{}, c.replicated()
	for _, g := range c.groups {
		l := n.find(g.name)
		var leaves []slot
		switch {
		case len(g.arrays) == 0 && (l == nil || l.net != nil || only != ""):
			continue
		case l == nil && g.name == only:
			leaves = n.slots("") // the template, without the layers added by multi_gpu_model
		case l == nil:
			return nil, fmt.Errorf("the file has weights of a layer %.80q that the description has not", g.name)
		case l.net != nil:
			leaves = l.net.slots(l.name + "/")
		default:
			leaves = []slot{{l: l, path: l.name}}
		}
		if err := w.match(leaves, g); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// slots lists the layers of n, with nested models expanded.
func (n *network) slots(path string) []slot {
	var leaves []slot
	n.leaves(path, func(path string, l *layer) { leaves = append(leaves, slot{l: l, path: path}) })
	return leaves
}
