package main

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// filler sets the elements of a tensor.
type filler func(d *tensor.Draws, t tensor.Tensor)

// operand describes an operand of a case: its type, and how it is filled. The zero operand stands for an
// operand that is absent.
type operand struct {
	typ  graph.Type
	fill filler
}

func of(k graph.Kind, shape []int) operand {
	return operand{graph.Type{Kind: k, DType: tensor.F32, Shape: shape}, normal}
}

func rows(shape ...int) operand    { return of(graph.Rows, shape) }
func replica(shape ...int) operand { return of(graph.Replica, shape) }
func whole(shape ...int) operand   { return of(graph.Whole, shape) }

// scalar returns an operand that is a single number, and an input of the function.
func scalar(v float64) operand { return whole().with(listed(v)) }

func (o operand) f64() operand { o.typ.DType = tensor.F64; return o }

func (o operand) of(d tensor.DType) operand { o.typ.DType = d; return o }

func (o operand) with(f filler) operand { o.fill = f; return o }

// isState reports whether the operand is a state tensor of the program. Weights are state; single numbers and
// tensors of f64 are inputs.
func (o operand) isState() bool {
	return o.typ.Kind == graph.Whole && o.typ.DType != tensor.F64 && len(o.typ.Shape) > 0
}

// set sets element i of a tensor of floats to f(i), for every i.
func set(t tensor.Tensor, f func(i int) float64) {
	for i := range t.Count() {
		if t.DType == tensor.F64 {
			t.F64()[i] = f(i)
		} else {
			t.F32()[i] = float32(f(i))
		}
	}
}

func normal(d *tensor.Draws, t tensor.Tensor) { set(t, func(int) float64 { return d.Normal() }) }

// positive fills t with numbers of at least 0.1.
func positive(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return 0.1 + math.Abs(d.Normal()) })
}

// spread fills t with normal numbers times powers of 2 from 2^-20 to 2^6.
func spread(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return math.Ldexp(d.Normal(), d.Intn(27)-20) })
}

// edges are zeros of either sign, subnormal numbers, neighbours of 1, and powers of 2.
var edges = []float64{0, math.Copysign(0, -1), 0x1p-149, -0x1p-149, 0x1.8p-127, -0x1.fp-130, 0x1p-126, 1, -1,
	1 + 0x1p-23, -1 - 0x1p-23, 1 - 0x1p-24, 0x1p20, -0x1p-30, 0x1p24, 0.1}

// awkward fills half of t with edges, and half with normal numbers.
func awkward(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 {
		if d.Intn(2) == 0 {
			return edges[d.Intn(len(edges))]
		}
		return d.Normal()
	})
}

// special fills t with normal numbers, and a few NaN, infinities, zeros and largest numbers.
func special(d *tensor.Draws, t tensor.Tensor) {
	normal(d, t)
	values := []float64{math.Inf(1), math.NaN(), math.Copysign(0, -1), math.Inf(-1), math.MaxFloat32, 0,
		-math.MaxFloat32}
	first, n := d.Intn(len(values)), min(t.Count()/20+1, len(values))
	for i := range n {
		at, v := d.Intn(t.Count()), values[(first+i)%len(values)]
		if t.DType == tensor.F64 {
			t.F64()[at] = v
		} else {
			t.F32()[at] = float32(v)
		}
	}
}

// lonely fills t with normal numbers and one infinity.
func lonely(d *tensor.Draws, t tensor.Tensor) {
	at := d.Intn(t.Count())
	set(t, func(i int) float64 {
		if i == at {
			return math.Inf(1)
		}
		return d.Normal()
	})
}

// every fills t with edges, special values, points where functions have branches, and then values of all
// sizes.
func every(d *tensor.Draws, t tensor.Tensor) {
	points := append([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, -math.MaxFloat32, 0.5,
		0.55,
		1. / 3, 2, 3, -3, 4, 6, -6, 16, 20, 87.33, -87.33, 88.72, 89, -89, 104, -104, 2.5, -0.5, 1.5, -1.5},
		edges...)
	set(t, func(i int) float64 {
		if i < len(points) {
			return points[i]
		}
		return math.Ldexp(d.Normal(), d.Intn(40)-30)
	})
}

// few fills t with five different values, so that there are ties.
func few(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return float64(d.Intn(5) - 2) })
}

// listed returns a filler that repeats values.
func listed(values ...float64) filler {
	return func(_ *tensor.Draws, t tensor.Tensor) {
		set(t, func(i int) float64 { return values[i%len(values)] })
	}
}

// bytes fills t with all values of a byte.
func bytes(d *tensor.Draws, t tensor.Tensor) {
	for i := range t.U8() {
		t.U8()[i] = uint8(d.Uint32())
	}
}

// classes returns a filler with labels below n. One label in four has the value ignore.
func classes(n, ignore int) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		for i := range t.I32() {
			if t.I32()[i] = int32(d.Intn(n)); d.Intn(4) == 0 {
				t.I32()[i] = int32(ignore)
			}
		}
	}
}

// idents fills t with identifiers of rows: epoch 3, and sample numbers that are far apart.
func idents(_ *tensor.Draws, t tensor.Tensor) {
	for i := range t.Count() / 2 {
		t.I64()[2*i], t.I64()[2*i+1] = 3, int64(i)*(1<<33)+int64(i)
	}
}

// momentsOf returns a filler with the moments of n values per channel, with a mean of about 0 and a variance
// of 1 to 3. If n is negative, the statistics are constants.
func momentsOf(n float64) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		width := t.Shape[len(t.Shape)-1]
		set(t, func(i int) float64 {
			switch k := i % width; {
			case k == 0:
				return n
			case k <= width/2:
				return d.Normal()
			}
			return d.Between(1, 3) * math.Abs(n)
		})
	}
}
