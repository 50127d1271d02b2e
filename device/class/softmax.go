package class

// Softmax sets y to the softmax of a line x: e^(x - m) / sum, where m is the largest element of x and
// sum is the sum of all e^(x - m). With logarithm it sets y to (x - m) - log(sum). The exponentials are
// summed in blocks of BlockPositions, each a chain of float32; the sums of the blocks are added in
// float64, and the total is rounded. If x has a NaN, all of y is NaN. The exponential function is
// ExpNormal, which returns no subnormal numbers: attention masks cause many tiny exponentials, and
// processors need a hundred times as long for a product with a subnormal number.
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

// lineSum computes the sum of the exponentials of a softmax.
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
