package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/class"
)

// depthwiseBytes computes, by set s, all positions of a window with one channel in each group.
func depthwiseBytes(s *Set, w *Window, in []uint8, weights []int8, start []int32, by []float32,
	q class.Int8, pad uint8, cut int) []uint8 {
	d := s.NewDepthwiseInt8(w, pad)
	packed := make([]int8, d.PackedLen())
	d.Pack(packed, weights)
	r := Requantise{q, make([]int32, d.Channels()), make([]float32, d.Channels())}
	for c := range w.Width {
		d.Set(r, c, start[c], by[c])
	}
	out := slices.Repeat([]uint8{77}, w.outNeed+70)
	s.DepthwiseInt8(d, out, in, packed, r, 0, cut, new(Int8Workspace))
	s.DepthwiseInt8(d, out, in, packed, r, cut, w.Positions(), new(Int8Workspace))
	return out
}

// rowsWindow returns a window in which adjacent pixels of the result read adjacent pixels of the image.
// Some taps read padding.
func rowsWindow(positions, taps, channels, stride int) *Window {
	in, out := make([]int32, positions*taps), make([]int32, positions)
	for p := range positions {
		out[p] = int32(4 * p * channels)
		for t := range taps {
			in[t*positions+p] = int32(4 * channels * (p*stride + t%5))
			if p == 0 && t%3 == 0 || p == 7 || p > 9 && t == 1 {
				in[t*positions+p] = -1
			}
		}
	}
	return NewWindow(in, out, taps, channels, channels)
}

func TestDepthwiseInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 1))
	for _, s := range []struct{ positions, taps, channels int }{{20, 9, 64}, {7, 25, 96}, {12, 49, 17},
		{30, 9, 24}, {5, 9, 144}, {3, 64, 32}, {3, 70, 40}, {9, 1, 65}, {4, 4, 63}, {8, 5, 31}, {1, 9, 1},
		{0, 9, 16}, {5, 0, 33}} {
		for trial := range 4 {
			w := randomWindow(r, s.positions, s.taps, s.channels, s.channels, 3, 1000)
			if trial%2 == 0 {
				w = rowsWindow(s.positions, s.taps, s.channels, 1+trial/2)
			}
			in, weights := make([]uint8, max(1000, w.inNeed)+64), make([]int8, s.channels*s.taps)
			for i := range in {
				in[i] = uint8(r.IntN(256))
				if trial == 0 {
					in[i] = 255
				}
			}
			for i := range weights {
				weights[i] = int8(r.IntN(256) - 128)
				if trial == 0 {
					weights[i] = int8(127 - 255*(i/max(1, s.taps)%2))
				}
			}
			start, by := make([]int32, s.channels), make([]float32, s.channels)
			for c := range start {
				start[c], by[c] = int32(r.IntN(4001)-2000), float32(r.Float64()/float64(50+10*s.taps))
			}
			q, pad := randomInt8(r), uint8(r.IntN(256))
			want := depthwiseBytes(int8Sets()[0], w, in, weights, start, by, q, pad, s.positions/2)
			for p := range s.positions {
				c := r.IntN(s.channels)
				sum := int64(start[c])
				for k := range s.taps {
					x := pad
					if at := w.In[k*s.positions+p]; at >= 0 {
						x = in[int(at)/4+c]
					}
					sum += int64(x) * int64(weights[c*s.taps+k])
				}
				if got, exact := want[int(w.Out[p])/4+c], exactByte(q, float32(sum)*by[c]); got != exact {
					t.Fatalf("%+v: position %d, channel %d is %d, want %d", s, p, c, got, exact)
				}
			}
			for _, set := range int8Sets() {
				got := depthwiseBytes(set, w, in, weights, start, by, q, pad, s.positions/3)
				if i := firstOther(got, want); i >= 0 {
					t.Errorf("%s: %+v: byte %d is %d, want %d", set.Name, s, i, got[i], want[i])
				}
			}
		}
	}
}

// randomBytes returns n bytes.
func randomBytes(r *rand.Rand, n int) []uint8 {
	x := make([]uint8, n)
	for i := range x {
		x[i] = uint8(r.IntN(256))
	}
	return x
}

func TestAddInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(48, 1))
	for n := range 200 {
		a, b := randomBytes(r, n+3), randomBytes(r, n+5)
		add := class.Addends{Int8: randomInt8(r), AZero: int32(r.IntN(256)), BZero: int32(r.IntN(256)),
			ABy: float32(r.Float64() * 2), BBy: 0.25}
		if n%7 == 0 {
			add.ABy = 3e38
		}
		if n%2 == 0 {
			half := int32(r.IntN(2) * 128)
			add.AZero, add.BZero, add.Zero, add.Joint = half, half, half, true
			add.At = float32(r.NormFloat64() * 100)
			if n%3 == 0 { // makes sums halfway between two steps
				add.ABy, add.At = 0.5, float32(r.IntN(200))+0.25
			}
		}
		for _, set := range int8Sets() {
			y := slices.Repeat([]uint8{77}, n+8)
			set.AddInt8(y[:n], a, b, add)
			for i, got := range y {
				want := uint8(77)
				if i < n {
					want = exactByte(add.Int8, exactSum(add, a[i], b[i]))
				}
				if got != want {
					t.Fatalf("%s: byte %d of %d is %d, want %d, of %+v", set.Name, i, n, got, want, add)
				}
			}
		}
	}
}

// exactSum returns the sum of two bytes in steps of the result, computed without intermediate rounding.
func exactSum(r class.Addends, a, b uint8) float32 {
	x, y := int32(a)-r.AZero, int32(b)-r.BZero
	if !r.Joint {
		u, v := float32(x)*r.ABy, float32(y)*r.BBy
		return max(min(float32(u+v), 1e9), -1e9)
	}
	fused := func(by float32, n int32, to float32) float32 {
		p := new(big.Float).SetPrec(300).SetFloat64(float64(by))
		p.Mul(p, new(big.Float).SetPrec(300).SetInt64(int64(n)))
		p.Add(p, new(big.Float).SetPrec(300).SetFloat64(float64(to)))
		s, _ := p.Float32()
		return s
	}
	return max(min(fused(r.ABy, x, fused(r.BBy, y, r.At)), 1e9), -1e9)
}

func TestQuantizeInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 1))
	special := []float32{0, -0.5, 0.5, 1.5, 2.5, -1e30, 1e30, float32(math.Inf(1)), float32(math.Inf(-1)),
		float32(math.NaN()), 1e-45, math.MaxFloat32}
	for n := range 200 {
		x := make([]float32, n+2)
		for i := range x {
			x[i] = float32(r.NormFloat64() * 40)
			if r.IntN(4) == 0 {
				x[i] = special[r.IntN(len(special))]
			}
		}
		q, scale := class.Int8{Zero: int32(r.IntN(256)), Max: 255}, []float32{1, 0.3, 0x1p-126}[r.IntN(3)]
		for _, set := range int8Sets() {
			y := slices.Repeat([]uint8{77}, n+8)
			set.QuantizeInt8(y[:n], x, q, scale)
			for i, got := range y {
				want := uint8(77)
				if i < n {
					v := x[i] / scale
					if want = uint8(q.Zero); v == v {
						want = exactByte(q, max(min(v, 1e9), -1e9))
					}
				}
				if got != want {
					t.Fatalf("%s: %g in steps of %g, zero %d, is %d, want %d", set.Name, x[i], scale, q.Zero, got, want)
				}
			}
		}
	}
}

func TestMaxPoolInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(50, 1))
	for n := 1; n < 150; n++ {
		x, pixels := randomBytes(r, 9*n+64), make([]int32, 1+r.IntN(9))
		for i := range pixels {
			pixels[i] = int32(4 * n * r.IntN(9))
		}
		for _, set := range int8Sets() {
			y := slices.Repeat([]uint8{77}, n+8)
			set.MaxPoolInt8(y[:n], x, pixels)
			for i, got := range y {
				want := uint8(77)
				if i < n {
					want = 0
					for _, at := range pixels {
						want = max(want, x[int(at)/4+i])
					}
				}
				if got != want {
					t.Fatalf("%s: byte %d of %d is %d, want %d", set.Name, i, n, got, want)
				}
			}
		}
	}
}

func TestTableInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 1))
	table := (*[256]uint8)(randomBytes(r, 256))
	for _, set := range Sets() {
		for n := range 300 {
			x, y := randomBytes(r, n+1), slices.Repeat([]uint8{77}, n+8)
			set.TableInt8(y[:n], x, table)
			for i, got := range y {
				if want := uint8(77); i < n && got != table[x[i]] || i >= n && got != want {
					t.Fatalf("%s: byte %d of %d is %d", set.Name, i, n, got)
				}
			}
		}
	}
}

func TestSumInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 1))
	for _, channels := range []int{1, 15, 16, 31, 32, 33, 64, 100, 160} {
		for _, pixels := range []int{0, 1, 49, 256, 257, 700} {
			x := randomBytes(r, channels*pixels+64)
			if pixels == 256 {
				x = slices.Repeat([]uint8{255}, len(x))
			}
			want := make([]int32, channels)
			for i, v := range x[:channels*pixels] {
				want[i%channels] += int32(v)
			}
			for _, set := range int8Sets() {
				got := make([]int32, channels)
				set.SumInt8(got, x, pixels)
				if i := firstOther(got, want); i >= 0 {
					t.Errorf("%s: channel %d of %d over %d is %d, want %d", set.Name, i, channels, pixels, got[i], want[i])
				}
			}
		}
	}
}

func TestGateInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 1))
	for n := range 200 {
		a, gate, zero, q := randomBytes(r, n+3), make([]float32, n+3), int32(r.IntN(256)), randomInt8(r)
		for i := range gate {
			gate[i] = float32(r.IntN(511) - 255)
		}
		by, at := float32(r.Float64()/100), float32(n%2*r.IntN(256))
		if n%4 == 0 {
			by = 1.0 / 128 // makes products halfway between two steps
		}
		for _, set := range int8Sets() {
			y := slices.Repeat([]uint8{77}, n+8)
			set.GateInt8(y[:n], a, gate, class.Factors{Int8: q, AZero: zero, By: by, At: at})
			for i, got := range y {
				want := uint8(77)
				if i < n {
					product := float32(float32((int32(a[i])-zero)*int32(gate[i])) * by)
					want = exactByte(q, product+at)
				}
				if got != want {
					t.Fatalf("%s: byte %d of %d is %d, want %d", set.Name, i, n, got, want)
				}
			}
		}
	}
}

func TestMulInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(57, 1))
	for n := range 200 {
		a, b, q := randomBytes(r, n+3), randomBytes(r, n+3), randomInt8(r)
		f := class.Factors{Int8: q, AZero: int32(r.IntN(256)), BZero: int32(r.IntN(256)),
			By: float32(r.Float64() / 100), At: float32(n % 2 * r.IntN(256))}
		if n%4 == 0 {
			f.By = 1.0 / 128 // makes products halfway between two steps
		}
		for _, set := range int8Sets() {
			y := slices.Repeat([]uint8{77}, n+8)
			set.MulInt8(y[:n], a, b, f)
			for i, got := range y {
				want := uint8(77)
				if i < n {
					product := float32(float32((int32(a[i])-f.AZero)*(int32(b[i])-f.BZero)) * f.By)
					want = exactByte(q, product+f.At)
				}
				if got != want {
					t.Fatalf("%s: byte %d of %d is %d, want %d", set.Name, i, n, got, want)
				}
			}
		}
	}
}

// TestDequantizeInt8 checks that each number is an exact integer times the scale, rounded once.
func TestDequantizeInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(58, 1))
	for n := range 300 {
		x, zero := randomBytes(r, n+3), int32(r.IntN(256))
		scale := float32(math.Ldexp(r.Float64()+1, r.IntN(200)-130))
		for _, set := range int8Sets() {
			y := slices.Repeat([]float32{77}, n+8)
			set.DequantizeInt8(y[:n], x, zero, scale)
			for i, got := range y {
				want := float32(77)
				if i < n {
					want = float32(float64(scale) * float64(int32(x[i])-zero))
				}
				if math.Float32bits(got) != math.Float32bits(want) {
					t.Fatalf("%s: number %d of %d is %g, want %g", set.Name, i, n, got, want)
				}
			}
		}
	}
}
