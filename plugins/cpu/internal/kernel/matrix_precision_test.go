package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device/class"
)

// precisionOperands are the distributions of operands over which precision is measured.
var precisionOperands = []struct {
	name string
	draw func(r *rand.Rand) float32
}{
	{"normal", func(r *rand.Rand) float32 { return float32(r.NormFloat64()) }},
	{"relu", func(r *rand.Rand) float32 { return float32(max(0, r.NormFloat64())) }},
	{"2^-20 to 2^20", func(r *rand.Rand) float32 {
		return float32(math.Exp2(40*r.Float64()-20) * r.NormFloat64())
	}},
	{"2^-45 to 2^-40", func(r *rand.Rand) float32 { return float32(math.Exp2(-40 - 5*r.Float64())) }},
	{"2^50 to 2^55", func(r *rand.Rand) float32 { return float32(-math.Exp2(50 + 5*r.Float64())) }},
}

// TestMatrixPrecision checks that products of three parts are as precise as a chain of fused multiply-adds.
// docs/numerics.md, section 5 allows twice the error of a chain, relative to the sum of the sizes of the
// products.
func TestMatrixPrecision(t *testing.T) {
	const rows = 16
	r := rand.New(rand.NewPCG(22, 2))
	for _, o := range precisionOperands {
		for _, run := range []int{32, 64, 256, 512, 2048} {
			c := newMatrixCase(r, plainWindow(rows, run, 16), 3, 0, 0)
			c.in, c.finish = make([]float32, rows*run), ScaledEpilogue{}
			for i := range c.in {
				c.in[i] = o.draw(r)
			}
			for i := range c.src {
				c.src[i] = float32(math.Copysign(float64(o.draw(r)), r.NormFloat64()))
			}
			c.pack(matrixDefinition)
			out, apart := c.run(matrixDefinition, new(MatrixWorkspace))
			if len(apart) > 0 {
				t.Errorf("%s, %d values: %d positions lie apart, want none", o.name, run, len(apart))
			}
			parts, chain := c.errors(out)
			t.Logf("%-16s %5d values: %.1e of a sum of sizes (mean square), %.1e at most; a chain %.1e, %.1e",
				o.name, run, parts.mean, parts.most, chain.mean, chain.most)
			if parts.mean > 1.2*chain.mean || parts.most > 2*chain.most {
				t.Errorf("%s, %d values: the error is %+v, that of a chain %+v", o.name, run, parts, chain)
			}
		}
	}
}

// plainWindow returns a window that multiplies rows of k values by a matrix.
func plainWindow(rows, k, width int) *Window {
	in, out := make([]int32, rows), make([]int32, rows)
	for p := range rows {
		in[p], out[p] = int32(4*p*k), int32(4*p*width)
	}
	return NewWindow(in, out, 1, k, width)
}

// relativeError has statistics of relative errors: the root mean square, and the largest one.
type relativeError struct{ mean, most float64 }

// add includes one result in the mean and the maximum. number is the number of this result, from 1.
func (e *relativeError) add(got float32, want, size float64, number int) {
	if size == 0 {
		return
	}
	d := math.Abs(float64(got)-want) / size
	e.most = max(e.most, d)
	e.mean = math.Sqrt((e.mean*e.mean*float64(number-1) + d*d) / float64(number))
}

// errors returns the errors of the results of a window with one tap, and of chains of fused multiply-adds
// on the same operands, both compared with float64.
func (c *matrixCase) errors(out []float32) (parts, chain relativeError) {
	for p := range c.Positions() {
		for j := range c.Width {
			var sum, size float64
			var fma float32
			for k, x := range c.in[p*c.Run:][:c.Run] {
				y := c.src[j*c.Run+k]
				sum += float64(x) * float64(y)
				size += math.Abs(float64(x) * float64(y))
				fma = class.Fuse(x, y, fma)
			}
			parts.add(out[p*c.Width+j], sum, size, p*c.Width+j+1)
			chain.add(fma, sum, size, p*c.Width+j+1)
		}
	}
	return parts, chain
}

// TestMatrixApart checks which positions matrix units leave to windows: exactly those with operands that
// would be flushed, that would overflow a sum, or that are not finite.
func TestMatrixApart(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 3))
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		value, weight float32
		apart         bool
	}{
		{1, 1, false}, {0, 1, false}, {0x1p-98, 1, false}, {0x1p-99, 1, true}, {0x1p-100, 4, false},
		{0x1p-101, 8, true}, {0x1p-140, 1, true}, {1, 0x1p-99, true}, {2, 0x1p-99, false}, {4, 0x1p-101, true},
		{0x1p115, 1, false}, {0x1p125, 1, true}, {1, 0x1p125, true}, {0x1p60, 0x1p70, true},
		{0x1p127, 0x1p-20, true}, {0x1p126, 0x1p-20, false}, {inf, 1, true}, {nan, 1, true}, {1, inf, true},
		{1, nan, true}, {0, nan, true},
	} {
		const run = 64
		m := newMatrixCase(r, plainWindow(35, run, 20), 3, 0, 0)
		m.in, m.finish = make([]float32, 35*run), ScaledEpilogue{}
		for i := range m.src {
			m.src[i] = c.weight
		}
		m.pack(matrixDefinition)
		m.in[33*run+7] = c.value
		for _, set := range append(matrixSets(), matrixDefinition) {
			out, apart := m.run(set, new(MatrixWorkspace))
			alone := len(apart) == 1 && apart[0] == 33
			finite := c.weight < 0x1p125 && c.weight > 0x1p-101
			if c.apart && finite && !alone || c.apart && len(apart) == 0 || !c.apart && len(apart) > 0 {
				t.Errorf("%s: %g by %g: positions %d lie apart", set.Name, c.value, c.weight, apart)
			}
			if want := float32(float64(c.value) * float64(c.weight)); !c.apart && out[33*20+19] != want {
				t.Errorf("%s: %g by %g is %g", set.Name, c.value, c.weight, out[33*20+19])
			}
			if c.apart && !sameBits(out[33*20:][:20], m.out[33*20:][:20]) {
				t.Errorf("%s: %g by %g: a position that lies apart is written", set.Name, c.value, c.weight)
			}
		}
	}
}

// TestMatrixBits checks that the results equal the definition, for operands with any bits.
func TestMatrixBits(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 4))
	for range 40 {
		c := newMatrixCase(r, plainWindow(16, 32, 16), 1, 0, 0)
		c.in = make([]float32, 16*32)
		narrow := 1 + r.IntN(254)
		for _, x := range [][]float32{c.in, c.src} {
			for i := range x {
				x[i] = math.Float32frombits(r.Uint32())
				if r.IntN(2) == 0 { // exponents near each other
					x[i] = math.Float32frombits(r.Uint32()&0x807fffff | uint32(max(1, narrow-r.IntN(8)))<<23)
				}
			}
		}
		c.pack(matrixDefinition)
		want, _ := c.run(matrixDefinition, new(MatrixWorkspace))
		for _, set := range matrixSets() {
			if got, _ := c.run(set, new(MatrixWorkspace)); !sameBits(got, want) {
				t.Errorf("%s differs from the definition", set.Name)
			}
		}
	}
}
