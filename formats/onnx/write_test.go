package onnx

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/encode"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// back writes a model and reads it again.
func back(t *testing.T, m *models.Model) *foreign.File {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m); err != nil {
		t.Fatal(err)
	}
	if !Sniff(b.Bytes()[:64]) {
		t.Error("what was written does not look like ONNX")
	}
	f, err := ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()), Options{})
	if err == nil {
		err = f.NoModel
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// textOf returns the text form of a graph without the initialisation of new tensors, which
// ONNX does not store.
func textOf(g *graph.Graph) string {
	c := *g
	c.State = slices.Clone(g.State)
	for i := range c.State {
		c.State[i].Init = graph.Init{}
	}
	slices.SortFunc(c.State, func(a, b graph.State) int { return strings.Compare(a.Name, b.Name) })
	return string(c.Text())
}

// firstDifference returns the first line that differs between two texts.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return g[i] + ", want" + w[i]
		}
	}
	return "another number of lines"
}

// TestZoo: a model of the zoo that is written and read again has the same graph and the
// same tensors.
func TestZoo(t *testing.T) {
	for _, c := range []struct {
		name string
		size models.Size
	}{
		{"mlp-bn", models.Size{}}, {"lenet-bn", models.Size{}}, {"resnet20", models.Size{}},
		{"mobilenetv2", models.Size{Height: 64, Width: 64, Channels: 3}},
	} {
		m, err := models.Build(c.name, models.Options{Input: c.size})
		if err != nil {
			t.Fatal(err)
		}
		if err := models.Init(m, 7); err != nil {
			t.Fatal(err)
		}
		got := back(t, m).Model
		if g, w := textOf(got.Graph), textOf(m.Graph); g != w {
			t.Errorf("%s: the graph comes back with %s", c.name, firstDifference(g, w))
		}
		for name, want := range m.State {
			if !tensor.Equal(got.State[name], want) {
				t.Errorf("%s: tensor %s does not come back", c.name, name)
			}
		}
	}
}

// everyOp uses every operation that can be written.
const everyOp = `bnctl graph 1
graph "every"
state k f32[6,2,3,3] weight
state kb f32[6] bias
state t f32[6,4,2,2] weight
state g f32[4] gamma
state b f32[4] beta
state mean f32[4] mean
state var f32[4] variance
state slope f32[4] weight
state per f32[4,1,1] constant
state s f32[] constant
state w f32[5,36] weight
state wb f32[5] bias
state lw f32[5] gamma
state lb f32[5] beta
state left f32[22,3] weight
state wt f32[4,5] weight
state heads f32[2,36,3] weight
func main(x rows f32[4,9,9]) {
  a = conv(x, @k, @kb, stride=[2,1], pad=[1,0,2,1], dilation=[1,2], groups=2)
  up = conv_transpose(a, @t, stride=[2,2], pad=[0,1,0,1], output_pad=[1,0])
  n = batch_norm(up, @g, @b, @mean, @var, eps=0.003, decay=0.8)
  p = prelu(n, @slope)
  mx = max_pool(p, kernel=[3,2], stride=[2,2], pad=[1,0,1,0])
  av = avg_pool(mx, kernel=[2,2], pad=[1,1,0,0])
  ac = avg_pool(av, kernel=[2,2], pad=[1,1,0,0], count_pad=true)
  r1 = leaky_relu(ac, alpha=0.2)
  r2 = elu(r1, alpha=0.7)
  r3 = sigmoid(r2)
  r4 = affine(r3, by=6, add=-3)
  r5 = hard_sigmoid(r4)
  r6 = hard_swish(r4)
  r7 = silu(r4)
  r8 = tanh(r7)
  r9 = softplus(r8)
  e1 = erf(r9)
  e2 = gelu(e1)
  e3 = gelu_tanh(e2, halve_last=true)
  e4 = mish(e3)
  lg = log(e4)
  sq = sqrt(r9)
  ex = exp(lg)
  cl = clip(ex, min=0.1, max=0.9)
  r0 = relu6(r6)
  r10 = relu(r5)
  m1 = mul(cl, @per)
  m2 = add(m1, sq)
  m3 = sub(m2, r0)
  m4 = div(m3, @s)
  m5 = add(m4, r10)
  af = affine(m5, add=0.25)
  ga = group_norm(af, @g, @b, groups=2, eps=0.01)
  gi = group_norm(ga, @g, @b, groups=4)
  la = layer_norm(gi, @slope, axes=[0])
  an = affine(la, by=-2)
  gp = global_avg_pool(an)
  se = mul(an, gp)
  rs = reduce_mean(se, axes=[1,2], keep=true)
  sv = reduce_sum(se, axes=[0])
  bc = broadcast_to(rs, shape=[4,6,9])
  cs = slice(bc, begin=[0,0,0], end=[4,6,9], step=[1,2,2])
  pd = pad(cs, before=[0,1,0], after=[0,0,1], value=0.5)
  tr = transpose(pd, perm=[0,2,1])
  un = upsample(tr, size=[12,8])
  ub = upsample(un, size=[7,5], mode="bilinear")
  ua = upsample(ub, size=[9,11], mode="bilinear", align_corners=true)
  tk = take(ua, axis=1, index=[8,7,6,5,4,3,2,1,1])
  cc = concat(ua, tk, axis=0)
  ro = reshape(cc, shape=[22,36])
  ma = matmul(ro, ro, transpose_b=true)
  mb = affine(ma, by=0.01)
  mc = matmul(mb, ro)
  md = dense(mc, @w, @wb, leading=1)
  me = dense(md, @wt, leading=1)
  mf = matmul(@left, me, transpose_a=true)
  mg = matmul(ro, @heads)
  sm = softmax(ro, axis=1)
  ls = log_softmax(sm, axis=0)
  su = reduce_sum(ls, axes=[0])
  dr = dropout(su, p=0.25)
  fc = dense(dr, @w, @wb)
  sl = slice(sv, begin=[0,0], end=[1,5])
  sf = reshape(sl, shape=[5])
  lo = add(fc, sf)
  x1 = max(lo, sf)
  x2 = min(x1, fc)
  x3 = compare(x2, sf, of="not_equal")
  x4 = where(x3, x2, fc)
  x5 = where(x4, lo)
  x6 = compare(x5, of="greater")
  x7 = affine(x6, add=1)
  x8 = pow(x7, x2)
  x9 = round(x8)
  rm = reduce_max(sl, axes=[0])
  rn = reduce_min(sl, axes=[1], keep=true)
  rp = reduce_prod(sl, axes=[0,1], keep=true)
  el = add(x9, rm)
  re = add(rn, rp)
  ln = layer_norm(lo, @lw, @lb, axes=[0], eps=0.01)
  qu = quantize(lo, scale=0.5, zero=100)
  dq = dequantize(qu, scale=0.5, zero=100)
  return logits rows = ln
  return steps rows = dq
  return pixels rows = cc
  return elements rows = el
  return extremes rows = re
  return tokens rows = mf
  return parts rows = mg
}
`

// fromText makes a model of a graph in text form. The elements of its state are
// pseudo-random.
func fromText(t *testing.T, source string) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: g.Name, Graph: g, State: map[string]tensor.Tensor{}}
	for k, s := range g.State {
		x := tensor.New(s.DType, s.Shape...)
		for i := range x.F32() {
			x.F32()[i] = float32((i*7919+k*104729)%1000)/1000 - 0.3
			if s.Role == graph.Variance || s.Role == graph.Constant {
				x.F32()[i] += 0.5
			}
		}
		m.State[s.Name] = x
	}
	return m
}

// ramp returns an input of n rows for a model.
func ramp(m *models.Model, n int) tensor.Tensor {
	in := m.Input()
	x := tensor.New(in.DType, append([]int{n}, in.Shape...)...)
	if in.DType == tensor.U8 {
		for i := range x.U8() {
			x.U8()[i] = byte(i * 31)
		}
		return x
	}
	for i := range x.F32() {
		x.F32()[i] = float32(-1 + 2*float64(uint32(i)*2654435761)/(1<<32))
	}
	return x
}

// TestEveryOperation: a model that is written and read again computes the same.
func TestEveryOperation(t *testing.T) {
	m := fromText(t, everyOp)
	got := back(t, m).Model
	x := ramp(m, 3)
	want, err := eval(m, x)
	if err != nil {
		t.Fatal(err)
	}
	have, err := eval(got, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range m.Graph.Main.Outputs {
		if got.Graph.Main.Outputs[i].Name != o.Name {
			t.Errorf("output %d is called %s, want %s", i, got.Graph.Main.Outputs[i].Name, o.Name)
		}
		for k, v := range want[i].F64() {
			if d := v - have[i].F64()[k]; !(d < 1e-6 && d > -1e-6) {
				t.Fatalf("output %s differs at %d: %g, want %g", o.Name, k, have[i].F64()[k], v)
			}
		}
	}
	used := map[graph.Op]bool{}
	for i := range m.Graph.Main.Nodes {
		used[m.Graph.Main.Nodes[i].Op] = true
	}
	for _, op := range encode.Operations() {
		if !used[op] && op != graph.Image && !op.Int8() { // for bytes see TestEveryOperationOfBytes
			t.Errorf("the model does not use %v", op)
		}
	}
}

// TestImage: an image with reversed channels comes back as the same operation, with exactly
// the same constants.
func TestImage(t *testing.T) {
	m := fromText(t, `bnctl graph 1
graph "image"
func main(x rows u8[3,5,3]) {
  y = image(x, scale=0.0039, mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225], bgr=true)
  return pixels rows = y
}
`)
	if g, w := textOf(back(t, m).Model.Graph), textOf(m.Graph); g != w {
		t.Errorf("the graph comes back with %s", firstDifference(g, w))
	}
}

func TestNotWritten(t *testing.T) {
	for _, c := range []struct{ node, want string }{
		{`y = split(x, replicas=2)`, "split has no counterpart"},
		{`y = upsample(x, size=[5,4])`, "no whole factor"},
	} {
		m := fromText(t, "bnctl graph 1\ngraph \"g\"\nfunc main(x rows f32[3,4,4]) {\n  "+c.node+"\n  return "+
			"y rows = y\n}\n")
		if err := Write(&bytes.Buffer{}, m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", c.node, err, c.want)
		}
	}
}

// TestOpset: the oldest operator set gives the same graph, and unsupported ones are
// refused.
func TestOpset(t *testing.T) {
	m := fromText(t, everyOp)
	var b bytes.Buffer
	if err := WriteOpset(&b, m, OldestOpset); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()), Options{})
	if err != nil || f.NoModel != nil {
		t.Fatal(err, f.NoModel)
	}
	if g, w := textOf(f.Model.Graph), textOf(back(t, m).Model.Graph); g != w {
		t.Errorf("operator set %d comes back with %s", OldestOpset, firstDifference(g, w))
	}
	for _, opset := range []int{OldestOpset - 1, DefaultOpset + 1} {
		if err := WriteOpset(&b, m, opset); err == nil || !strings.Contains(err.Error(), "can be written") {
			t.Errorf("operator set %d: got error %v", opset, err)
		}
	}
}
