package kernel

// Moments sets mean and q, per channel, to the mean of the values of x and the sum of their squared
// deviations from it. Both are 0 if there are no values.
//
// A block of n positions has a shift k: the float32 sum of its values, times the rounded inverse of n. s is
// the sum of x - k over the block, and p is the sum of the squares of x - k. In float64, with k0 the shift
// of the first block,
//
//	u = s/n, e = (k - k0) + u, t1 += n*e, t2 += (p - s*u) + n*e*e
//
// After all blocks, with N positions in total, mean = k0 + t1/N and q = t2 - t1*(t1/N), but at least 0.
func (s *Set) Moments(mean, q []float64, x []float32, r *SumWorkspace) {
	k, n := s.blocksOf(len(mean), len(x))
	moments(mean, q, len(x), r, n,
		func(first []float64) { k.moments(&mean[0], &q[0], &first[0], &x[0], len(mean), n) },
		func(sum []float32, from, to int) { s.addSums(sum, x[from:to], len(sum), 0) },
		func(sum, squares, shift []float32, from, to int) { s.addDeviations(sum, squares, shift, x[from:to]) })
	widenMoments(mean, q, x)
}

// moments computes moments by blocks. whole computes the given number of first blocks, given the shifts of
// the first one. sums and deviations compute each of the other blocks.
func moments(mean, q []float64, values int, r *SumWorkspace, blocks int, whole func(first []float64),
	sums func(sum []float32, from, to int), deviations func(sum, squares, shift []float32, from, to int)) {
	n := len(mean)
	sum, squares, shift := r.singles(n)
	first := r.doubles(n)
	clear(mean)
	clear(q)
	centre := func(from, to int) block {
		b := block{float64((to - from) / n), sum, squares, shift}
		clear(shift)
		sums(shift, from, to)
		b.centre()
		if from == 0 {
			clear(first)
			widenInto(first, shift)
		}
		return b
	}
	if blocks > 0 {
		centre(0, BlockPositions*n)
		whole(first)
	}
	eachBlock(blocks, n, values, func(from, to int) {
		b := centre(from, to)
		clear(sum)
		clear(squares)
		deviations(sum, squares, shift, from, to)
		b.add(mean, q, first)
	})
	if values == 0 {
		return
	}
	for c, k0 := range first {
		u := mean[c] / float64(values/n)
		mean[c], q[c] = k0+u, max(0, q[c]-float64(mean[c]*u))
	}
}

// block is the sums of one block of n positions.
type block struct {
	n                   float64
	sum, squares, shift []float32
}

// centre computes shifts from sums, which it multiplies by the inverse of n.
func (b *block) centre() {
	inverse := float32(1 / b.n)
	for c := range b.shift {
		b.shift[c] *= inverse
	}
}

// add adds the block to t1 and t2.
func (b *block) add(t1, t2, first []float64) {
	n := len(b.shift)
	t1, t2, first, sum, squares := t1[:n], t2[:n], first[:n], b.sum[:n], b.squares[:n]
	for c, k := range b.shift {
		s := float64(sum[c])
		u := s * (1.0 / BlockPositions)
		if b.n != BlockPositions {
			u = s / b.n
		}
		e := (float64(k) - first[c]) + u
		t := float64(b.n * e)
		t1[c] += t
		t2[c] += (float64(squares[c]) - float64(s*u)) + float64(t*e)
	}
}

// addDeviations adds to sum and squares, per channel, x - shift and its square, in order.
func (s *Set) addDeviations(sum, squares, shift, x []float32) {
	n := len(sum)
	squares, shift = squares[:n], shift[:n]
	from, left := eachColumns(s.sumColumns, n, len(x), func(k *sumColumns[float32], c, at, count int) {
		k.deviations(&sum[c], &squares[c], &shift[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			d := v - shift[from+i]
			sum[from+i] += d
			squares[from+i] += float32(d * d)
		}
	}
}
