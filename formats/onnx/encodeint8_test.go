package onnx

import (
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/encode"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// everyByteOp has the operations of bytes, with bounds and zero points of every kind.
const everyByteOp = `bnctl graph 1
graph "bytes"
state w i8[2,2,3,3] weight
state b i32[2] bias
state by f32[2] constant
state v i8[3,2] weight
state c i32[3] bias
state cy f32[3] constant
state t u8[256] constant
func main(x rows f32[2,4,4]) {
  q = quantize(x, scale=0.0078125, zero=120)
  p = pad_int8(q, before=[0,1,0], after=[0,1,0], zero=120)
  s = slice(p, begin=[0,1,0], end=[2,5,4])
  k = conv_int8(s, @w, @b, @by, pad=[1,1,1,1], x_zero=120, zero=90, min=90, max=200)
  r = conv_int8(q, @w, @b, @by, pad=[1,1,1,1], x_zero=120, zero=90, min=90)
  a = add_int8(k, r, a_zero=90, b_zero=90, a_by=0.5, b_by=0.75, zero=100)
  m = max_pool_int8(a, kernel=[2,2], stride=[2,2])
  l = table_int8(m, @t)
  n = concat_int8(m, l, axis=1)
  g = avg_pool_int8(n, kernel=[1,2], stride=[1,2], by=1.5, x_zero=100, zero=100)
  j = add_int8(k, r, a_zero=90, b_zero=90, a_by=0.5, b_by=0.25, zero=101, joint="i8")
  o = add_int8(j, r, a_zero=90, b_zero=90, a_by=0.5, b_by=0.25, zero=101, joint="u8")
  of = dequantize(o, scale=0.5, zero=101)
  h = avg_pool_int8(a, kernel=[4,4], stride=[4,4], by=1.25, x_zero=100, zero=100)
  u = mul_int8(a, h, a_zero=100, b_zero=100, by=0.01, zero=30)
  d = reshape(h, shape=[2])
  y = dense_int8(d, @v, @c, @cy, x_zero=100, float=true)
  gf = dequantize(g, scale=0.5, zero=100)
  uf = dequantize(u, scale=0.25, zero=30)
  return logits rows = y
  return pooled rows = gf
  return product rows = uf
  return sum rows = of
}
`

// TestEveryOperationOfBytes: an int8 template that is written and read again computes the
// same, to within one step.
func TestEveryOperationOfBytes(t *testing.T) {
	g, err := graph.ParseGraph([]byte(everyByteOp))
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "bytes", Graph: g, State: map[string]tensor.Tensor{}}
	for _, s := range g.State {
		v := tensor.New(s.DType, s.Shape...)
		for i := range v.Count() {
			switch s.DType {
			case tensor.I8, tensor.U8:
				v.Bytes[i] = byte(i * 37)
			case tensor.I32:
				v.I32()[i] = int32(100 * i)
			default:
				v.F32()[i] = 0.01 + 0.005*float32(i)
			}
		}
		m.State[s.Name] = v
	}
	used := map[graph.Op]bool{}
	for i := range g.Main.Nodes {
		used[g.Main.Nodes[i].Op] = true
	}
	for _, op := range encode.Operations() {
		if op.Int8() && !used[op] {
			t.Errorf("the model does not use %v", op)
		}
	}
	x := ramp(m, 3)
	want, err := eval(m, x)
	if err != nil {
		t.Fatal(err)
	}
	have, err := eval(back(t, m).Model, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, most := range []float64{1e-4, 0.5, 0.25, 0} {
		for k, v := range want[i].F64() {
			if d := v - have[i].F64()[k]; !(d <= most && d >= -most) {
				t.Errorf("output %d differs at %d: %g, want %g", i, k, have[i].F64()[k], v)
			}
		}
	}
}
