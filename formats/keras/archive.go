package keras

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
)

// An archive of Keras 3 keeps weights by place, not by name: below a model,
// "layers" holds a group for every layer, called after the class and counted
// within it ("conv2d", "conv2d_1"), and each has its weights in "vars" as 0,
// 1, 2 in the order in which they were made.

// containers are the names under which a model keeps its layers: now, and in
// TensorFlow 2.12 to 2.13.
const (
	containerNow = "layers"
	containerOld = "_layer_checkpoint_dependencies"
)

var words = []*regexp.Regexp{regexp.MustCompile("(.)([A-Z][a-z]+)"), regexp.MustCompile("([a-z])([A-Z])")}

// snake writes a class name as Keras does: BatchNormalization is
// batch_normalization, Conv2D is conv2d.
func snake(class string) string {
	for _, w := range words {
		class = w.ReplaceAllString(class, "${1}_${2}")
	}
	return strings.ToLower(class)
}

// matchArchive finds the weights of all layers of n below o and adds them to w.
func (w weights) matchArchive(n *network, o *hdf5.Object) error {
	container := containerNow
	if !o.Has(container) {
		container = containerOld
	}
	if !o.Has(container) {
		return fmt.Errorf("%s has no group %q", o.Path(), containerNow)
	}
	layers, err := o.Open(container)
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, l := range n.layers {
		name := snake(l.asked)
		at := count[name]
		count[name]++
		if container == containerOld && l.hasWeights() {
			count[name]++ // such a layer stands there twice, the second time empty
		}
		if at > 0 {
			name += "_" + strconv.Itoa(at)
		}
		if err := w.matchMember(l, layers, name); err != nil {
			return fmt.Errorf("layer %s: %w", l.name, err)
		}
	}
	return nil
}

// hasWeights reports whether l or a layer inside has weights.
func (l *layer) hasWeights() bool {
	if l.net == nil {
		trained, kept := l.params()
		return len(trained)+len(kept) > 0
	}
	any := false
	l.net.leaves("", func(_ string, l *layer) { any = any || l.hasWeights() })
	return any
}

// matchMember gives the weights in one member of a container to its layer.
func (w weights) matchMember(l *layer, layers *hdf5.Object, name string) error {
	if !l.hasWeights() {
		return nil
	}
	o, err := layers.Open(name)
	if err != nil {
		return err
	}
	if l.net != nil {
		return w.matchArchive(l.net, o)
	}
	vars, err := o.Open("vars")
	if err != nil {
		return err
	}
	trained, kept := l.params()
	for i, p := range append(trained, kept...) {
		data, err := vars.Open(strconv.Itoa(i))
		if err != nil {
			return err
		}
		v, err := data.Value()
		if err != nil {
			return err
		}
		w.put(slot{l: l, param: p}, array{name + "/vars/" + strconv.Itoa(i), v})
	}
	if more := strconv.Itoa(len(trained) + len(kept)); vars.Has(more) {
		return fmt.Errorf("%s has more than the %s weights that its description asks for", vars.Path(), more)
	}
	return nil
}
