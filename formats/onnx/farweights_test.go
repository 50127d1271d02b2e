package onnx

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// farWeight is a weight of u8 with zero points, its outputs first.
type farWeight struct {
	dims         []int64
	values, zero []int32
}

func drawFar(r *rand.Rand, zero []int32, dims ...int64) farWeight {
	w := farWeight{dims: dims, zero: zero}
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	for range n {
		w.values = append(w.values, r.Int32N(256))
	}
	w.values[0], w.values[1] = 0, 255
	return w
}

// nodes returns the nodes of the weight, with a scale of 0.5, and of its zero points.
func (w farWeight) nodes() nodes {
	zeros := []int64{}
	if len(w.zero) > 1 {
		zeros = []int64{int64(len(w.zero))}
	}
	return nodes{wholes("w", u8, w.dims, w.values...), floats("ws", nil, 0.5), wholes("wz", u8, zeros, w.zero...)}
}

// at returns weight k of output o, minus its zero point.
func (w farWeight) at(o, k int) int {
	each := len(w.values) / int(w.dims[0])
	return int(w.values[o*each+k] - w.zero[min(o, len(w.zero)-1)])
}

// TestFarWeights: weights that differ from their zero points by more than 127 are
// multiplied in bytes. Each result is the same integer as a sum in 64 bits. Feature maps
// are in steps of 0.5 with a zero point of 3.
func TestFarWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) (x []float64, q []int) { // numbers, and their bytes minus the zero point
		for range n {
			v := r.IntN(256) - 3
			x, q = append(x, 0.5*float64(v)), append(q, v)
		}
		return x, q
	}
	for _, zero := range [][]int32{{0}, {1}, {2}, {100}, {255}, {0, 9, 254, 130}} {
		for _, groups := range []int{1, 2, 4} {
			const c, h, wd, out = 4, 3, 5, 4
			w := drawFar(r, zero, out, int64(c/groups), 3, 3)
			x, q := draw(c * h * wd)
			var want []float64
			for o := range out {
				for p := range h * wd {
					sum := 0
					for k := range c / groups * 9 {
						y, u := p/wd+k%9/3-1, p%wd+k%3-1
						if y >= 0 && y < h && u >= 0 && u < wd {
							sum += w.at(o, k) * q[(o/(out/groups)*(c/groups)+k/9)*h*wd+y*wd+u]
						}
					}
					want = append(want, 0.25*float64(sum))
				}
			}
			node := op("ConvInteger", "q w z wz", "i", intAttr("group", groups), list64("pads", 1, 1, 1, 1))
			m := modelOf(13, 0, []int64{c, h, wd}, nil, ofIntegers(u8, 3, 1, 0, append(w.nodes(), node,
				op("Cast", "i", "f", intAttr("to", 1)), floats("quarter", nil, 0.25), op("Mul", "f quarter", "y"))...)[:12]...)
			name := fmt.Sprintf("a convolution of %d groups, zero points %v", groups, zero)
			elements(t, name, m, x, want)
			checkBytes(t, name, m, graph.ConvInt8)
		}
		for _, terms := range []int{6, 16448} {
			w := drawFar(r, zero, 4, int64(terms))
			x, q := draw(terms)
			var want []float64
			for o := range 4 {
				sum := 0
				for k := range terms {
					sum += w.at(o, k) * q[k]
				}
				want = append(want, float64(float32(0.25)*float32(sum)))
			}
			list := append(w.nodes(), op("DequantizeLinear", "w ws wz", "wf", intAttr("axis", 0)),
				op("DequantizeLinear", "q s z", "a"), op("Gemm", "a wf", "y", intAttr("transB", 1)))
			m := modelOf(13, 0, []int64{int64(terms)}, nil, ofIntegers(u8, 3, 1, 0, list...)[:11]...)
			name := fmt.Sprintf("%d products, zero points %v", terms, zero)
			if terms == 16448 && slices.Contains(zero, 0) { // three terms are too many
				const reason = "a sum has more than 10965 products, with weights further than 127 from their zero points"
				if got := strings.Join(quantisedLayers(t, m), " "); !strings.Contains(got, reason) {
					t.Errorf("%s: layers are %s", name, got)
				}
				continue
			}
			elements(t, name, m, x, want)
			checkBytes(t, name, m, graph.DenseInt8)
		}
	}
}

// checkBytes reports an error if the model has a convolution or a dense layer of floats, or
// lacks the operation want.
func checkBytes(t *testing.T, name string, m *onnxpb.ModelProto, want graph.Op) {
	t.Helper()
	got := operations(t, m)
	if slices.Contains(got, "conv") || slices.Contains(got, "dense") || !slices.Contains(got, want.String()) {
		t.Errorf("%s: operations are %v", name, got)
	}
}

// TestFarWeightsBound: with one product more than the bound, the layer stays in floats, and
// the file has the reason.
func TestFarWeightsBound(t *testing.T) {
	for _, c := range []struct {
		terms int64
		want  string
	}{
		{16448, "y Gemm"},
		{16449, "y Gemm a sum has more than 16448 products, with weights further than 127 from their zero points"},
	} {
		w := drawFar(rand.New(rand.NewPCG(3, 4)), []int32{100}, 2, c.terms)
		list := append(w.nodes(), op("DequantizeLinear", "w ws wz", "wf", intAttr("axis", 0)),
			op("DequantizeLinear", "q s z", "a"), op("Gemm", "a wf", "y", intAttr("transB", 1)))
		m := modelOf(13, 0, []int64{c.terms}, nil, ofIntegers(u8, 3, 1, 0, list...)[:11]...)
		if got := quantisedLayers(t, m); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%d products: layers are %q, want %q", c.terms, got, c.want)
		}
	}
}

// TestWideIntegers: a layer with a feature map or a weight of 16 bits stays in floats, and the
// reason names the type.
func TestWideIntegers(t *testing.T) {
	const i16 = onnxpb.TensorProto_INT16
	for _, c := range []struct {
		name string
		m    *onnxpb.ModelProto
		want string
	}{
		{"a map of u16", modelOf(21, 0, []int64{3}, nil, ofIntegers(u16, 3, 1, 0, op("DequantizeLinear", "q s z", "a"),
			op("Sigmoid", "a", "f"), op("QuantizeLinear", "f ys yz", "r"))...), "f Sigmoid its input is quantised to u16, not to bytes"},
		{"a weight of i16", scaledConv(wholes("wz", i16, []int64{2}, 0, 0), wholes("w", i16, []int64{2, 1, 1, 2}, 1, 1, 3, 0)),
			"f Conv its weight is i16, not bytes"},
	} {
		if got := quantisedLayers(t, c.m); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: layers are %q, want %q", c.name, got, c.want)
		}
	}
}
