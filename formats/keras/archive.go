package keras

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// An archive of Keras 3 stores weights by position, not by name: below a model, "layers"
// holds a group for every layer, named after the class and numbered within it ("conv2d",
// "conv2d_1"). Each group stores its weights in "vars" as 0, 1, 2 in the order of their
// creation.

// containers are the names under which a model keeps its layers: now, and in
// TensorFlow 2.12 to 2.13.
const (
	containerNow = "layers"
	containerOld = "_layer_checkpoint_dependencies"
)

var camelCase = []*regexp.Regexp{regexp.MustCompile("(.)([A-Z][a-z]+)"), regexp.MustCompile("([a-z])([A-Z])")}

// snake converts a class name like Keras: BatchNormalization to batch_normalization, Conv2D
// to conv2d.
func snake(class string) string {
	for _, w := range camelCase {
		class = w.ReplaceAllString(class, "${1}_${2}")
	}
	return strings.ToLower(class)
}

// eachNode calls f for every layer of n with weights, including layers of nested models. o
// is the node of n in the archive; f also receives the node of the layer.
func (n *network) eachNode(o *node, f func(l *layer, n2 *node) error) error {
	container := containerNow
	if !o.has(container) {
		container = containerOld
	}
	if !o.has(container) {
		return fmt.Errorf("%s has no group %q", o, containerNow)
	}
	layers, err := o.open(container)
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, l := range n.layers {
		name := snake(l.fileClass)
		n2 := count[name]
		count[name]++
		if container == containerOld && l.hasWeights() {
			count[name]++ // this container stores each layer twice, the second time empty
		}
		if n2 > 0 {
			name += "_" + strconv.Itoa(n2)
		}
		if !l.hasWeights() {
			continue
		}
		if err := l.visit(layers, name, f); err != nil {
			return fmt.Errorf("layer %s: %w", l.name, err)
		}
	}
	return nil
}

// visit calls f for l or, if l is a nested model, for its layers. The member of layers that
// is called name has the weights.
func (l *layer) visit(layers *node, name string, f func(l *layer, n *node) error) error {
	o, err := layers.open(name)
	if err != nil {
		return err
	}
	if l.net != nil {
		return l.net.eachNode(o, f)
	}
	return f(l, o)
}

// hasWeights reports whether l or a layer inside has weights.
func (l *layer) hasWeights() bool {
	if l.net == nil {
		trainable, nonTrainable := l.params()
		return len(trainable)+len(nonTrainable) > 0
	}
	any := false
	l.net.leaves("", func(_ string, l *layer) { any = any || l.hasWeights() })
	return any
}

// archived adds the weights of a layer of an archive to w.
func (w weights) archived(l *layer, n *node) error {
	if l.class == "MultiHeadAttention" {
		return w.archivedAttention(l, n)
	}
	vars, err := n.open("vars")
	if err != nil {
		return err
	}
	trainable, nonTrainable := l.params()
	return w.numbered(l, vars, append(trainable, nonTrainable...))
}

// numbered assigns the weights in a group, 0, 1, 2 and so on, to a layer.
func (w weights) numbered(l *layer, vars *node, params []string) error {
	for i, p := range params {
		data, err := vars.open(strconv.Itoa(i))
		if err != nil {
			return err
		}
		if !data.isData() {
			return fmt.Errorf("%s is no array", data)
		}
		v, err := data.o.Value()
		if err != nil {
			return err
		}
		w.put(slot{l: l, param: p}, arrayOf(data.path, v))
	}
	if more := strconv.Itoa(len(params)); vars.has(more) {
		return fmt.Errorf("%s has more than the %s weights that its description asks for", vars, more)
	}
	return nil
}

// archivedAttention assigns the weights of the dense layers of an attention layer.
func (w weights) archivedAttention(l *layer, n *node) error {
	for _, p := range attentionParts {
		name := p.archived
		if !n.has(name) {
			name = "_" + name // name in TensorFlow 2.12 to 2.15
		}
		dense, err := n.open(name)
		if err != nil {
			return err
		}
		vars, err := dense.open("vars")
		if err != nil {
			return err
		}
		params := []string{p.name + "_kernel"}
		if l.fields.bool("use_bias", true) {
			params = append(params, p.name+"_bias")
		}
		if err := w.numbered(l, vars, params); err != nil {
			return err
		}
	}
	return nil
}

// archivedNorms returns the batch norms of a model's description, for an archive without a
// built model. The archive numbers its weights, and the numbers do not show their meaning.
func archivedNorms(n *network, root *node) ([]foreign.BatchNorm, error) {
	norms := []foreign.BatchNorm{}
	err := n.eachNode(root, func(l *layer, at *node) error {
		if l.class != "BatchNormalization" {
			return nil
		}
		trainable, nonTrainable := l.params()
		norm := foreign.BatchNorm{Name: at.path, Eps: l.fields.float("epsilon", 1e-3),
			Decay: l.fields.float("momentum", 0.99)}
		for i, p := range append(trainable, nonTrainable...) {
			to := map[string]*string{"gamma": &norm.Gamma, "beta": &norm.Beta, "moving_mean": &norm.Mean,
				"moving_variance": &norm.Variance}[p]
			*to = at.path + "/vars/" + strconv.Itoa(i)
		}
		norms = append(norms, norm)
		return l.fields.err
	})
	return norms, err
}
