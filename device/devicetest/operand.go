package devicetest

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// filler sets the elements of a tensor. If the operand is of kind rows or replica, the first axis of the
// tensor is the axis of rows or replicas.
type filler func(d *tensor.Draws, t tensor.Tensor)

// operand describes one operand of a probe. The zero operand is absent.
type operand struct {
	typ  graph.Type
	fill filler
}

func rows(shape ...int) operand {
	return operand{graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: shape}, normal}
}

func replica(shape ...int) operand {
	return operand{graph.Type{Kind: graph.Replica, DType: tensor.F32, Shape: shape}, normal}
}

func whole(shape ...int) operand {
	return operand{graph.Type{Kind: graph.Whole, DType: tensor.F32, Shape: shape}, normal}
}

// withType returns the operand with another type of elements.
func (o operand) withType(d tensor.DType) operand {
	o.typ.DType = d
	return o
}

// filledBy returns the operand with other elements.
func (o operand) filledBy(f filler) operand {
	o.fill = f
	return o
}

// set sets every element of a float tensor.
func set(t tensor.Tensor, f func(i int) float64) {
	if t.DType == tensor.F64 {
		for i, v := 0, t.F64(); i < len(v); i++ {
			v[i] = f(i)
		}
		return
	}
	for i, v := 0, t.F32(); i < len(v); i++ {
		v[i] = float32(f(i))
	}
}

func normal(d *tensor.Draws, t tensor.Tensor) { set(t, func(int) float64 { return d.Normal() }) }

// positive fills t with numbers of at least 0.1.
func positive(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return 0.1 + math.Abs(d.Normal()) })
}

// spread fills t with normal numbers times a power of 10 from -6 to 2.
func spread(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return d.Normal() * math.Pow(10, d.Between(-6, 2)) })
}

// masked fills t with values of the normal distribution. One in three is so low that its exponential is
// subnormal or nearly so, as in attention masks.
func masked(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 {
		if d.Intn(3) == 0 {
			return d.Between(-110, -80)
		}
		return d.Normal()
	})
}

// extreme fills t with normal numbers times a power of 2 from 2^-60 to 2^60.
func extreme(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return math.Ldexp(d.Normal(), d.Intn(121)-60) })
}

// huge fills t with normal numbers times a power of 10 from 17 to 37, so that squares and sums overflow
// float32.
func huge(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return d.Normal() * math.Pow(10, d.Between(17, 37)) })
}

// largest fills t with values near the largest float32, of either sign.
func largest(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return math.Copysign(d.Between(1e38, 3e38), float64(d.Intn(3))-0.5) })
}

// lonely fills t with values of the normal distribution. In every fifth channel each row has only one
// position that is not 0.
func lonely(d *tensor.Draws, t tensor.Tensor) {
	pixels := tensor.Count(t.Shape[2:])
	set(t, func(i int) float64 {
		v := d.Normal()
		if i/pixels%t.Shape[1]%5 == 0 && i%pixels != pixels/2 {
			v = 0
		}
		return v
	})
}

// fewValues fills t with five different values, so that ties occur.
func fewValues(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return float64(d.Intn(5) - 2) })
}

// listed returns a filler that repeats the given values.
func listed(values ...float64) filler {
	return func(_ *tensor.Draws, t tensor.Tensor) {
		set(t,
			func(i int) float64 { return values[i%len(values)] })
	}
}

// bytes fills t with random bytes.
func bytes(d *tensor.Draws, t tensor.Tensor) {
	for i := range t.U8() {
		t.U8()[i] = uint8(d.Uint32())
	}
}

// classes returns a filler for labels. They are below n, except that one in four is the label ignore.
func classes(n, ignore int) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		for i := range t.I32() {
			if t.I32()[i] = int32(d.Intn(n)); d.Intn(4) == 0 {
				t.I32()[i] = int32(ignore)
			}
		}
	}
}

// idents fills t with pairs of the epoch 3 and a sample number. The sample numbers are far apart.
func idents(_ *tensor.Draws, t tensor.Tensor) {
	for i := range t.Count() / 2 {
		t.I64()[2*i], t.I64()[2*i+1] = 3, int64(i)*(1<<33)+int64(i)
	}
}

// momentsOf returns a filler for moments of n values per channel, with means of about 0 and variances of
// 1 to 3. A negative n marks statistics that are constants, for example running statistics.
func momentsOf(n float64) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		width := t.Shape[len(t.Shape)-1]
		for i := range t.F64() {
			switch k := i % width; {
			case k == 0:
				t.F64()[i] = n
			case k <= width/2:
				t.F64()[i] = d.Normal()
			default:
				t.F64()[i] = d.Between(1, 3) * math.Abs(n)
			}
		}
	}
}
