package class

import "math"

// Tiles is the arithmetic of Winograd tiles with Side by Side outputs of a kernel of
// Kernel by Kernel (Winograd 1980; Lavin, Gray 2016). The interpolation points are 0, ±1
// and infinity for tiles of 4 by 4 inputs, and 0, ±3/4, ±3/2 and infinity for tiles of 6 by
// 6. The latter keep the errors of a tile small (Barabasz et al. 2020) and are exact in
// float32. Adding v*x to a sum is one fused multiply-add. A frequency is an element of a
// transformed tile.
type Tiles struct {
	Side   int // 2 or 4; 2 where Kernel is 5
	Kernel int // 3 or 5
}

// MostTile is the largest result of Tiles.Tile, and MostTaps the largest result of Tiles.Taps.
const (
	MostTile = 6
	MostTaps = 25
)

// Tile returns the number of inputs of a tile along one side.
func (g Tiles) Tile() int { return g.Side + g.Kernel - 1 }

// Taps returns the number of elements of a kernel.
func (g Tiles) Taps() int { return g.Kernel * g.Kernel }

// Border returns the number of inputs of a tile before its first output, along one side.
func (g Tiles) Border() int { return g.Kernel / 2 }

// form returns the constants of the tiles' transforms.
func (g Tiles) form() *form { return forms[g.Tile()] }

// Block returns the number of input channels in a chain, for a layer with in input channels, a
// multiple of 16. The products of a frequency are summed in blocks of this length. Each block
// is one chain from +0, and the blocks are added in order.
func (g Tiles) Block(in int) int {
	switch {
	case g.Tile() == 4:
		return in
	case in >= 4*lanes, g.Kernel == 5 && in > lanes:
		return lanes * (2 - in/lanes%2)
	}
	return lanes / 2
}

// ChainRows returns the number of rows of tiles that the gradient for the weight sums in one chain.
// columns is the number of tiles in a row. The tiles of a chunk are cut into blocks of that many rows,
// beginning with the first. Each frequency of a block is one chain from +0, and the blocks are added in
// order. 0 means one chain over all tiles. The transforms of a kernel of 5 by 5 amplify the errors of a
// chain more than the transforms of 3 by 3. With blocks of about 64 tiles, the errors are as small as for
// 3 by 3.
func (g Tiles) ChainRows(columns int) int {
	if g.Kernel == 5 {
		return max(1, 64/columns)
	}
	return 0
}

// form has the constants of the transforms for tiles of one size.
type form struct {
	pairs   []float32   // p of each pair of points p and -p; other points are 0 and infinity
	except  [][]float32 // results of exceptOf: first for no pair, then for each pair
	factors []float64   // result of factorsOf
}

// forms has the constants for tiles of the two sizes, by the result of Tiles.Tile.
var forms = map[int]*form{4: newForm(1), 6: newForm(0.75, 1.5)}

func newForm(pairs ...float32) *form {
	f := &form{pairs: pairs, factors: factorsOf(pairs)}
	for i := range len(pairs) + 1 {
		f.except = append(f.except, exceptOf(pairs, i-1))
	}
	return f
}

// exceptOf multiplies x^2 - p^2 over all pairs p except pair i. It returns the coefficients of
// x^0, x^2 and so on in this polynomial, without the last coefficient, which is 1.
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

// factorsOf returns, for every finite point, 1 divided by the product of its distances from
// the other finite points. The last factor, for infinity, is 1.
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

// horner returns d[last] + coefficients[k]*d[last-2] + coefficients[k-1]*d[last-4] and so on, where k is
// the index of the last coefficient.
func horner(d []float32, last int, coefficients []float32) float32 {
	sum := d[last]
	for k := len(coefficients) - 1; k >= 0; k-- {
		last -= 2
		sum = Fuse(coefficients[k], d[last], sum)
	}
	return sum
}

// TransformInput sets t to the transform of d, a row or column of a tile of the input. A
// tile is transformed columns first.
func (g Tiles) TransformInput(t, d []float32) {
	n, f := g.Tile(), g.form()
	t[0], t[n-1] = horner(d, n-2, f.except[0]), horner(d, n-1, f.except[0])
	for i, p := range f.pairs {
		even, odd := horner(d, n-2, f.except[1+i]), horner(d, n-3, f.except[1+i])
		t[1+2*i], t[2+2*i] = Fuse(p, odd, even), Fuse(-p, odd, even)
	}
}

// TransformOutput sets y to the inverse transform of m, a row or column of a tile's
// products. A tile is transformed back rows first.
func (g Tiles) TransformOutput(y, m []float32) {
	for j := range g.Side {
		for i, p := range g.form().pairs {
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

// evaluate sets t to the values of a polynomial at the interpolation points. It does not multiply by the
// factors of the form. The first Kernel elements of x are the coefficients of the polynomial. Its even
// and its odd part are computed by Horner's rule.
func (g Tiles) evaluate(t []float64, x [mostKernel]float64) {
	last := g.Kernel - 1
	t[0], t[g.Tile()-1] = x[0], x[last]
	for i, p := range g.form().pairs {
		even, odd := x[last], x[last-1]
		for k := last - 2; k >= 0; k -= 2 {
			even = math.FMA(float64(p*p), even, x[k])
			if k > 0 {
				odd = math.FMA(float64(p*p), odd, x[k-1])
			}
		}
		odd = float64(float64(p) * odd)
		t[1+2*i], t[2+2*i] = even+odd, even-odd
	}
}

// mostKernel is the largest Tiles.Kernel.
const mostKernel = 5

// TransformWeights sets u, [Tile][Tile], to the transform of a kernel, [Kernel][Kernel],
// computed in float64 and rounded once.
func (g Tiles) TransformWeights(u, kernel []float32) {
	size, factor := g.Tile(), g.form().factors
	var half [mostKernel][MostTile]float64
	var t [MostTile]float64
	for x := range g.Kernel {
		var column [mostKernel]float64
		for y := range g.Kernel {
			column[y] = float64(kernel[y*g.Kernel+x])
		}
		g.evaluate(half[x][:], column)
	}
	for i := range size {
		var row [mostKernel]float64
		for x := range g.Kernel {
			row[x] = half[x][i]
		}
		g.evaluate(t[:], row)
		for j := range size {
			u[i*size+j] = float32(float64(t[j] * float64(factor[i]*factor[j])))
		}
	}
}

// TransformGradient sets t to the transform of y, a row or column of the gradient of a
// tile's outputs: its values at the points. A tile is transformed columns first.
func (g Tiles) TransformGradient(t, y []float32) {
	t[0], t[g.Tile()-1] = y[0], y[g.Side-1]
	for i, p := range g.form().pairs {
		even, odd := y[0], y[1]
		if g.Side == 4 {
			even, odd = Fuse(p*p, y[2], even), Fuse(p*p, y[3], odd)
		}
		t[1+2*i], t[2+2*i] = Fuse(p, odd, even), Fuse(-p, odd, even)
	}
}

// elements returns Kernel coefficients computed from the values x at the points. Each
// coefficient is one chain over the points, except that its first term is a rounded product.
func (g Tiles) elements(x []float64) (e [mostKernel]float64) {
	factor, last := g.form().factors, g.Kernel-1
	e[0], e[last] = float64(factor[0]*x[0]), x[g.Tile()-1]
	for i, p := range g.form().pairs {
		sum, difference := x[1+2*i]+x[2+2*i], x[1+2*i]-x[2+2*i]
		f := factor[1+2*i] // in iteration k: factor * p^k
		for k := range g.Kernel {
			of := sum
			if k%2 == 1 {
				of = difference
			}
			if i == 0 && k > 0 && k < last {
				e[k] = float64(f * of)
			} else {
				e[k] = math.FMA(f, of, e[k])
			}
			f = float64(f * float64(p))
		}
	}
	return e
}

// KernelGradient sets taps, [Kernel][Kernel], to the gradient of a kernel. sums, [Tile][Tile], has the
// sum of each element of the transformed tiles (frequency). The transform is in float64, columns first,
// and rounded once.
func (g Tiles) KernelGradient(taps, sums []float32) {
	size := g.Tile()
	var half [mostKernel][MostTile]float64
	var x [MostTile]float64
	for j := range size {
		for i := range size {
			x[i] = float64(sums[i*size+j])
		}
		for y, e := range g.elements(x[:]) {
			half[y][j] = e
		}
	}
	for y := range g.Kernel {
		e := g.elements(half[y][:])
		for j := range g.Kernel {
			taps[g.Kernel*y+j] = float32(e[j])
		}
	}
}
