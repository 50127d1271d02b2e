package draft

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats"
)

// layer is a module of a state dict: the tensors with the same name up to the last dot.
type layer struct {
	name                         string // "layer1.0.conv1"
	weight, bias, mean, variance *formats.Tensor
	others                       []*formats.Tensor // tensors with an unknown suffix
}

// layersOf returns the layers of tensors, in their order. Counters of batch norms are left out.
func layersOf(tensors []formats.Tensor) (list []*layer) {
	byName := map[string]*layer{}
	for i := range tensors {
		t := &tensors[i]
		base, suffix := "", t.Name
		if at := strings.LastIndexByte(t.Name, '.'); at >= 0 {
			base, suffix = t.Name[:at], t.Name[at+1:]
		}
		if suffix == "num_batches_tracked" {
			continue
		}
		l := byName[base]
		if l == nil {
			l = &layer{name: base}
			byName[base], list = l, append(list, l)
		}
		switch suffix {
		case "weight":
			l.weight = t
		case "bias":
			l.bias = t
		case "running_mean":
			l.mean = t
		case "running_var":
			l.variance = t
		default:
			l.others = append(l.others, t)
		}
	}
	return list
}

// kind is the kind of a layer, derived from its tensors.
type kind int

const (
	unknown    kind = iota // tensors that do not determine an operation
	conv                   // weight [O,I,H,W], or [O,I,K] in 1-D
	transposed             // weight of shape [I,O,H,W]
	dense                  // weight of shape [O,I]
	batchNorm              // a layer with statistics
	norm                   // weight and bias of shape [C] without statistics: a layer norm or a group norm
	slopes                 // only a weight of shape [C]: a prelu
)

// kind returns the kind of l. The length of a bias, or of the batch norm that follows,
// distinguishes a transposed convolution from a plain one.
func (l *layer) kind(next *layer) kind {
	switch {
	case l.mean != nil && l.variance != nil && len(l.mean.Shape) == 1:
		return batchNorm
	case l.weight == nil || len(l.others) > 0 && len(l.weight.Shape) < 3:
		return unknown
	}
	switch s := l.weight.Shape; len(s) {
	case 3, 4:
		outs := 0
		if l.bias != nil && len(l.bias.Shape) == 1 {
			outs = l.bias.Shape[0]
		} else if next != nil && next.mean != nil {
			outs = next.mean.Shape[0]
		}
		if outs == s[1] && outs != s[0] {
			return transposed
		}
		return conv
	case 2:
		return dense
	case 1:
		if l.bias == nil {
			return slopes
		}
		return norm
	}
	return unknown
}

// tensors returns the tensors of l with their roles in training.
func (l *layer) tensors(k kind) (list []declared) {
	roles := map[kind][2]string{batchNorm: {"gamma ones", "beta zeros"}, norm: {"gamma ones", "beta zeros"},
		slopes: {"weight constant(0.25)", ""}, unknown: {"weight normal(0.02)", "bias zeros"}}
	role, ok := roles[k]
	if !ok {
		role = [2]string{"weight he_normal(0)", "bias zeros"}
	}
	for _, d := range []declared{{l.weight, role[0]}, {l.bias, role[1]}, {l.mean, "mean zeros"},
		{l.variance, "variance ones"}} {
		if d.t != nil {
			list = append(list, d)
		}
	}
	for _, t := range l.others {
		list = append(list, declared{t, "weight normal(0.02)"})
	}
	return list
}

// declared is a tensor with its role and the rule that fills a new one.
type declared struct {
	t    *formats.Tensor
	rule string
}

// shape returns the shape of d in a graph, where the kernel of a 1-D convolution has a
// height of 1.
func (d declared) shape() []int {
	s := slices.Clone(d.t.Shape)
	if len(s) == 3 && strings.HasSuffix(d.t.Name, "weight") {
		s = []int{s[0], s[1], 1, s[2]}
	}
	return s
}
