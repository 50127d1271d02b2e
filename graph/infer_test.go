package graph

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// inferState and inferInputs declare the operands of TestInfer.
const (
	inferState = `state k f32[6,2,3,2] weight
state c f32[6] bias
state two f32[2] gamma
state v f32[2] variance
state w f32[5,8] weight
state s f32[] optimizer
state m f64[5] constant
state sq f64[] optimizer
state k8 i8[6,7,3,2] weight
state w8 i8[6,3] weight
state b8 i32[6] bias
state t8 u8[256] constant
state long i8[2,32897] weight
state b2 i32[2] bias
state corners f32[3,4] constant
`
	inferInputs = "x rows f32[2,7,6], dy rows f32[6,5,5], y rows f32[8], u rows u8[7,6,3], l rows i32[7,6], " +
		"id rows i64[2], p replica f64[5], q replica f32[2,3], sums replica f64[4], one rows f32[], col rows " +
		"f32[2,1,1], h rows u8[3], gate rows u8[7,1,1], slots rows f32[7,3], pair rows f32[2]"
)

func inferLine(t *testing.T, line string) (string, error) {
	t.Helper()
	g, err := ParseGraph([]byte("bnctl graph 1\ngraph \"g\"\n" + inferState + "func main(" +
		inferInputs + ") {\n" + line + "\n}"))
	if err != nil {
		return "", err
	}
	var types []string
	for _, v := range g.Main.Nodes[len(g.Main.Nodes)-1].Out {
		types = append(types, g.Main.Values[v].Type.String())
	}
	return strings.Join(types, ", "), nil
}

// TestInfer compares the result types of every operation with expected ones.
func TestInfer(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct{ node, want string }{
		{"image(u)", "rows f32[3,7,6]"},
		{"conv(x, @k, @c)", "rows f32[6,5,5]"},
		{"conv(x, @k, stride=[2,3], pad=[1,0,0,2], dilation=[2,1])", "rows f32[6,2,3]"},
		{"conv_grad_input(dy, @k, size=[7,6])", "rows f32[2,7,6]"},
		{"conv_grad_weight(x, dy, kernel=[3,2])", "replica f32[6,2,3,2]"},
		{"conv_transpose(dy, @k, @two, stride=[2,2], output_pad=[1,0])", "rows f32[2,12,10]"},
		{"dense(y, @w)", "rows f32[5]"},
		{"dense_grad_input(y, @wt)", "rows f32[5]"},
		{"dense_grad_weight(y, one5)", "replica f32[5,8]"},
		{"matmul(x, x, transpose_b=true)", "rows f32[2,7,7]"},
		{"matmul(@k, @k, transpose_a=true)", "whole f32[6,2,2,2]"},
		{"moments(x)", "replica f64[5]"},
		{"running_moments(@two, @v)", "whole f64[5]"},
		{"select_moments(p, @m)", "replica f64[5]"},
		{"normalise(x, @m, @two, @two)", "rows f32[2,7,6]"},
		{`normalise(x, p, @two, @two, over="replica")`, "rows f32[2,7,6]"},
		{"normalise_grad_sums(x, x, @m)", "replica f64[4]"},
		{`normalise_grad_input(x, x, p, sums, @two, over="replica")`, "rows f32[2,7,6]"},
		{"normalise_grad_params(@m, sums)", "replica f32[2], replica f32[2]"},
		{"batch_norm(x, @two, @two, @two, @v)", "rows f32[2,7,6]"},
		{`all_reduce(p, of="moments")`, "whole f64[5]"},
		{"all_reduce(q)", "whole f32[2,3]"},
		{"split(u, replicas=2)", "rows u8[7,6,3]"},
		{"gather(l, replicas=2)", "rows i32[7,6]"},
		{"relu(q)", "replica f32[2,3]"},
		{"relu6(x)", "rows f32[2,7,6]"},
		{"leaky_relu(x)", "rows f32[2,7,6]"},
		{"elu(x)", "rows f32[2,7,6]"},
		{"sigmoid(@s)", "whole f32[]"},
		{"hard_sigmoid(x)", "rows f32[2,7,6]"},
		{"silu(x)", "rows f32[2,7,6]"},
		{"hard_swish(x)", "rows f32[2,7,6]"},
		{"tanh(x)", "rows f32[2,7,6]"},
		{"softplus(x)", "rows f32[2,7,6]"},
		{"erf(x)", "rows f32[2,7,6]"},
		{"gelu(q)", "replica f32[2,3]"},
		{"gelu_tanh(x, halve_last=true)", "rows f32[2,7,6]"},
		{"mish(x)", "rows f32[2,7,6]"},
		{"prelu(x, @two)", "rows f32[2,7,6]"},
		{`activation_grad(x, x, of="silu")`, "rows f32[2,7,6]"},
		{"prelu_grad_input(x, @two, x)", "rows f32[2,7,6]"},
		{"prelu_grad_slope(x, x)", "replica f32[2]"},
		{"softmax(x, axis=2)", "rows f32[2,7,6]"},
		{"log_softmax(q)", "replica f32[2,3]"},
		{"softmax_grad(x, x)", "rows f32[2,7,6]"},
		{"log_softmax_grad(x, x)", "rows f32[2,7,6]"},
		{"max_pool(x, kernel=[3,2], stride=[2,2], pad=[1,0,1,0])", "rows f32[2,4,3]"},
		{"max_pool_grad(x, x, kernel=[1,1])", "rows f32[2,7,6]"},
		{"avg_pool(x, kernel=[7,6])", "rows f32[2,1,1]"},
		{"avg_pool_grad(x, kernel=[2,2], size=[8,7])", "rows f32[2,8,7]"},
		{"global_avg_pool(x)", "rows f32[2,1,1]"},
		{"global_avg_pool_grad(col, size=[3,4])", "rows f32[2,3,4]"},
		{"add(x, col)", "rows f32[2,7,6]"},
		{"sub(@two, @s)", "whole f32[2]"},
		{"mul(q, @s)", "replica f32[2,3]"},
		{"div(@s, one)", "rows f32[]"},
		{"exp(p)", "replica f64[5]"},
		{"log(x)", "rows f32[2,7,6]"},
		{"sqrt(@sq)", "whole f64[]"},
		{"affine(x, by=2)", "rows f32[2,7,6]"},
		{"clip(x, min=0, max=inf)", "rows f32[2,7,6]"},
		{"reduce_sum(x, axes=[0,2])", "rows f32[7]"},
		{"reduce_mean(x, axes=[1,2], keep=true)", "rows f32[2,1,1]"},
		{"broadcast_to(col, shape=[4,2,1,3])", "rows f32[4,2,1,3]"},
		{"sum_rows(x)", "replica f32[2,7,6]"},
		{"channel_sum(x)", "replica f32[2]"},
		{"concat(x, x, x, axis=1)", "rows f32[2,21,6]"},
		{"slice(u, begin=[0,1,0], end=[7,6,3], step=[3,2,1])", "rows u8[3,3,3]"},
		{"slice_grad(y, begin=[2], end=[10], size=[12])", "rows f32[12]"},
		{"pad(x, before=[0,1,2], after=[3,0,0])", "rows f32[5,8,8]"},
		{"reshape(x, shape=[84])", "rows f32[84]"},
		{"transpose(u, perm=[2,0,1])", "rows u8[3,7,6]"},
		{"take(u, axis=1, index=[5,0,0,1])", "rows u8[7,4,3]"},
		{"take_grad(x, axis=1, index=[0,0,3,1,0,2,8], size=[2,9,6])", "rows f32[2,9,6]"},
		{`detect(slots, pair, form="corners", most=9)`, "rows f32[60]"},
		{`detect(slots, pair, @corners, form="ssd", most=1, size=[8,9], before=3, starts=[0,2])`, "rows f32[12]"},
		{"upsample(x, size=[9,9])", "rows f32[2,9,9]"},
		{`upsample_grad(x, from=[3,3], mode="bilinear")`, "rows f32[2,3,3]"},
		{"dropout(x, id)", "rows f32[2,7,6]"},
		{"softmax_xent(x, l)", "replica f64[1]"},
		{"softmax_xent_grad(x, l, @s, one)", "rows f32[2,7,6]"},
		{"correct(x, l)", "replica f64[2]"},
		{"sgd(@two, @two, @v, @s)", "whole f32[2], whole f32[2]"},
		{"adamw(@two, @two, @v, @v, @s, @s, @s)", "whole f32[2], whole f32[2], whole f32[2]"},
		{"lars(@two, @two, @v, @s, @s)", "whole f32[2], whole f32[2]"},
		{"ema(@two, @v)", "whole f32[2]"},
		{"layer_norm(y, axes=[0])", "rows f32[8]"},
		{"layer_norm(x, @two, @two, axes=[0])", "rows f32[2,7,6]"},
		{"layer_norm(x, axes=[0,1,2], eps=0)", "rows f32[2,7,6]"},
		{"layer_norm_grad(x, x, axes=[1,2])", "rows f32[2,7,6]"},
		{"group_norm(dy, @c, @c, groups=3)", "rows f32[6,5,5]"},
		{"group_norm_grad(dy, dy, groups=6)", "rows f32[6,5,5]"},
		{"sum_squares(@k)", "whole f64[]"},
		{"trust_ratio(@sq, @sq)", "whole f32[]"},
		{"clip_factor(@sq, max=1)", "whole f32[]"},
		{"max(x, col)", "rows f32[2,7,6]"},
		{"min(q, @s)", "replica f32[2,3]"},
		{"pow(x, @s)", "rows f32[2,7,6]"},
		{`compare(p, of="less")`, "replica f64[5]"},
		{"where(@s, col, x)", "rows f32[2,7,6]"},
		{`round(x, mode="ceil")`, "rows f32[2,7,6]"},
		{"quantize(x, scale=0.1, zero=3)", "rows u8[2,7,6]"},
		{"dequantize(u, scale=0.1)", "rows f32[7,6,3]"},
		{"conv_int8(u, @k8, @b8, @c, pad=[1,0,0,0], x_zero=255)", "rows u8[6,5,2]"},
		{"conv_int8(u, @k8, @b8, @c, float=true)", "rows f32[6,4,2]"},
		{"dense_int8(h, @w8, @b8, @c, min=3, max=3, zero=3)", "rows u8[6]"},
		{"add_int8(u, u, a_by=0.5, b_by=2)", "rows u8[7,6,3]"},
		{"mul_int8(u, gate, by=0.5)", "rows u8[7,6,3]"},
		{"avg_pool_int8(u, kernel=[6,3], by=0.5)", "rows u8[7,1,1]"},
		{"max_pool_int8(u, kernel=[2,2], stride=[2,1])", "rows u8[7,3,2]"},
		{"table_int8(u, @t8)", "rows u8[7,6,3]"},
		{"pad_int8(u, before=[1,0,0], after=[0,2,0], zero=9)", "rows u8[8,8,3]"},
		{"quantize_weight(@k, @c, x_scale=0.5, scale=2)",
			"whole i8[6,2,3,2], whole i32[6], whole f32[6], whole f32[6,2,3,2]"},
		{"concat_int8(u, u, axis=2)", "rows u8[7,6,6]"},
		{"reduce_max(x, axes=[0,2])", "rows f32[7]"},
		{"reduce_min(x, axes=[1,2], keep=true)", "rows f32[2,1,1]"},
		{"reduce_prod(p, axes=[0])", "replica f64[]"},
	} {
		op, _, _ := strings.Cut(c.node, "(")
		seen[op] = true
		line := ""
		if strings.Contains(c.node, "@wt") {
			c.node = strings.ReplaceAll(c.node, "@wt", "wt")
			line = "wt = transpose(@w, perm=[1,0])\n"
		}
		if strings.Contains(c.node, "one5") {
			line = "one5 = dense(y, @w)\n"
		}
		results := "r"
		for i := range strings.Count(c.want, ", ") {
			results += fmt.Sprintf(", r%d", i)
		}
		got, err := inferLine(t, line+results+" = "+c.node)
		if err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.node, got, err, c.want)
		}
	}
	for _, op := range Ops() {
		if op != Track && !seen[op.String()] {
			t.Errorf("no case for %v", op)
		}
	}
}

// TestInferErrors lists invalid nodes and their errors.
func TestInferErrors(t *testing.T) {
	for _, c := range []struct{ node, want string }{
		{"r = image(x)", "operand 0 is rows f32[2,7,6], want rows u8"},
		{"r = image(u, mean=[1,2])", "attribute mean has 2 elements for 3 channels"},
		{"r = image(u, std=[0,1,1])", "attribute std contains 0"},
		{"r = conv(x, @w)", "want a kernel whole f32 of rank 4"},
		{"r = conv(x, @k, @two)", "operand 2 is whole f32[2], want whole f32[6]"},
		{"r = conv(dy, @k)", "6 input and 6 output channels in 1 groups do not fit a kernel with 2 channels"},
		{"r = conv(x, @k, groups=0)", "attribute groups is 0"},
		{"r = conv(x, @k, stride=[0,1])", "attribute stride is [0 1]"},
		{"r = conv(x, @k, pad=[0,0])", "attribute pad has 2 elements, want 4"},
		{"r = conv(x, @k, dilation=[9,9])", "the result would be"},
		{"r = conv(x, @k, pad=[9999999999,0,0,0])", "want elements of 0 to"},
		{"r = conv_grad_input(dy, @k, size=[9,9])", "does not come from an input of size [9 9]"},
		{"r = conv_transpose(dy, @k, output_pad=[1,0])", "want less than stride or dilation"},
		{"r = dense(x, @w)", "operand 0 has shape [2 7 6], want one axis behind 0 leading ones"},
		{"r = dense(x, @w, leading=2)", "operand 1 is whole f32[5,8], want whole f32[outputs,6]"},
		{"r = dense(y, @w, leading=-1)", "want one axis behind -1 leading ones"},
		{"r = dense_grad_weight(x, dy, leading=2)", "want the same but for the last axis"},
		{"r = matmul(x, y)", "operand 1 is rows f32[8], want f32 of rows or of the whole with a matrix"},
		{"r = matmul(x, u)", "operand 1 is rows u8[7,6,3]"},
		{"r = matmul(q, x)", "operand 0 is replica f32[2,3]"},
		{"r = matmul(x, x)", "inner lengths differ: rows f32[2,7,6] times rows f32[2,7,6], read as 7 by 6 times 7 by 6"},
		{"r = matmul(x, dy, transpose_a=true)", "inner lengths differ"},
		{"s = concat(x, x, x)\nr = matmul(s, dy, transpose_a=true)", "inner lengths differ"},
		{"s = reshape(dy, shape=[3,10,5])\nr = matmul(dy, s, transpose_b=true)",
			"shapes [6] and [3] do not broadcast"},
		{"s = broadcast_to(y, shape=[1024,1073741824,8])\nr = matmul(s, s, transpose_b=true)", "is too large"},
		{"r = dense(y)", "has 1 operands, want 2 to 3"},
		{"r = dense(y, _, @c)", "operand 1 is absent but not optional"},
		{"r = normalise(x, p, @two, @two)", "an all_reduce is missing or one too many"},
		{`r = normalise(x, @m, @two, @two, over="replica")`, "an all_reduce is missing or one too many"},
		{`r = normalise(x, @m, @two, @two, over="all")`, `attribute over is "all", want one of`},
		{"r = normalise(x, @m, @two, @two, eps=0)", "attribute eps is 0"},
		{"a, b = normalise_grad_params(p, @m)", "want sums of the kind of the moments"},
		{"r = batch_norm(x, @two, @two, @two, @v, decay=1.5)", "attribute decay is 1.5"},
		{`r = batch_norm(x, @two, @two, @two, @v, variance="large")`, "attribute variance"},
		{"r = all_reduce(x)", "want replica f32 or f64"},
		{`r = all_reduce(q, of="moments")`, "want moments"},
		{"r = split(x, replicas=0)", "attribute replicas is 0"},
		{"r = split(x)", "attribute replicas is missing"},
		{"n = relu(@two)\ntrack(@m, n, @v)", "n is not a state tensor"},
		{"r = relu(p)", "operand 0 is replica f64[5], want f32"},
		{`r = activation_grad(x, x, of="exp")`, `"exp" is not an activation with a derivative`},
		{`r = activation_grad(x, y, of="relu")`, "operand 1 is rows f32[8], want rows f32[2,7,6]"},
		{`r = activation_grad(one, y, of="relu")`, "operand 1 is rows f32[8], want rows f32[]"},
		{"r = softmax(x, axis=3)", "with an axis 3"},
		{"r = max_pool(x, kernel=[2,2], pad=[2,0,0,0])", "without an element of the image"},
		{"r = add(x, y)", "do not broadcast"},
		{"r = add(x, p)", "want one type"},
		{"r = reduce_sum(x, axes=[2,0])", "want increasing axes"},
		{"r = reduce_sum(x, axes=[0,0])", "want increasing axes"},
		{"r = broadcast_to(x, shape=[7,6])", "does not broadcast to"},
		{"r = sum_rows(q)", "want rows"},
		{"r = concat(x, y)", "operand 1 is rows f32[8], operand 0 rows f32[2,7,6]"},
		{"r = concat(x, col, axis=1)", "they differ on axis 2"},
		{"r = slice(x, begin=[0,0,0], end=[2,7,7])", "slice [0, 7) of an axis of 6: want one element"},
		{"r = slice(x, begin=[0,0,0], end=[2,7,6], step=[1,1])", "attribute step"},
		{"r = reshape(x, shape=[5])", "does not hold the 84 elements"},
		{"r = reshape(x, shape=[4294967296,4294967296])", "is too large"},
		{"r = transpose(x, perm=[0,0,1])", "attribute perm"},
		{"r = upsample(x, size=[9,0])", "attribute size"},
		{"r = take(x, axis=1, index=[0,7])", "attribute index has 7, want 0 to 6: axis 1 of [2 7 6]"},
		{"r = take(x, axis=1, index=[-1])", "attribute index has -1"},
		{"r = take(x, axis=3, index=[0])", "attribute axis is 3 for rank 3"},
		{"r = take(x, index=[])", "attribute index is empty"},
		{"r = take_grad(x, axis=1, index=[0], size=[2,7,6])", "does not come from a take of shape [2 1 6]"},
		{`r = detect(slots, pair, @corners, form="boxes", most=9)`, `attribute form is "boxes", which is not the form of a`},
		{`r = detect(x, pair, form="corners", most=9)`, "operand 0 has shape [2 7 6], want rank 2"},
		{`r = detect(slots, pair, form="yolox", most=9)`, "want whole f32[3,4]"},
		{`r = detect(slots, pair, @corners, form="fcos", most=9)`, "attribute size is [], want height and width"},
		{`r = detect(slots, pair, form="corners", most=0)`, "attribute most is 0, want 1 to"},
		{`r = detect(slots, pair, form="corners", most=1, before=-1)`, "attribute before is -1, want 0 or more"},
		{`r = detect(slots, pair, form="corners", most=1, starts=[1])`, "attribute starts is [1], want increasing"},
		{`r = detect(slots, pair, form="corners", most=1, starts=[0,3])`, "numbers from 0 to 2"},
		{"r = dropout(x, p=1)", "attribute p is 1"},
		{"r = softmax_xent(x, u)", "operand 1 is rows u8[7,6,3], want rows i32[7,6]"},
		{"r = softmax_xent(x, l, smoothing=1)", "attribute smoothing is 1"},
		{"a, b = sgd(@two, @c, @v, @s)", "operand 1 is whole f32[6], want whole f32[2]"},
		{"a, b = sgd(@two, @two, @v, @two)", "operand 3 is whole f32[2], want whole f32[]"},
		{"r = sum_squares(x)", "want whole f32"},
		{"r = layer_norm(x, axes=[])", "attribute axes is empty, want those of shape [2 7 6]"},
		{"r = layer_norm(x, axes=[0,2])", "attribute axes is [0 2], want neighbouring axes"},
		{"r = layer_norm(x, axes=[2,1])", "attribute axes is [2 1], want neighbouring axes"},
		{"r = layer_norm(x, axes=[3])", "attribute axes is [3], want neighbouring axes of shape [2 7 6]"},
		{"r = layer_norm(one, axes=[0])", "attribute axes is [0]"},
		{"r = layer_norm(x, @c, axes=[0])", "operand 1 is whole f32[6], want whole f32[2]"},
		{"r = layer_norm(x, @two, @c, axes=[0])", "operand 2 is whole f32[6], want whole f32[2]"},
		{"r = layer_norm(x, axes=[0], eps=-1)", "attribute eps is -1, want 0 or more"},
		{"r = group_norm(dy, groups=2, eps=-1e-5)", "attribute eps is -1e-05, want 0 or more"},
		{"r = layer_norm(@c, axes=[0])", "operand 0 is whole f32[6], want rows f32"},
		{"r = layer_norm_grad(x, y, axes=[0])", "operand 1 is rows f32[8], want rows f32[2,7,6]"},
		{"r = group_norm(dy, groups=4)", "attribute groups is 4, want a divisor of the 6 channels"},
		{"r = group_norm(dy, groups=0)", "attribute groups is 0, want a divisor"},
		{"r = group_norm(dy, @two, groups=2)", "operand 1 is whole f32[2], want whole f32[6]"},
		{"r = group_norm(one, groups=1)", "has no channel axis"},
		{"r = group_norm_grad(x, dy, groups=1)", "operand 1 is rows f32[6,5,5], want rows f32[2,7,6]"},
		{"r = max(x)", "has 1 operands, want 2"},
		{"r = max(x, l)", "operand 1 is rows i32[7,6], want f32 or f64"},
		{`r = compare(x, y, of="above")`, `attribute of is "above", want one of`},
		{"r = compare(x, y)", "attribute of is missing"},
		{"r = where(x, p)", "operand 1 is replica f64[5], operand 0 rows f32[2,7,6]: want one type"},
		{"r = where(x, col, y)", "do not broadcast"},
		{"r = where(x, _, x)", "operand 1 is absent but not optional"},
		{`r = round(x, mode="away")`, `attribute mode is "away"`},
		{"r = quantize(u, scale=1)", "operand 0 is rows u8[7,6,3], want rows f32"},
		{"r = quantize(x, scale=0)", "attribute scale is 0, want a number of 2^-126 to"},
		{"r = quantize(x, scale=1e-40)", "attribute scale is 1e-40, want a number of 2^-126 to"},
		{"r = quantize(x, scale=1e39)", "attribute scale is 1e+39"},
		{"r = quantize(x, scale=-1)", "attribute scale is -1"},
		{"r = quantize(x, scale=1, zero=256)", "attribute zero is 256, want 0 to 255"},
		{"r = dequantize(x, scale=1)", "operand 0 is rows f32[2,7,6], want rows u8"},
		{"r = conv_int8(x, @k8, @b8, @c)", "operand 0 is rows f32[2,7,6], want rows u8 of rank 3"},
		{"r = conv_int8(u, @k, @b8, @c)", "operand 1 is whole f32[6,2,3,2], want whole i8[6,2,3,2]"},
		{"r = conv_int8(u, @k8, @c, @c)", "operand 2 is whole f32[6], want whole i32[6]"},
		{"r = conv_int8(u, @k8, @b8, @b8)", "operand 3 is whole i32[6], want whole f32[6]"},
		{"r = conv_int8(u, @k8, @b8, @c, groups=7)", "do not fit a kernel with 7 channels per group"},
		{"r = conv_int8(u, @k8, @b8, @c, min=9, max=8)", "attribute min is 9 and max 8"},
		{"r = conv_int8(u, @k8, @b8, @c, x_zero=-1)", "attribute x_zero is -1, want 0 to 255"},
		{"r = conv_int8(u, @k8, @b8, @c, float=true, zero=1)", "attribute float goes with none of"},
		{"s = reshape(u, shape=[126])\nr = dense_int8(s, @w8, @b8, @c)", "want whole i8[outputs,126]"},
		{"s = concat_int8(h)\nr = dense_int8(s, @k8, @b8, @c)", "operand 1 is whole i8[6,7,3,2]"},
		{"s = pad(y, before=[0], after=[32889])\nz = quantize(s, scale=1)\nr = dense_int8(z, @long, @b2, @two)",
			"a sum has 32897 products, want at most 32896: more could leave int32"},
		{"r = add_int8(u, gate, a_by=1, b_by=1)", "operand 1 is rows u8[7,1,1], want rows u8[7,6,3]"},
		{"r = add_int8(u, u, a_by=1, b_by=0)", "attribute b_by is 0"},
		{"r = mul_int8(gate, u, by=1)", "operand 1 is rows u8[7,6,3], want rows u8[7,1,1]"},
		{"r = avg_pool_int8(u, kernel=[2,2], by=1, pad=[2,0,0,0])", "without an element of the image"},
		{"r = max_pool_int8(h, kernel=[1,1])", "operand 0 is rows u8[3], want rows u8 of rank 3"},
		{"r = table_int8(u, @two)", "operand 1 is whole f32[2], want whole u8[256]"},
		{"r = pad_int8(x, before=[1,0,0], after=[0,2,0])", "operand 0 is rows f32[2,7,6], want rows u8"},
		{"r = pad_int8(u, before=[1,0,0], after=[0,2,0], zero=300)", "attribute zero is 300, want 0 to 255"},
		{"r = concat_int8(u, x)", "operand 1 is rows f32[2,7,6], operand 0 rows u8[7,6,3]"},
		{"r = reduce_max(x, axes=[])", "want increasing axes"},
		{"r = reduce_max(@s, axes=[0])", "want increasing axes"},
	} {
		_, err := inferLine(t, c.node)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.node, err, c.want)
		}
	}
}

// TestNumbers pins the numbers of operations and kinds, which are part of the protocol.
func TestNumbers(t *testing.T) {
	var got strings.Builder
	for _, op := range Ops() {
		fmt.Fprintf(&got, "%d %v\n", op, op)
	}
	for k := Whole; k <= Rows; k++ {
		fmt.Fprintf(&got, "kind %d %v\n", k, k)
	}
	want, err := os.ReadFile("testdata/numbers")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("numbers never change meaning: got\n%s\nwant\n%s", got.String(), want)
	}
}
