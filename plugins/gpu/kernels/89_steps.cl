// stepped is v, in steps of a result, as a byte: rounded, halves to the even number, moved by zero and
// bounded; NaN is zero. Beyond 512 steps every zero leaves the bounds, and up to there 1.5 * 2^23 leaves a
// sum no room for fractions.
FUNCTION uchar stepped(float v, int zero, int least, int most) {
	if (v != v)
		return (uchar)zero;
	v = v > 512.0f ? 512.0f : v < -512.0f ? -512.0f : v;
	int q = (int)((v + 0x1.8p23f) - 0x1.8p23f) + zero;
	return (uchar)(q < least ? least : q > most ? most : q);
}
