package bitwise

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// A fragment has state tensors, inputs and nodes of a case.
type fragment struct{ name, state, inputs, nodes string }

// roots compute v by every algorithm, with sizes on both sides of the blocks of GPUs.
var roots = []fragment{
	conv("window of 33 channels", 33, 5, 11, 2, "pad=[0,0,1,1]"),
	conv("window of 31 channels", 31, 3, 17, 1, "pad=[0,0,0,0]"),
	conv("window of 65 channels, strided", 65, 9, 23, 1, "stride=[2,2]"),
	conv("direct", 16, 24, 9, 3, "pad=[1,1,1,1]"),
	conv("tiles", 48, 32, 9, 3, "pad=[1,1,1,1]"),
	conv("dilated tiles", 32, 32, 11, 3, "pad=[2,2,2,2], dilation=[2,2]"),
	conv("small tiles", 16, 16, 7, 3, "pad=[1,1,1,1]"),
	conv("tiles of 5x5", 32, 16, 7, 5, "pad=[2,2,2,2]"),
	{"depthwise", "state w f32[19,1,3,3]\nstate b f32[19]\n", "x rows f32[19,5,6]",
		"v = conv(x, @w, @b, groups=19, pad=[1,1,1,1])\n"},
	{"groups", "state w f32[14,3,1,1]\n", "x rows f32[6,3,4]", "v = conv(x, @w, groups=2)\n"},
	{"transposed", "state w f32[7,5,2,2]\nstate b f32[5]\n", "x rows f32[7,3,4]",
		"v = conv_transpose(x, @w, @b, stride=[2,2])\n"},
	{"gradient", "state w f32[7,34,3,3]\n", "x rows f32[7,3,5]",
		"v = conv_grad_input(x, @w, pad=[1,1,1,1], stride=[2,1], size=[6,5])\n"},
	{"dense", "state w f32[37,19]\nstate b f32[37]\n", "x rows f32[19]", "v = dense(x, @w, @b)\n"},
	{"dense with leading axes", "state w f32[37,19]\nstate b f32[37]\n", "x rows f32[5,19]",
		"v = dense(x, @w, @b, leading=1)\n"},
	{"dense gradient", "state w f32[19,35]\n", "x rows f32[3,19]",
		"v = dense_grad_input(x, @w, leading=1)\n"},
	{"norm", "state g f32[5]\nstate b f32[5]\n", "x rows f32[5,3,7]",
		"m = moments(x)\nv = normalise(x, m, @g, @b, over=\"replica\")\n"},
	{"node", "", "x rows f32[5,3,7]", "v = exp(x)\n"},
	{"node of one number", "", "x rows f32[1]", "v = tanh(x)\n"},
	{"node of a vector", "", "x rows f32[129]", "v = erf(x)\n"},
}

// conv returns a convolution of images of side x side pixels.
func conv(name string, out, in, side, kernel int, attributes string) fragment {
	return fragment{name,
		fmt.Sprintf("state w f32[%d,%d,%d,%d]\nstate b f32[%d]\n", out, in, kernel, kernel, out),
		fmt.Sprintf("x rows f32[%d,%d,%d]", in, side, side), "v = conv(x, @w, @b, " + attributes + ")\n"}
}

// epilogues compute y from v.
var epilogues = []fragment{
	{"relu", "", "", "y = relu(v)\n"},
	{"sum, relu", "", "r rows f32[SHAPE]", "s = add(v, r)\ny = relu(s)\n"},
	{"silu, gate", "", "r rows f32[CHANNEL]", "s = silu(v)\ny = mul(s, r)\n"},
	{"value that is read twice", "", "r rows f32[SHAPE]",
		"s = sigmoid(v)\nt = mul(v, s)\nu = sub(r, t)\ny = relu6(u)\n"},
	{"value that is kept, and is a result", "", "",
		"s = hard_swish(v)\ny = gelu(s)\nz = reduce_sum(s, axes=[0])\n"},
	{"gradient", "", "r rows f32[SHAPE], q rows f32[SHAPE]",
		"s = add(r, v)\nt = activation_grad(q, s, of=\"relu\")\ny = activation_grad(r, t, of=\"silu\")\n"},
	{"gradients", "", "r rows f32[SHAPE]", "s = activation_grad(r, v, of=\"relu6\")\n" +
		"t = activation_grad(r, s, of=\"hard_swish\")\ny = activation_grad(r, t, of=\"gelu\")\n"},
	{"state", "state k f32[LINE]\nstate o f32[1]\n", "", "s = mul(@k, v)\nt = sub(@o, s)\n" +
		"u = affine(t, by=0.7, add=-0.1)\ny = leaky_relu(u, alpha=0.2)\n"},
	{"quotient", "state k f32[SHAPE]\n", "r rows f32[SHAPE]", "s = div(r, v)\nt = max(s, @k)\n" +
		"u = min(r, t)\n" +
		"w1 = clip(u, min=-1.5, max=2.5)\ny = hard_sigmoid(w1)\n"},
	{"more than an epilogue has", "",
		"r rows f32[SHAPE], q rows f32[CHANNEL], p rows f32[SHAPE], o rows f32[SHAPE]",
		"a1 = add(v, r)\na2 = mul(a1, q)\na3 = sub(p, a2)\na4 = add(a3, o)\na5 = relu(a4)\n" +
			"a6 = affine(a5, by=2, add=0)\n" +
			"a7 = clip(a6, min=0, max=9)\na8 = silu(a7)\na9 = softplus(a8)\ny = gelu_tanh(a9)\n"},
}

// Fused returns a case for each root and each epilogue.
func Fused() ([]Case, error) {
	var all []Case
	for _, r := range roots {
		alone, err := parse(r.name + "\n" + r.state + "in " + r.inputs + "\n" + r.nodes)
		if err != nil {
			return nil, err
		}
		fn := alone.Program.Functions[0]
		shape := fn.Values[fn.Outputs[0].Value].Type.Shape
		channel := append([]int{shape[0]}, 1, 1)[:len(shape)]
		shapes := strings.NewReplacer("SHAPE", list(shape), "CHANNEL", list(channel),
			"LINE", list(shape[len(shape)-1:]))
		for _, e := range epilogues {
			inputs := r.inputs
			if e.inputs != "" {
				inputs += ", " + e.inputs
			}
			text := r.name + ", then " + e.name + "\n" + r.state + e.state + "in " + inputs + "\n" +
				r.nodes + e.nodes
			c, err := parse(shapes.Replace(text))
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// list returns the text of a shape.
func list(shape []int) string {
	s := tensor.Describe(tensor.F32, shape)
	return strings.Trim(strings.TrimPrefix(s, "f32"), "[]")
}
