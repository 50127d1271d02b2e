package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// fcos is FCOS (Tian et al. 2019) in torchvision's form and names: a ResNet-50 with a feature pyramid, and
// heads with group norm that all maps share. The rows of graph.FCOSForm are the distances from the slot to
// the left, upper, right and lower side of its box, in sides of a cell and at least 0; the logit of the
// centre; and the logits of the classes.
func fcos(n *net, image graph.Value, classes int) graph.Value {
	maps := n.resNet50Pyramid(image, false)
	n.style = ofHeads(0.01)
	var all []graph.Value
	for k, x := range maps {
		at := func(name string) string { return fmt.Sprintf("head.%s.%d", name, k) }
		box := n.fourConvolutions("head.regression_head.conv", k, x)
		three := convSpec{kernel: 3, stride: 1, pad: 1}
		sides := n.relu(at("sides"), n.shared("head.regression_head.bbox_reg", k, box, three.with(4)))
		centre := n.shared("head.regression_head.bbox_ctrness", k, box, three.with(1))
		class := n.fourConvolutions("head.classification_head.conv", k, x)
		class = n.sharedPrior("head.classification_head.cls_logits", k, class, three.with(classes))
		all = append(all, n.slots(at("slots"), n.concat(at("join"), sides, centre, class)))
	}
	return n.Op(graph.Concat, "head.slots", all, "axis", 1)
}

// with returns c with a number of outputs.
func (c convSpec) with(out int) convSpec {
	c.out = out
	return c
}

// fourConvolutions adds four convolutions with group norm and relu. Map k shares their tensors with the
// other maps.
func (n *net) fourConvolutions(name string, k int, x graph.Value) graph.Value {
	for i := range 4 {
		layer := func(j int) string { return fmt.Sprintf("%s.%d", name, 3*i+j) }
		x = n.shared(layer(0), k, x, convSpec{out: n.channels(x), kernel: 3, stride: 1, pad: 1})
		x = n.relu(fmt.Sprintf("%s.of.%d", layer(2), k), n.sharedGroupNorm(layer(1), k, x))
	}
	return x
}

// shared adds a convolution in the network's style with a bias of zeros. All maps share its
// tensors, so that their names do not contain k. The name of its result does.
func (n *net) shared(name string, k int, x graph.Value, c convSpec) graph.Value {
	w := n.styled(name, x, c)
	return n.convolve(fmt.Sprintf("%s.of.%d", name, k), c, x, w, n.bias(name, c.out, 0))
}

// sharedPrior is like shared but with a bias of priorLogit.
func (n *net) sharedPrior(name string, k int, x graph.Value, c convSpec) graph.Value {
	w := n.styled(name, x, c)
	bias := n.declare(name+".bias", graph.Bias, "constant", []float64{priorLogit}, c.out)
	return n.convolve(fmt.Sprintf("%s.of.%d", name, k), c, x, w, bias)
}

// sharedGroupNorm adds a group norm with 32 groups to map k.
func (n *net) sharedGroupNorm(name string, k int, x graph.Value) graph.Value {
	c := n.channels(x)
	return n.Op(graph.GroupNorm, fmt.Sprintf("%s.of.%d", name, k), []graph.Value{x,
		n.declare(name+".weight", graph.Gamma, "ones", nil, c),
		n.declare(name+".bias", graph.Beta, "zeros", nil, c)}, "groups", 32, "eps", 1e-5)
}
