package models

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
)

// visionTransformer is ViT-Base of Dosovitskiy et al. 2021 with patches of 16x16, in
// torchvision's form: 12 blocks of 12 heads on 768 channels.
func visionTransformer(n *net, x graph.Value, classes int) graph.Value {
	const width, patch, depth = 768, 16, 12
	s := n.Type(x).Shape
	if len(s) == 3 && (s[1]%patch != 0 || s[2]%patch != 0) {
		n.Fail(fmt.Errorf("it cuts images into patches of %dx%d, want sides that are multiples", patch, patch))
		return graph.None
	}
	n.weights = graph.Init{Rule: "normal", Args: []float64{1 / math.Sqrt(float64(n.channels(x)*patch*patch))}}
	x = n.byStyleBias("conv_proj", x, convSpec{out: width, kernel: patch, stride: patch}, 0)
	patches := s[1] / patch * (s[2] / patch)
	x = n.transpose("tokens", n.reshape("patches", x, 1, width, patches), 0, 2, 1)
	x = n.tokens(x, patches)
	for i := range depth {
		x = n.encoderBlock(fmt.Sprintf("encoder.layers.encoder_layer_%d", i), x, 12)
	}
	x = n.lastNorm("encoder.ln", x, 1e-6)
	x = n.Op(graph.Slice, "class", []graph.Value{x}, "begin", []int{0, 0, 0}, "end", []int{1, 1, width})
	return n.dense("heads.head", n.flatten("class.flat", x), classes, "zeros", 0, 0)
}

// tokens puts the class token in front of the tokens of the patches, and adds an embedding
// to each.
func (n *net) tokens(x graph.Value, patches int) graph.Value {
	width := n.Type(x).Shape[2]
	token := n.declare("class_token", graph.Bias, "zeros", nil, 1, 1, width)
	token = n.Op(graph.Pad, "class_token.padded", []graph.Value{token}, "before", []int{0, 0, 0},
		"after", []int{0, patches, 0})
	x = n.Op(graph.Pad, "tokens.padded", []graph.Value{x}, "before", []int{0, 1, 0}, "after", []int{0, 0, 0})
	x = n.add("encoder.tokens", x, token)
	at := n.declare("encoder.pos_embedding", graph.Bias, "normal", []float64{0.02}, 1, patches+1, width)
	return n.add("encoder.add", x, at)
}

// encoderBlock is attention and a perceptron, each after a layer norm and with a shortcut.
func (n *net) encoderBlock(name string, x graph.Value, heads int) graph.Value {
	y := n.selfAttention(name+".self_attention", n.lastNorm(name+".ln_1", x, 1e-6), heads)
	x = n.add(name+".add_1", y, x)
	y = n.perceptron(name+".mlp", n.lastNorm(name+".ln_2", x, 1e-6), graph.Init{Rule: "xavier_uniform"}, 1e-6)
	return n.add(name+".add_2", x, y)
}

// perceptron is two dense layers at every position, the first four times as wide.
func (n *net) perceptron(name string, x graph.Value, i graph.Init, deviation float64) graph.Value {
	s := n.Type(x).Shape
	width := s[len(s)-1]
	y := n.positions(name+".0", x, 4*width, i, deviation)
	return n.positions(name+".3", n.Op(graph.Gelu, name+".1", []graph.Value{y}), width, i, deviation)
}

// selfAttention is PyTorch's MultiheadAttention of tokens [1,T,C] with themselves.
func (n *net) selfAttention(name string, x graph.Value, heads int) graph.Value {
	s := n.Type(x).Shape
	tokens, width := s[1], s[2]
	y := n.positionsNamed(name+".in_proj", name+".in_proj_weight", name+".in_proj_bias", x, 3*width,
		graph.Init{Rule: "xavier_uniform"}, 0)
	y = n.reshape(name+".heads", y, 1, tokens, 3, heads, width/heads)
	y = n.attention(name, n.transpose(name+".qkv", y, 2, 0, 3, 1, 4), graph.None)
	y = n.reshape(name+".joined", n.transpose(name+".turned", y, 0, 2, 1, 3), 1, tokens, width)
	bound := 1 / math.Sqrt(float64(width))
	return n.positions(name+".out_proj", y, width, graph.Init{Rule: "uniform", Args: []float64{bound}}, 0)
}

// attention computes attention of queries, keys and values [3,W,heads,T,C] of W windows. It
// adds bias, unless it is None, to the products before their softmax.
func (n *net) attention(name string, qkv, bias graph.Value) graph.Value {
	s := n.Type(qkv).Shape
	if len(s) != 5 {
		return qkv
	}
	operand := func(i int, what string) graph.Value {
		v := n.Op(graph.Slice, name+"."+what, []graph.Value{qkv}, "begin", []int{i, 0, 0, 0, 0},
			"end", append([]int{i + 1}, s[1:]...))
		return n.reshape(name+"."+what+".of", v, s[1:]...)
	}
	q := n.Op(graph.Affine, name+".scaled", []graph.Value{operand(0, "q")}, "by", 1/math.Sqrt(float64(s[4])))
	y := n.Op(graph.MatMul, name+".products", []graph.Value{q, operand(1, "k")}, "transpose_b", true)
	if bias != graph.None {
		y = n.add(name+".biased", y, bias)
	}
	y = n.Op(graph.Softmax, name+".softmax", []graph.Value{y}, "axis", 3)
	return n.Op(graph.MatMul, name+".sums", []graph.Value{y, operand(2, "v")})
}
