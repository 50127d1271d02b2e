package kernel

import "math"

// The definition of Winograd. The points are 0, plus and minus each of pairs,
// and infinity; those of the larger form keep the errors of a tile small
// (Barabasz et al. 2020) and are exact in float32. Where a sum begins with a
// value and goes on with v*x, that is one fused multiply-add.

// winogradMost is the largest tile.
const winogradMost = 6

// pairs returns the points beside 0 and infinity.
func (g Winograd) pairs() []float32 {
	if g.Side == 2 {
		return []float32{1}
	}
	return []float32{0.75, 1.5}
}

// except returns the coefficients of x^0, x^2 and so on, without the last,
// which is 1, of the product of x^2 - p^2 over all pairs but pair i.
func (g Winograd) except(i int) []float32 {
	poly := []float32{1}
	for k, p := range g.pairs() {
		if k == i {
			continue
		}
		next := make([]float32, len(poly)+1)
		for j, c := range poly {
			next[j] -= float32(float32(c*p) * p)
			next[j+1] += c
		}
		poly = next
	}
	return poly[:len(poly)-1]
}

// horner returns the value d[last] + coefficients * (d[last-2], d[last-4], ...).
func horner(d []float32, last int, coefficients []float32) float32 {
	sum := d[last]
	for k := len(coefficients) - 1; k >= 0; k-- {
		last -= 2
		sum = fuse(coefficients[k], d[last], sum)
	}
	return sum
}

// into transforms a row or column of a tile.
func (g Winograd) into(t, d []float32) {
	n := g.Tile()
	t[0], t[n-1] = horner(d, n-2, g.except(-1)), horner(d, n-1, g.except(-1))
	for i, p := range g.pairs() {
		even, odd := horner(d, n-2, g.except(i)), horner(d, n-3, g.except(i))
		t[1+2*i], t[2+2*i] = fuse(p, odd, even), fuse(-p, odd, even)
	}
}

// back computes a row or column of outputs.
func (g Winograd) back(y, m []float32) {
	for j := range g.Side {
		for i, p := range g.pairs() {
			power := float32(1)
			for range j {
				power *= p
			}
			s := m[1+2*i] + m[2+2*i]
			if j%2 == 1 {
				s = m[1+2*i] - m[2+2*i]
			}
			switch {
			case i > 0:
				y[j] = fuse(power, s, y[j])
			case j == 0:
				y[j] = m[0] + s
			case j == g.Side-1:
				y[j] = fuse(power, s, m[g.Tile()-1])
			default:
				y[j] = float32(power * s)
			}
		}
	}
}

// inputGeneric transforms one tile, columns first.
func (g Winograd) inputGeneric(v []float32, freq int, in []float32, rowStep int) {
	n := g.Tile()
	var half [winogradMost][winogradMost]float32
	var d, t [winogradMost]float32
	for c := range g.In {
		for x := range n {
			for y := range n {
				d[y] = in[y*rowStep+x*g.In+c]
			}
			g.into(t[:], d[:])
			for i := range n {
				half[i][x] = t[i]
			}
		}
		for i := range n {
			g.into(t[:], half[i][:])
			for j := range n {
				v[(i*n+j)*freq+c] = t[j]
			}
		}
	}
}

// productGeneric computes one panel, whose weights have so many channels.
func (g Winograd) productGeneric(m, v, packed []float32, all, width int) {
	vTile, vFreq := g.inSteps(all)
	mTile, mFreq := g.outSteps(all)
	for f := range g.Frequencies() {
		for t := range all {
			sums, x := m[f*mFreq+t*mTile:][:width], v[f*vFreq+t*vTile:]
			for from := 0; from < g.In; from += g.Block() {
				var chain [WinogradLanes]float32
				for k := from; k < from+g.Block(); k++ {
					addFused(chain[:width], packed[(f*g.In+k)*width:][:width], x[k])
				}
				for o := range sums {
					if from == 0 {
						sums[o] = chain[o]
					} else {
						sums[o] += chain[o]
					}
				}
			}
		}
	}
}

// outputGeneric computes the outputs of one tile, rows first.
func (g Winograd) outputGeneric(out []float32, rowStep, step int, m []float32, freq int, bias []float32,
	e Ending) {
	n := g.Tile()
	var half [winogradMost][winogradMost]float32 // [column of the output][row of m]
	var d, t [winogradMost]float32
	for o, b := range bias {
		for i := range n {
			for j := range n {
				d[j] = m[(i*n+j)*freq+o]
			}
			g.back(t[:], d[:])
			for x := range g.Side {
				half[x][i] = t[x]
			}
		}
		for x := range g.Side {
			g.back(t[:], half[x][:])
			for y := range g.Side {
				i := y*rowStep + x*step + o
				out[i] = e.at(i, t[y]+b)
			}
		}
	}
}

// factors returns, for every point, one over the product of its distances from
// the other points.
func (g Winograd) factors() []float64 {
	points := []float64{0}
	for _, p := range g.pairs() {
		points = append(points, float64(p), float64(-p))
	}
	var f []float64
	for i, p := range points {
		d := 1.0
		for j, q := range points {
			if i != j {
				d *= p - q
			}
		}
		f = append(f, 1/d)
	}
	return append(f, 1)
}

// at sets t to the values of the polynomial x at the points, but for the factors.
func (g Winograd) at(t []float64, x [3]float64) {
	t[0], t[g.Tile()-1] = x[0], x[2]
	for i, p := range g.pairs() {
		even, odd := math.FMA(float64(p*p), x[2], x[0]), float64(float64(p)*x[1])
		t[1+2*i], t[2+2*i] = even+odd, even-odd
	}
}

// weightsGeneric transforms n kernels in float64.
func (g Winograd) weightsGeneric(packed, taps []float32, n int) {
	size, factor := g.Tile(), g.factors()
	var half [3][winogradMost]float64
	var t [winogradMost]float64
	for k := range n {
		for x := range 3 {
			g.at(half[x][:], [3]float64{float64(taps[x*n+k]), float64(taps[(3+x)*n+k]), float64(taps[(6+x)*n+k])})
		}
		for i := range size {
			g.at(t[:], [3]float64{half[0][i], half[1][i], half[2][i]})
			for j := range size {
				packed[(i*size+j)*n+k] = float32(float64(t[j] * float64(factor[i]*factor[j])))
			}
		}
	}
}
