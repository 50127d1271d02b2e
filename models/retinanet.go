package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// anchorsOfCell is the number of anchors of a cell of RetinaNet: three sizes and three ratios of sides.
const anchorsOfCell = 9

// retinaNet is RetinaNet (Lin et al. 2017, arXiv 1708.02002) in torchvision's form and names: a ResNet-50
// with a feature pyramid, and heads that all maps share. The second form has group norm in its heads, and
// computes its last maps from the ResNet. The rows of graph.RetinaNetForm are the offset of the centre from
// the anchor's divided by its width and height, the logarithms of width and height divided by the anchor's,
// and the logits of the classes.
func retinaNet(second bool) forward {
	return func(n *net, image graph.Value, classes int) graph.Value {
		maps := n.resNet50Pyramid(image, second)
		n.style = ofHeads(0.01)
		three := convSpec{kernel: 3, stride: 1, pad: 1}
		var all []graph.Value
		for k, x := range maps {
			at := func(name string) string { return fmt.Sprintf("head.%s.%d", name, k) }
			box := n.retinaConvolutions("head.regression_head.conv", k, x, second)
			box = n.shared("head.regression_head.bbox_reg", k, box, three.with(4*anchorsOfCell))
			class := n.retinaConvolutions("head.classification_head.conv", k, x, second)
			class = n.sharedPrior("head.classification_head.cls_logits", k, class,
				three.with(classes*anchorsOfCell))
			all = append(all, n.concat(at("join"), n.anchored(at("boxes"), box, 4),
				n.anchored(at("classes"), class, classes)))
		}
		return n.Op(graph.Concat, "head.slots", all, "axis", 1)
	}
}

// retinaConvolutions adds four convolutions with relu, with group norm before it if norm is set. Map k shares
// their tensors with the other maps.
func (n *net) retinaConvolutions(name string, k int, x graph.Value, norm bool) graph.Value {
	for i := range 4 {
		layer := fmt.Sprintf("%s.%d", name, i)
		c := convSpec{out: n.channels(x), kernel: 3, stride: 1, pad: 1}
		if norm {
			w := n.styled(layer+".0", x, c)
			x = n.convolve(fmt.Sprintf("%s.0.of.%d", layer, k), c, x, w)
			x = n.sharedGroupNorm(layer+".1", k, x)
		} else {
			x = n.shared(layer+".0", k, x, c)
		}
		x = n.relu(fmt.Sprintf("%s.relu.of.%d", layer, k), x)
	}
	return x
}

// anchored turns a feature map [A*R, H, W] of A anchors into columns for slots, [R, H*W*A].
func (n *net) anchored(name string, x graph.Value, rows int) graph.Value {
	s := n.Type(x).Shape
	if len(s) != 3 {
		return x
	}
	anchors, cells := s[0]/rows, s[1]*s[2]
	x = n.Op(graph.Reshape, name+".split", []graph.Value{x}, "shape", []int{anchors, rows, cells})
	x = n.Op(graph.Transpose, name+".turned", []graph.Value{x}, "perm", []int{1, 2, 0})
	return n.Op(graph.Reshape, name, []graph.Value{x}, "shape", []int{rows, cells * anchors})
}
