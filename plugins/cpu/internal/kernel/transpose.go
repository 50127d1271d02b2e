package kernel

import "fmt"

// identity has the numbers from 0 on, as the indices of a block's values for gatherKernels.
var identity = [Lanes]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// Transpose copies src, [rows][columns], to dst, [columns][rows].
func (s *Set) Transpose(dst, src []float32, rows, columns int) {
	s.TransposePart(dst, src, rows, columns, 0, columns)
}

// TransposePart does the same as Transpose for columns [from, to).
func (s *Set) TransposePart(dst, src []float32, rows, columns, from, to int) {
	if len(src) < rows*columns || len(dst) < rows*columns || from < 0 || to > columns {
		panic(fmt.Sprintf("kernel.Transpose: %d rows of %d columns: %d values to %d", rows, columns, len(src),
			len(dst)))
	}
	if rows == 0 || from >= to {
		return
	}
	dst, src = dst[from*rows:], src[from:]
	if rows == 2 || rows == 3 { // for example the channels of a picture
		var of [3]Pixels
		for r := range rows {
			of[r] = Pixels{Values: src[r*columns:]}
		}
		s.Shuffle(Pixels{Values: dst}, of[:rows], to-from, 1)
		return
	}
	if k := s.gathers; k != nil && rows >= k.lanes && to-from >= k.lanes {
		eachSquare(rows, k.lanes, func(r int) {
			eachSquare(to-from, k.lanes, func(c int) {
				k.plain(&dst[c*rows+r], 4*rows, &identity[0], &src[r*columns+c], 4*columns, 1)
			})
		})
		return
	}
	if from == 0 && to == 3 && columns == 3 {
		divideTriples(dst[:rows], dst[rows:2*rows], dst[2*rows:3*rows], src)
		return
	}
	for r := range rows {
		for c, x := range src[r*columns:][:to-from] {
			dst[c*rows+r] = x
		}
	}
}

// divideTriples copies the elements of triples, for example the colours of pixels, to a, b and c.
func divideTriples(a, b, c, triples []float32) {
	b, c, triples = b[:len(a)], c[:len(a)], triples[:3*len(a)]
	for i := range a {
		t := triples[:3:3]
		a[i], b[i], c[i] = t[0], t[1], t[2]
		triples = triples[3:]
	}
}

// eachSquare calls do with the starts of blocks of the given size that together cover n values. The last
// block ends at n, and may overlap the one before it.
func eachSquare(n, size int, do func(start int)) {
	for start := 0; start < n; start += size {
		do(min(start, n-size))
	}
}
