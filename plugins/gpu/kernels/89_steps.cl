// stepped returns the byte of v, a number of steps: v is rounded with halves to even, zero is
// added, and the sum is limited to [least, most]. The byte of NaN is zero. v can be limited to
// 512 steps first, because beyond them the sum exceeds the bounds with every zero. Up to 512,
// adding 1.5 * 2^23 rounds to an integer.
FUNCTION uchar stepped(float v, int zero, int least, int most) {
	if (v != v)
		return (uchar)zero;
	v = v > 512.0f ? 512.0f : v < -512.0f ? -512.0f : v;
	int q = (int)((v + 0x1.8p23f) - 0x1.8p23f) + zero;
	return (uchar)(q < least ? least : q > most ? most : q);
}
