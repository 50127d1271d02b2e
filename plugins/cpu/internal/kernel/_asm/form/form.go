// Package form describes Winograd tiles for the generators of all processors.
// device/class/winograd.go defines the computation.
package form

// Form is the shape of Winograd tiles and their points: 0, infinity, and p and -p for each p in Pairs.
type Form struct {
	Side, Kernel int // outputs of a tile and elements of a kernel, each along one side
	Pairs        []float64
}

// All has the forms of all algorithms.
var All = []Form{{2, 3, []float64{1}}, {4, 3, []float64{0.75, 1.5}}, {2, 5, []float64{0.75, 1.5}}}

// Tile returns the number of inputs that a tile has along one side.
func (f Form) Tile() int { return f.Side + f.Kernel - 1 }

// Coefficients returns the coefficients of x^0 and x^2 of the product of x^2 - p^2 over all pairs.
func (f Form) Coefficients() []float64 {
	if len(f.Pairs) == 1 {
		return []float64{-f.Pairs[0] * f.Pairs[0]}
	}
	a, b := f.Pairs[0]*f.Pairs[0], f.Pairs[1]*f.Pairs[1]
	return []float64{a * b, -(a + b)}
}

// Other returns -p*p for the other of two pairs, which is not pair i. It returns false if there is only one
// pair.
func (f Form) Other(i int) (float64, bool) {
	if len(f.Pairs) == 1 {
		return 0, false
	}
	return -f.Pairs[1-i] * f.Pairs[1-i], true
}

// Factor returns the factor that undoes the scale of the value at point i. It is the inverse of the product
// of the differences between point i and the other points.
func (f Form) Factor(i int) float64 {
	if i == f.Tile()-1 {
		return 1
	}
	points := []float64{0}
	for _, p := range f.Pairs {
		points = append(points, p, -p)
	}
	d := 1.0
	for j, p := range points {
		if j != i {
			d *= points[i] - p
		}
	}
	return 1 / d
}
