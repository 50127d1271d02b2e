package models

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/graph"
)

// boxesOfCell is the number of default boxes of a cell of SSDlite: two squares, and two boxes for each of two
// ratios of sides.
const boxesOfCell = 6

// ssdliteStyle is the style of SSDlite's convolutions and batch norms.
var ssdliteStyle = style{weights: graph.Init{Rule: "normal", Args: []float64{0.03}},
	norms: []any{"eps", 1e-3, "decay", 0.97}}

// ssdlite is SSDlite on MobileNetV3-Large (Howard et al. 2019, section 6.3) in torchvision's form and names.
// The last three blocks of the MobileNet have half of the published channels. The rows of graph.SSDForm are
// the offset of the centre from the default box's, the logarithms of width and height divided by the default
// box's, the logit of the background, and the logits of the classes.
func ssdlite(n *net, image graph.Value, classes int) graph.Value {
	n.style = ssdliteStyle
	maps := n.ssdliteFeatures(image)
	var all []graph.Value
	for k, x := range maps {
		at := func(name string) string { return fmt.Sprintf("head.%s.%d", name, k) }
		boxes := n.ssdliteHead("head.regression_head.module_list", k, x, 4)
		logits := n.ssdliteHead("head.classification_head.module_list", k, x, 1+classes)
		all = append(all, n.concat(at("join"), n.anchored(at("boxes"), boxes, 4),
			n.anchored(at("classes"), logits, 1+classes)))
	}
	return n.Op(graph.Concat, "head.slots", all, "axis", 1)
}

// ssdliteFeatures returns six maps, of a 16th to a 512th of the image. The first is the expansion of block 13
// of the MobileNet.
func (n *net) ssdliteFeatures(x graph.Value) []graph.Value {
	const first, prefix, expanded = 13, "backbone.features.", 672
	x = n.unit(prefix+"0.0", x, convSpec{out: 16, kernel: 3, stride: 2, pad: 1}, graph.HardSwish)
	for i, b := range mobileV3Large[:first-1] {
		x = n.mobileV3Block(fmt.Sprintf("%s0.%d.block", prefix, i+1), x, b, 1)
	}
	fine := n.unit(prefix+"0.13", x, convSpec{out: expanded, kernel: 1, stride: 1}, graph.HardSwish)
	rest := prefix + "1.0."
	x = n.unit(rest+"1", fine, convSpec{out: expanded, kernel: 5, stride: 2, pad: 2, groups: expanded},
		graph.HardSwish)
	x = n.excite(rest+"2", x, excitation{squeezed: divisibleBy8(expanded / 4), activation: graph.Relu,
		act: graph.HardSigmoid})
	x = n.unit(rest+"3", x, convSpec{out: 80, kernel: 1, stride: 1}, 0)
	for i := range 2 {
		x = n.mobileV3Block(fmt.Sprintf("%s1.%d.block", prefix, i+1), x,
			mobileV3{5, 480, 80, true, true, 1}, 1)
	}
	x = n.unit(prefix+"1.3", x, convSpec{out: 480, kernel: 1, stride: 1}, graph.HardSwish)
	maps := []graph.Value{fine, x}
	for i, out := range []int{512, 256, 256, 128} {
		layer := func(k int) string { return fmt.Sprintf("backbone.extra.%d.%d", i, k) }
		x = n.unit(layer(0), x, convSpec{out: out / 2, kernel: 1, stride: 1}, graph.Relu6)
		x = n.unit(layer(1), x, convSpec{out: out / 2, kernel: 3, stride: 2, pad: 1, groups: out / 2}, graph.Relu6)
		x = n.unit(layer(2), x, convSpec{out: out, kernel: 1, stride: 1}, graph.Relu6)
		maps = append(maps, x)
	}
	return maps
}

// mobileNetName returns the name in torchvision's MobileNetV3 of a tensor of SSDlite's backbone. The backbone
// is in two lists of layers, which divide block 13. name is without "backbone."; other names become "".
func mobileNetName(name string) string {
	words := strings.SplitN(name, ".", 4) // features, list, layer, rest
	if len(words) < 4 || words[0]+"." != features {
		return ""
	}
	layer, err := strconv.Atoi(words[2])
	const divided = 13
	switch {
	case err != nil:
		return ""
	case words[1] == "0" && layer == divided: // the expansion
		return fmt.Sprintf("%s%d.block.0.%s", features, divided, words[3])
	case words[1] == "1" && layer == 0: // the other layers, numbered as in the block
		return fmt.Sprintf("%s%d.block.%s", features, divided, words[3])
	case words[1] == "1":
		layer += divided
	}
	return fmt.Sprintf("%s%d.%s", features, layer, words[3])
}

// ssdliteHead adds a depthwise convolution, and one that returns a number of rows for each default box.
func (n *net) ssdliteHead(name string, k int, x graph.Value, rows int) graph.Value {
	c := n.channels(x)
	x = n.unit(fmt.Sprintf("%s.%d.0", name, k), x, convSpec{out: c, kernel: 3, stride: 1, pad: 1, groups: c},
		graph.Relu6)
	return n.byStyleBias(fmt.Sprintf("%s.%d.1", name, k), x,
		convSpec{out: boxesOfCell * rows, kernel: 1, stride: 1}, 0)
}
