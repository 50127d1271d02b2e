package kernel

// doubleSums is assembly that adds rows of float32 to sums in float64, for the channels in extent.
type doubleSums struct {
	extent
	sums func(sum *float64, x *float32, channels, count int)
}

// DoubleSums adds to sum, per channel, the values of x in float64, in order. It is for sums that are
// defined as one chain. Sums, in contrast, adds blocks.
func (s *Set) DoubleSums(sum []float64, x []float32) {
	n := len(sum)
	from, left := eachColumns(s.doubleSums, n, len(x), func(k *doubleSums, c, at, count int) {
		k.sums(&sum[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			sum[from+i] += float64(v)
		}
	}
}
