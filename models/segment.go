package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// onResNet50 returns a network that gives each pixel a class: a ResNet-50 with maps of an
// eighth of the image, a head, and bilinear interpolation to the size of the image, in
// torchvision's form and names. The auxiliary head reads the third of the four stages.
func onResNet50(head func(n *net, x graph.Value, classes int) graph.Value) forward {
	return func(n *net, image graph.Value, classes int) graph.Value {
		stages := n.resNetFeatures("backbone.", image, bottleneck, []int{3, 4, 6, 3}, 2)
		y := n.upsampleTo("scale", head(n, stages[3], classes), image)
		if n.heads != nil {
			aux := n.fcnHeadAs("aux_classifier.", stages[2], classes)
			n.heads[graph.Auxiliary] = n.upsampleTo("aux_classifier.scale", aux, image)
		}
		return y
	}
}

// fcnHead is the head of Long, Shelhamer, Darrell 2015, in torchvision's form.
func fcnHead(n *net, x graph.Value, classes int) graph.Value {
	return n.fcnHeadAs("classifier.", x, classes)
}

func (n *net) fcnHeadAs(prefix string, x graph.Value, classes int) graph.Value {
	c := convSpec{out: n.channels(x) / 4, kernel: 3, stride: 1, pad: 1}
	x = n.convNormReluAs(prefix, 0, x, c)
	x = n.Op(graph.Dropout, prefix+"3", []graph.Value{x}, "p", 0.1)
	return n.pixelHead(prefix+"4", x, classes)
}

// deepLabHead is the head of DeepLabv3 (Chen et al. 2017): atrous spatial pyramid pooling
// with rates 12, 24 and 36. Its last branch is the mean of the image.
func deepLabHead(n *net, x graph.Value, classes int) graph.Value {
	const width, pyramid = 256, "classifier.0."
	one := convSpec{out: width, kernel: 1, stride: 1}
	branches := []graph.Value{n.convNormReluAs(pyramid+"convs.0.", 0, x, one)}
	for i, rate := range []int{12, 24, 36} {
		branches = append(branches, n.convNormReluAs(fmt.Sprintf("%sconvs.%d.", pyramid, i+1), 0, x,
			convSpec{out: width, kernel: 3, stride: 1, pad: rate, dilation: rate}))
	}
	mean := n.Op(graph.GlobalAvgPool, pyramid+"convs.4.0", []graph.Value{x})
	mean = n.convNormReluAs(pyramid+"convs.4.", 1, mean, one)
	branches = append(branches, n.upsampleTo(pyramid+"convs.4.scale", mean, x))
	y := n.Op(graph.Concat, pyramid+"join", branches, "axis", 0)
	y = n.convNormReluAs(pyramid+"project.", 0, y, one)
	y = n.Op(graph.Dropout, pyramid+"project.3", []graph.Value{y}, "p", 0.5)
	y = n.convNormReluAs("classifier.", 1, y, convSpec{out: width, kernel: 3, stride: 1, pad: 1})
	return n.pixelHead("classifier.4", y, classes)
}

// convNormReluAs adds convolution, batch norm and relu as layers first,
// first+1 and first+2 of a sequence.
func (n *net) convNormReluAs(sequence string, first int, x graph.Value, c convSpec) graph.Value {
	name := func(k int) string { return fmt.Sprintf("%s%d", sequence, first+k) }
	return n.relu(name(2), n.norm(name(1), n.conv(name(0), x, c, 0)))
}
