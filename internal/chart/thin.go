package chart

// mostPoints is the number of points of a curve that are drawn.
const mostPoints = 600

// thinned returns a curve with at most mostPoints points: of each range of x it has the smallest and
// the largest value, in the order of the curve. Values that are not finite stay.
func thinned(xs, ys []float64) (x, y []float64) {
	if len(xs) <= mostPoints {
		return xs, ys
	}
	ranges := mostPoints / 2
	for r := range ranges {
		from, to := r*len(xs)/ranges, (r+1)*len(xs)/ranges
		low, high, none := -1, -1, -1
		for i := from; i < to; i++ {
			switch {
			case !Finite(ys[i]):
				none = i
			case low < 0:
				low, high = i, i
			case ys[i] < ys[low]:
				low = i
			case ys[i] > ys[high]:
				high = i
			}
		}
		for _, i := range inOrder(low, high, none) {
			x, y = append(x, xs[i]), append(y, ys[i])
		}
	}
	return x, y
}

// inOrder returns the indexes that are not negative, in ascending order and without duplicates.
func inOrder(indexes ...int) []int {
	var out []int
	for {
		next := -1
		for _, i := range indexes {
			if i >= 0 && (len(out) == 0 || i > out[len(out)-1]) && (next < 0 || i < next) {
				next = i
			}
		}
		if next < 0 {
			return out
		}
		out = append(out, next)
	}
}
