package class

// Softmax sets y to e^(x - m), m being the largest element of a line x, divided by their
// sum; or to its logarithm, (x - m) - log(sum). The sum is that of blocks of BlockPositions, each
// a chain of float32, which are added in float64 and rounded. A line with NaN is all NaN.
// Exponentials are those of ExpNormal: masks of attention are far below the rest of a line, and
// processors take a hundred times as long for a product with a subnormal number.
func Softmax(y, x []float32, logarithm bool) {
	if len(x) == 0 {
		return
	}
	most := x[0]
	for _, v := range x {
		if v > most {
			most = v
		}
	}
	var sum lineSum
	for i, v := range x {
		y[i] = ExpNormal(v - most)
		sum.Add(i, y[i])
	}
	total := sum.Total()
	for i, v := range x {
		if logarithm {
			y[i] = (v - most) - Log(total)
		} else {
			y[i] /= total
		}
	}
}

// lineSum is the sum of a softmax.
type lineSum struct {
	total float64
	block float32
}

// Add adds element i of the line, after all previous elements.
func (s *lineSum) Add(i int, v float32) {
	if i%BlockPositions == 0 {
		s.total, s.block = s.total+float64(s.block), 0
	}
	s.block += v
}

// Total returns the sum.
func (s *lineSum) Total() float32 { return float32(s.total + float64(s.block)) }
