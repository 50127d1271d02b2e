package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// int8Case is an operation on bytes and the float32 operation that it rounds. x and z are rows that
// are whole numbers of steps, w and bias the weights of a product. Both functions return numbers.
type int8Case struct {
	name  string
	x, z  []int // z may be nil
	w     []int // nil: no weights
	bytes func(b *builder, v map[string]value) value
	float func(b *builder, v map[string]value) value
}

// The scales of the test are powers of two, so that numbers of steps are exact.
const (
	xScale, zScale, yScale = 0.25, 0.5, 2.0
	xZero, zZero, yZero    = 100, 90, 120
)

// byteRows returns rows as bytes.
func byteRows(b *builder, x value, scale float64, zero int) value {
	return b.Op(graph.Quantize, b.UniqueName("q"), []value{x}, "scale", scale, "zero", zero)
}

func numbersOf(b *builder, q value, scale float64, zero int) value {
	return b.Op(graph.Dequantize, b.UniqueName("n"), []value{q}, "scale", scale, "zero", zero)
}

// boundedFloat clips y to the numbers that the bytes least and most represent.
func boundedFloat(b *builder, y value, least, most int) value {
	number := func(q int) float64 { return yScale * float64(q-yZero) }
	return b.Op(graph.Clip, "y", []value{y}, "min", number(least), "max", number(most))
}

// productInt8 returns a case of a product with these attributes.
func productInt8(name string, op, float graph.Op, x, w []int, pairs ...any) int8Case {
	make8 := func(b *builder, v map[string]value, scale float64, more ...any) value {
		q := b.Node(graph.QuantizeWeight, "bytes", graph.Attrs{}.With("x_scale", xScale).With("scale", scale),
			v["w"], v["bias"])
		in := []value{byteRows(b, v["x"], xScale, xZero), q[0], q[1], q[2]}
		return b.Op(op, "p", in, append(slices.Concat(pairs, []any{"x_zero", xZero}), more...)...)
	}
	c := int8Case{name: name, x: x, w: w}
	floats := func(b *builder, v map[string]value) value {
		return b.Op(float, "p", []value{v["x"], v["w"], v["bias"]}, pairs...)
	}
	if strings.HasSuffix(name, "float") {
		c.bytes = func(b *builder, v map[string]value) value { return make8(b, v, 1, "float", true) }
		c.float = floats
		return c
	}
	c.bytes = func(b *builder, v map[string]value) value {
		return numbersOf(b, make8(b, v, yScale, "zero", yZero, "min", 20, "max", 210), yScale, yZero)
	}
	c.float = func(b *builder, v map[string]value) value { return boundedFloat(b, floats(b, v), 20, 210) }
	return c
}

var int8Cases = []int8Case{
	productInt8("conv", graph.ConvInt8, graph.Conv, []int{3, 5, 4}, []int{4, 3, 3, 2}, "stride", []int{2, 1},
		"pad", []int{1, 0, 1, 2}),
	productInt8("conv groups", graph.ConvInt8, graph.Conv, []int{4, 4, 5}, []int{6, 2, 2, 2}, "groups", 2,
		"dilation", []int{1, 2}),
	productInt8("depthwise", graph.ConvInt8, graph.Conv, []int{5, 4, 5}, []int{5, 1, 3, 3}, "groups", 5, "pad",
		[]int{1, 1, 1, 1}),
	productInt8("conv float", graph.ConvInt8, graph.Conv, []int{3, 4, 4}, []int{2, 3, 3, 3}),
	productInt8("dense", graph.DenseInt8, graph.Dense, []int{19}, []int{7, 19}),
	productInt8("dense float", graph.DenseInt8, graph.Dense, []int{19}, []int{7, 19}),
	{"add", []int{3, 4, 5}, []int{3, 4, 5}, nil,
		func(b *builder, v map[string]value) value {
			x, z := byteRows(b, v["x"], xScale, xZero), byteRows(b, v["z"], zScale, zZero)
			y := b.Op(graph.AddInt8, "p", []value{x, z},
				"a_by", xScale/yScale, "b_by", zScale/yScale, "a_zero", xZero, "b_zero", zZero, "zero", yZero, "min", 98,
				"max", 142)
			return numbersOf(b, y, yScale, yZero)
		},
		func(b *builder, v map[string]value) value {
			return boundedFloat(b, b.Op(graph.Add, "p", []value{v["x"], v["z"]}), 98, 142)
		}},
	mulInt8("mul", []int{3, 4, 5}), mulInt8("gate", []int{3, 1, 1}),
	poolInt8("avg_pool", graph.AvgPoolInt8, graph.AvgPool, false),
	poolInt8("avg_pool count_pad", graph.AvgPoolInt8, graph.AvgPool, true),
	poolInt8("max_pool", graph.MaxPoolInt8, graph.MaxPool, false),
	{"table", []int{3, 4, 5}, nil, nil,
		func(b *builder, v map[string]value) value {
			x := byteRows(b, v["x"], xScale, xZero)
			return numbersOf(b, b.Op(graph.TableInt8, "p", []value{x, v["table"]}), yScale, yZero)
		},
		func(b *builder, v map[string]value) value {
			return b.Op(graph.Affine, "p", []value{v["x"]}, "by", -yScale/xScale)
		}},
	{"concat pad slice", []int{3, 4, 5}, []int{2, 4, 5}, nil,
		func(b *builder, v map[string]value) value {
			x, z := byteRows(b, v["x"], xScale, xZero), byteRows(b, v["z"], xScale, xZero)
			y := b.Op(graph.ConcatInt8, "c", []value{x, z, x})
			y = b.Op(graph.PadInt8, "p", []value{y}, "before", []int{0, 1, 0}, "after", []int{1, 0, 2}, "zero", xZero)
			return numbersOf(b, cut(b, y, []int{1, 0, 0}, []int{9, 5, 6}), xScale, xZero)
		},
		func(b *builder, v map[string]value) value {
			y := b.Op(graph.Concat, "c", []value{v["x"], v["z"], v["x"]})
			y = b.Op(graph.Pad, "p", []value{y}, "before", []int{0, 1, 0}, "after", []int{1, 0, 2})
			return cut(b, y, []int{1, 0, 0}, []int{9, 5, 6})
		}},
}

func mulInt8(name string, z []int) int8Case {
	return int8Case{name, []int{3, 4, 5}, z, nil,
		func(b *builder, v map[string]value) value {
			x, z := byteRows(b, v["x"], xScale, xZero), byteRows(b, v["z"], zScale, zZero)
			y := b.Op(graph.MulInt8, "p", []value{x, z},
				"by", xScale*zScale/yScale, "a_zero", xZero, "b_zero", zZero, "zero", yZero, "min", 30, "max", 200)
			return numbersOf(b, y, yScale, yZero)
		},
		func(b *builder, v map[string]value) value {
			return boundedFloat(b, b.Op(graph.Mul, "p", []value{v["x"], v["z"]}), 30, 200)
		}}
}

func poolInt8(name string, op, float graph.Op, countPad bool) int8Case {
	pairs := []any{"kernel", []int{3, 2}, "stride", []int{2, 1}, "pad", []int{1, 0, 1, 1}}
	more := []any{"by", xScale / yScale, "x_zero", xZero, "zero", yZero}
	scale, zero := yScale, yZero
	if op == graph.MaxPoolInt8 {
		more, scale, zero = nil, xScale, xZero
	} else if countPad {
		pairs = append(pairs, "count_pad", true)
	}
	return int8Case{name, []int{2, 5, 4}, nil, nil,
		func(b *builder, v map[string]value) value {
			y := b.Op(op, "p", []value{byteRows(b, v["x"], xScale, xZero)}, slices.Concat(pairs, more)...)
			return numbersOf(b, y, scale, zero)
		},
		func(b *builder, v map[string]value) value { return b.Op(float, "p", []value{v["x"]}, pairs...) }}
}

// TestGradientsPassRounding: the gradient of an operation on bytes is the gradient of the float32
// operation with bounds, at numbers that bytes represent. Numbers within a step of a bound, where
// rounding decides, are avoided.
func TestGradientsPassRounding(t *testing.T) {
	for _, c := range int8Cases {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(2000) {
				bytes, float := newStraight(t, c, c.bytes, seed), newStraight(t, c, c.float, seed)
				got, want := bytes.run(t), float.run(t)
				if !awayFromBounds(want[0], got[0]) {
					continue
				}
				for i := range want[1:] {
					got, want := got[i+1], want[i+1]
					compareStraight(t, bytes.names[i], total(got, bytes.sizes[i]), total(want, bytes.sizes[i]))
				}
				return
			}
			t.Error("all draws have numbers near a bound")
		})
	}
}

// awayFromBounds reports whether both results are the same numbers, rounded by at most half a step.
func awayFromBounds(float, bytes []float64) bool {
	low, high := slices.Min(float), slices.Max(float)
	for i, v := range float {
		off := math.Abs(v - bytes[i])
		if off > yScale/2 || v != low && v-low < yScale && off != 0 || v != high && high-v < yScale && off != 0 {
			return false
		}
	}
	return true
}

// straight is a function with its gradients, and its operands.
type straight struct {
	f      *graph.Function
	state  map[string]tensor.Tensor
	inputs []tensor.Tensor
	names  []string
	sizes  []int
}

func newStraight(t *testing.T, c int8Case, build func(*builder, map[string]value) value,
	seed uint64) *straight {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 8))
	steps := func(shape []int, scale float64, n int) tensor.Tensor {
		x := tensor.New(tensor.F64, shape...)
		for i := range x.F64() {
			x.F64()[i] = scale * float64(r.IntN(2*n+1)-n)
		}
		return x
	}
	s := &straight{state: map[string]tensor.Tensor{}}
	var table []graph.State
	b := graph.NewBuilder("main", &table)
	v := map[string]value{"x": rows(b, "x", c.x...)}
	s.inputs = append(s.inputs, steps(append([]int{testRows}, c.x...), xScale, 80))
	if c.z != nil {
		v["z"] = rows(b, "z", c.z...)
		scale := zScale
		if strings.HasPrefix(c.name, "concat") {
			scale = xScale
		}
		s.inputs = append(s.inputs, steps(append([]int{testRows}, c.z...), scale, 70))
	}
	wrt := []value{v["x"]}
	if c.z != nil {
		wrt = append(wrt, v["z"])
	}
	if c.w != nil {
		v["w"], v["bias"] = state(b, "w", graph.Weight, c.w...), state(b, "bias", graph.Bias, c.w[0])
		const step = 1.0 / 64
		w := steps(c.w, step, 126)
		for o := range c.w[0] {
			w.F64()[o*w.Count()/c.w[0]] = 127 * step // so that a step is 1/64
		}
		s.state["w"], s.state["bias"] = w, steps(c.w[:1], step*xScale, 3000)
		wrt = append(wrt, v["w"], v["bias"])
	}
	if c.name == "table" {
		v["table"] = b.Declare(graph.State{Name: "table", DType: tensor.U8, Shape: []int{256}, Role: graph.Constant})
		s.state["table"] = tensor.New(tensor.U8, 256)
		for i := range s.state["table"].Bytes { // 220 - i, so that x becomes -x
			s.state["table"].Bytes[i] = byte(min(max(yZero+xZero-i, 0), 255))
		}
	}
	y := build(b, v)
	b.Output("y", y, false)
	seedValue := b.Input("seed", b.Type(y))
	grads, err := graph.Gradient(b, map[value]value{y: seedValue}, wrt)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range wrt {
		b.Output(fmt.Sprint("d", g), grads[g], false)
	}
	s.f = must(b.Function())(t)
	if err := s.f.Check(table); err != nil {
		t.Fatal(err)
	}
	for _, g := range wrt {
		name, size := s.f.Values[g].Name, tensor.Count(s.f.Values[g].Type.Shape)
		if s.f.Values[g].State == "" {
			size *= testRows
		}
		s.names, s.sizes = append(s.names, name), append(s.sizes, size)
	}
	s.inputs = append(s.inputs, random(rand.New(rand.NewPCG(seed, 9)), s.f.Values[seedValue].Type))
	return s
}

func (s *straight) run(t *testing.T) (outputs [][]float64) {
	t.Helper()
	for _, x := range must(ref.Eval64(s.f, s.state, s.inputs, rowsOfReplicas))(t) {
		outputs = append(outputs, x.F64())
	}
	return outputs
}

func compareStraight(t *testing.T, name string, got, want []float64) {
	t.Helper()
	largest := 0.0
	for i := range want {
		largest = max(largest, math.Abs(want[i]))
	}
	for i := range want {
		if largest == 0 || !(math.Abs(got[i]-want[i]) <= 1e-5*largest) {
			t.Fatalf("%s[%d]: got %g, want %g; the largest of %d is %g", name, i, got[i], want[i], len(want), largest)
		}
	}
}

// Weights that are state have no gradient, and the error names the node.
func TestBytesHaveNoGradient(t *testing.T) {
	var table []graph.State
	b := graph.NewBuilder("main", &table)
	declare := func(name string, d tensor.DType, shape ...int) value {
		return b.Declare(graph.State{Name: name, DType: d, Shape: shape, Role: graph.Weight})
	}
	x := rows(b, "x", 3)
	y := b.Op(graph.DenseInt8, "fc", []value{byteRows(b, x, 1, 0), declare("w", tensor.I8, 2, 3),
		declare("b", tensor.I32, 2), declare("by", tensor.F32, 2)}, "float", true)
	seed := b.Input("seed", b.Type(y))
	_, err := graph.Gradient(b, map[value]value{y: seed}, []value{x})
	if err == nil || !strings.Contains(err.Error(), "fc") || !strings.Contains(err.Error(), "weight is bytes") {
		t.Errorf("got %v", err)
	}
}
