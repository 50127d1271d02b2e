package bn_test

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// draw returns values around an offset, so that squares cancel badly.
func draw(p *tensor.Draws, n int, offset float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = offset + p.Normal()
	}
	return v
}

// Any cut of any values into replicas gives the same merged moments as two passes over all values.
func TestPoolIsExact(t *testing.T) {
	draws := tensor.NewPhilox(1, tensor.StreamOrder).Draws(0, 0)
	for trial := range 200 {
		replicas := 1 + draws.Intn(9)
		offset := math.Pow(10, float64(draws.Intn(5)))
		cut, whole := tensor.New(tensor.F64, replicas, 3), tensor.New(tensor.F64, 1, 3)
		var values []float64
		for r := range replicas {
			v := draw(&draws, draws.Intn(6), offset)
			put(cut, r, 0, v)
			values = append(values, v...)
		}
		put(whole, 0, 0, values)
		got, want := bn.Pool(cut, 1), whole.F64()
		for i := range want {
			if d := math.Abs(got[i] - want[i]); d > 1e-9*(1+math.Abs(want[i])) {
				t.Fatalf("trial %d: element %d is %g, two passes give %g", trial, i, got[i], want[i])
			}
		}
	}
}

func TestPoolLeavesItsOperandsAlone(t *testing.T) {
	m := goldenMoments(0)
	before := m.Clone()
	bn.Pool(m, 1)
	if !tensor.Equal(m, before) {
		t.Error("Pool changed the moments")
	}
}

// Precise over batches equals the statistics of all batches in one.
func TestPreciseEqualsOneBatch(t *testing.T) {
	draws := tensor.NewPhilox(2, tensor.StreamOrder).Draws(0, 0)
	p := bn.NewPrecise([]bn.Layer{layer(1)})
	var values []float64
	for range 20 {
		v := draw(&draws, 2+draws.Intn(30), 1000)
		m := tensor.New(tensor.F64, 2, 3)
		put(m, 0, 0, v[:1])
		put(m, 1, 0, v[1:])
		p.Add([]tensor.Tensor{m})
		values = append(values, v...)
	}
	one := tensor.New(tensor.F64, 1, 3)
	put(one, 0, 0, values)
	want, n := one.F64(), float64(len(values))
	got, err := p.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	if m := got["m"].F32()[0]; m != float32(want[1]) {
		t.Errorf("mean is %g, want %g", m, want[1])
	}
	if v := float64(got["v"].F32()[0]); math.Abs(v-want[2]/(n-1)) > 1e-6 {
		t.Errorf("variance is %g, want %g", v, want[2]/(n-1))
	}
}

func TestPreciseOfTooFew(t *testing.T) {
	p := bn.NewPrecise([]bn.Layer{layer(1)})
	m := tensor.New(tensor.F64, 1, 3)
	put(m, 0, 0, []float64{1})
	p.Add([]tensor.Tensor{m})
	if _, err := p.Tensors(); err == nil {
		t.Error("one value: no error")
	}
}
