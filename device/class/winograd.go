package class

import "math"

// Tiles is the arithmetic of Winograd tiles with Side by Side outputs of a kernel of
// 3 by 3 (Winograd 1980; Lavin, Gray 2016). The points are 0, ±1 and infinity for
// Side 2, and 0, ±3/4, ±3/2 and infinity for Side 4; the latter keep the errors of a
// tile small (Barabasz et al. 2020) and are exact in float32. Adding v*x to a sum is
// one fused multiply-add.
type Tiles struct {
	Side int // 2 or 4
}

// MostTile is the largest Tiles.Tile.
const MostTile = 6

// Tile returns the number of inputs of a tile along one side, Side + 2.
func (g Tiles) Tile() int { return g.Side + 2 }

// Block returns the length of a chain over the in input channels, a multiple of
// 16: the products of a frequency are summed in blocks of it, each one chain from
// +0, and the blocks are added in order.
func (g Tiles) Block(in int) int {
	switch {
	case g.Side == 2:
		return in
	case in >= 4*lanes:
		return lanes * (2 - in/lanes%2)
	}
	return lanes / 2
}

// form is the numbers of tiles of one size.
type form struct {
	pairs   []float32   // the points beside 0 and infinity
	except  [][]float32 // by pair, that of none first: see exceptOf
	factors []float64   // see factorsOf
}

// forms are the two sizes, by Side.
var forms = map[int]*form{2: newForm(1), 4: newForm(0.75, 1.5)}

func newForm(pairs ...float32) *form {
	f := &form{pairs: pairs, factors: factorsOf(pairs)}
	for i := range len(pairs) + 1 {
		f.except = append(f.except, exceptOf(pairs, i-1))
	}
	return f
}

// exceptOf returns the coefficients of x^0, x^2 and so on, without the last, which
// is 1, of the product of x^2 - p^2 over all pairs but pair i.
func exceptOf(pairs []float32, i int) []float32 {
	poly := []float32{1}
	for k, p := range pairs {
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

// factorsOf returns, for every point, one over the product of its distances from
// the other points.
func factorsOf(pairs []float32) []float64 {
	points := []float64{0}
	for _, p := range pairs {
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

// horner returns the value d[last] + coefficients * (d[last-2], d[last-4], ...).
func horner(d []float32, last int, coefficients []float32) float32 {
	sum := d[last]
	for k := len(coefficients) - 1; k >= 0; k-- {
		last -= 2
		sum = Fuse(coefficients[k], d[last], sum)
	}
	return sum
}

// Into sets t to the transform of d, a row or column of a tile of the input. A
// tile is transformed columns first.
func (g Tiles) Into(t, d []float32) {
	n, f := g.Tile(), forms[g.Side]
	t[0], t[n-1] = horner(d, n-2, f.except[0]), horner(d, n-1, f.except[0])
	for i, p := range f.pairs {
		even, odd := horner(d, n-2, f.except[1+i]), horner(d, n-3, f.except[1+i])
		t[1+2*i], t[2+2*i] = Fuse(p, odd, even), Fuse(-p, odd, even)
	}
}

// Back sets y to the inverse transform of m, a row or column of a tile's
// products. A tile is transformed back rows first.
func (g Tiles) Back(y, m []float32) {
	for j := range g.Side {
		for i, p := range forms[g.Side].pairs {
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
				y[j] = Fuse(power, s, y[j])
			case j == 0:
				y[j] = m[0] + s
			case j == g.Side-1:
				y[j] = Fuse(power, s, m[g.Tile()-1])
			default:
				y[j] = float32(power * s)
			}
		}
	}
}

// at sets t to the values of the polynomial x at the points, but for the factors.
func (g Tiles) at(t []float64, x [3]float64) {
	t[0], t[g.Tile()-1] = x[0], x[2]
	for i, p := range forms[g.Side].pairs {
		even, odd := math.FMA(float64(p*p), x[2], x[0]), float64(float64(p)*x[1])
		t[1+2*i], t[2+2*i] = even+odd, even-odd
	}
}

// Weights sets u, [Tile][Tile], to the transform of a kernel of 3 by 3,
// computed in float64 and rounded once.
func (g Tiles) Weights(u []float32, kernel [9]float32) {
	size, factor := g.Tile(), forms[g.Side].factors
	var half [3][MostTile]float64
	var t [MostTile]float64
	for x := range 3 {
		g.at(half[x][:], [3]float64{float64(kernel[x]), float64(kernel[3+x]), float64(kernel[6+x])})
	}
	for i := range size {
		g.at(t[:], [3]float64{half[0][i], half[1][i], half[2][i]})
		for j := range size {
			u[i*size+j] = float32(float64(t[j] * float64(factor[i]*factor[j])))
		}
	}
}

// Points sets t to the transform of y, a row or column of the gradient of a
// tile's outputs: its values at the points. A tile is transformed columns first.
func (g Tiles) Points(t, y []float32) {
	t[0], t[g.Tile()-1] = y[0], y[g.Side-1]
	for i, p := range forms[g.Side].pairs {
		even, odd := y[0], y[1]
		if g.Side == 4 {
			even, odd = Fuse(p*p, y[2], even), Fuse(p*p, y[3], odd)
		}
		t[1+2*i], t[2+2*i] = Fuse(p, odd, even), Fuse(-p, odd, even)
	}
}

// elements returns the three coefficients that the values at the points make.
func (g Tiles) elements(x []float64) [3]float64 {
	factor := forms[g.Side].factors
	e := [3]float64{float64(factor[0] * x[0]), 0, x[g.Tile()-1]}
	for i, p := range forms[g.Side].pairs {
		f, p := factor[1+2*i], float64(p)
		sum, difference := x[1+2*i]+x[2+2*i], x[1+2*i]-x[2+2*i]
		e[0] = math.FMA(f, sum, e[0])
		if i == 0 {
			e[1] = float64(float64(f*p) * difference)
		} else {
			e[1] = math.FMA(float64(f*p), difference, e[1])
		}
		e[2] = math.FMA(float64(float64(f*p)*p), sum, e[2])
	}
	return e
}

// Kernel returns the gradient of a kernel of 3 by 3 from the sums of all
// frequencies, [Tile][Tile]: transformed in float64, columns first, and rounded
// once.
func (g Tiles) Kernel(sums []float32) (taps [9]float32) {
	size := g.Tile()
	var half [3][MostTile]float64
	var x [MostTile]float64
	for j := range size {
		for i := range size {
			x[i] = float64(sums[i*size+j])
		}
		for y, e := range g.elements(x[:]) {
			half[y][j] = e
		}
	}
	for y := range half {
		for j, e := range g.elements(half[y][:]) {
			taps[3*y+j] = float32(e)
		}
	}
	return taps
}
