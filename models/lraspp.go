package models

import (
	"github.com/bnctl/bnctl/graph"
)

// lraspp is Lite R-ASPP on MobileNetV3-Large (Howard et al. 2019), in torchvision's form
// and names: it classifies pixels by maps of 1/8 and of 1/16 of the image's size, the
// second weighted by the mean of the image.
func lraspp(n *net, image graph.Value, classes int) graph.Value {
	const width, low, dilated = 128, 4, 12 // low is the layer with maps of 1/8 of the image's size
	n.style = mobileV3Style
	maps := n.mobileV3Features("backbone.%d", "block", image, mobileV3Large, dilated)
	n.style = style{}
	x, eighth := maps[len(maps)-1], maps[low]
	one := convSpec{out: width, kernel: 1, stride: 1}
	y := n.convNormReluAs("classifier.cbr.", 0, x, one)
	mean := n.Op(graph.GlobalAvgPool, "classifier.scale.0", []graph.Value{x})
	scale := n.Op(graph.Sigmoid, "classifier.scale.2", []graph.Value{n.conv("classifier.scale.1", mean, one, 0)})
	y = n.Op(graph.Mul, "classifier.scaled", []graph.Value{y, scale})
	y = n.upsampleTo("classifier.upsampled", y, eighth)
	first := n.pixelHead("classifier.low_classifier", eighth, classes)
	y = n.add("classifier.add", first, n.pixelHead("classifier.high_classifier", y, classes))
	return n.upsampleTo("scale", y, image)
}
