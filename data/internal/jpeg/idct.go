package jpeg

// blockSize is the number of coefficients in a block.
const blockSize = 64

// block is 8x8 coefficients, or samples, in natural order.
type block [blockSize]int32

// Factors of the transform, with 13 fractional bits. The names are the ones of jidctint.c.
const (
	fix0298631336 = 2446
	fix0390180644 = 3196
	fix0541196100 = 4433
	fix0765366865 = 6270
	fix0899976223 = 7373
	fix1175875602 = 9633
	fix1501321110 = 12299
	fix1847759065 = 15137
	fix1961570560 = 16069
	fix2053119869 = 16819
	fix2562915447 = 20995
	fix3072711026 = 25172
)

// idct is the inverse cosine transform that libjpeg-turbo uses by default, JDCT_ISLOW (jidctint.c): Loeffler,
// Ligtenberg and Moschytz 1989. It transforms first columns, with two fractional bits in the results, and
// then rows. The samples equal libjpeg-turbo's because every step is rounded in the same way.
func idct(b *block) {
	const columns, rows = 11, 18 // numbers of fractional bits to remove
	for i := range 8 {
		b[i], b[i+8], b[i+16], b[i+24], b[i+32], b[i+40], b[i+48], b[i+56] = idct8(columns,
			b[i], b[i+8], b[i+16], b[i+24], b[i+32], b[i+40], b[i+48], b[i+56])
	}
	for i := range 8 {
		x := b[8*i : 8*i+8 : 8*i+8]
		x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] = idct8(rows,
			x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])
	}
}

// idct8 transforms 8 numbers and removes the given number of fractional bits.
func idct8(bits uint, x0, x1, x2, x3, x4, x5, x6, x7 int32) (y0, y1, y2, y3, y4, y5, y6, y7 int32) {
	z1 := (x2 + x6) * fix0541196100
	even2 := z1 - x6*fix1847759065
	even3 := z1 + x2*fix0765366865
	half := int32(1) << (bits - 1)
	even0, even1 := (x0+x4)<<13+half, (x0-x4)<<13+half
	sum0, sum3 := even0+even3, even0-even3
	sum1, sum2 := even1+even2, even1-even2

	z1, z2, z3, z4 := x7+x1, x5+x3, x7+x3, x5+x1
	z5 := (z3 + z4) * fix1175875602
	z1, z2 = -z1*fix0899976223, -z2*fix2562915447
	z3, z4 = z5-z3*fix1961570560, z5-z4*fix0390180644
	odd0 := x7*fix0298631336 + z1 + z3
	odd1 := x5*fix2053119869 + z2 + z4
	odd2 := x3*fix3072711026 + z2 + z3
	odd3 := x1*fix1501321110 + z1 + z4

	bits &= 31
	return (sum0 + odd3) >> bits, (sum1 + odd2) >> bits, (sum2 + odd1) >> bits, (sum3 + odd0) >> bits,
		(sum3 - odd0) >> bits, (sum2 - odd1) >> bits, (sum1 - odd2) >> bits, (sum0 - odd3) >> bits
}
