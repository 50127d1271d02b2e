// The functions of package tensor, with the same operations in the same order.

// greater and lesser are Go's max and min: with a NaN the result is NaN, and +0 is above -0.
FUNCTION double greater(double a, double b) {
	if (a != a || b != b)
		return DOUBLE(0x7ff8000000000001UL);
	if (a == b)
		return BITS64(a) >> 63 ? b : a;
	return a > b ? a : b;
}

FUNCTION double lesser(double a, double b) {
	if (a != a || b != b)
		return DOUBLE(0x7ff8000000000001UL);
	if (a == b)
		return BITS64(a) >> 63 ? a : b;
	return a < b ? a : b;
}

// power_of_two returns 2^k, which must be a normal number.
FUNCTION double power_of_two(int k) { return DOUBLE((ulong)(k + 1023) << 52); }

// scale returns x * 2^k for |x| <= 2, rounded once.
FUNCTION double scale(double x, int k) {
	if (k > 1023)
		return x * 2.0 * DOUBLE(2046UL << 52);
	if (k < -1022)
		return x * power_of_two(k + 64) * 0x1p-64;
	return x * power_of_two(k);
}

// exp_parts returns p and sets k so that e^x = 2^k * (1 + p).
FUNCTION double exp_parts(double x, int *k) {
	double n = FLOOR64(x * 1.44269504088896340736 + 0.5);
	double hi = x - n * 6.93147180369123816490e-01, lo = n * 1.90821492927058770002e-10;
	double r = hi - lo;
	double low = (hi - r) - lo;
	double s = 0.0;
	s = s * r + 1.0 / 6227020800.0;
	s = s * r + 1.0 / 479001600.0;
	s = s * r + 1.0 / 39916800.0;
	s = s * r + 1.0 / 3628800.0;
	s = s * r + 1.0 / 362880.0;
	s = s * r + 1.0 / 40320.0;
	s = s * r + 1.0 / 5040.0;
	s = s * r + 1.0 / 720.0;
	s = s * r + 1.0 / 120.0;
	s = s * r + 1.0 / 24.0;
	s = s * r + 1.0 / 6.0;
	s = s * r + 1.0 / 2.0;
	*k = (int)n;
	return r + ((r * r) * s + low);
}

FUNCTION double exp_of(double x) {
	if (x != x || x > 709.782712893384)
		return x * DOUBLE(0x7ff0000000000000UL);
	if (x < -745.1332191019412)
		return 0.0;
	int k;
	double p = exp_parts(x, &k);
	return scale(1.0 + p, k);
}

FUNCTION double log_of(double x) {
	if (x != x || x < 0.0)
		return DOUBLE(0x7ff8000000000001UL);
	if (x == 0.0)
		return DOUBLE(0xfff0000000000000UL);
	if (BITS64(x) == 0x7ff0000000000000UL)
		return x;
	int e = 0;
	if (x < 0x1p-1022) {
		x *= 0x1p52;
		e = -52;
	}
	e += (int)(BITS64(x) >> 52) - 1022;
	double m = DOUBLE((BITS64(x) & 0x000fffffffffffffUL) | 0x3fe0000000000000UL);
	if (m < 0.70710678118654752440) {
		m = 2.0 * m;
		e--;
	}
	double f = m - 1.0;
	double s = f / (2.0 + f);
	double z = s * s;
	double h = 0.0;
	h = h * z + 2.0 / 25.0;
	h = h * z + 2.0 / 23.0;
	h = h * z + 2.0 / 21.0;
	h = h * z + 2.0 / 19.0;
	h = h * z + 2.0 / 17.0;
	h = h * z + 2.0 / 15.0;
	h = h * z + 2.0 / 13.0;
	h = h * z + 2.0 / 11.0;
	h = h * z + 2.0 / 9.0;
	h = h * z + 2.0 / 7.0;
	h = h * z + 2.0 / 5.0;
	h = h * z + 2.0 / 3.0;
	double half_square = 0.5 * (f * f);
	double rest = s * (half_square + z * h);
	double k = (double)e;
	return k * 6.93147180369123816490e-01 - ((half_square - (rest + k * 1.90821492927058770002e-10)) - f);
}

FUNCTION double tanh_of(double x) {
	if (ABS64(x) > 20.0)
		return x > 0.0 ? 1.0 : -1.0;
	int k;
	double p = exp_parts(2.0 * x, &k);
	double m = (scale(1.0, k) - 1.0) + scale(p, k);
	return m / (m + 2.0);
}

FUNCTION double sigmoid(double x) { return 1.0 / (1.0 + exp_of(-x)); }

// expm1_of returns e^x - 1 without cancellation near 0 (Higham 2002, 1.14.1).
FUNCTION double expm1_of(double x) {
	double u = exp_of(x);
	if (u == 1.0)
		return x;
	if (u - 1.0 == -1.0 || BITS64(u) == 0x7ff0000000000000UL)
		return u - 1.0;
	return (u - 1.0) * x / log_of(u);
}

FUNCTION double log1p_of(double x) {
	double u = 1.0 + x;
	if (u == 1.0)
		return x;
	return log_of(u) * x / (u - 1.0);
}

// log_parts returns the logarithm of a number above 0 and sets low to its rounding error.
FUNCTION double log_parts(double x, double *low) {
	int e = 0;
	if (x < 0x1p-1022) {
		x *= 0x1p52;
		e = -52;
	}
	e += (int)(BITS64(x) >> 52) - 1022;
	double m = DOUBLE((BITS64(x) & 0x000fffffffffffffUL) | 0x3fe0000000000000UL);
	if (m < 0.70710678118654752440) {
		m = 2.0 * m;
		e--;
	}
	double f = m - 1.0, t = 2.0 + f, t_low = f - (t - 2.0);
	double s = f / t;
	double s_low = (FMA64(-s, t, f) - s * t_low) / t;
	double z = s * s;
	double z_low = FMA64(s, s, -z) + 2.0 * s * s_low;
	double third = z / 3.0;
	double third_low = FMA64(-3.0, third, z) / 3.0 + z_low / 3.0;
	double h = 0.0;
	h = h * z + 1.0 / 27.0;
	h = h * z + 1.0 / 25.0;
	h = h * z + 1.0 / 23.0;
	h = h * z + 1.0 / 21.0;
	h = h * z + 1.0 / 19.0;
	h = h * z + 1.0 / 17.0;
	h = h * z + 1.0 / 15.0;
	h = h * z + 1.0 / 13.0;
	h = h * z + 1.0 / 11.0;
	h = h * z + 1.0 / 9.0;
	h = h * z + 1.0 / 7.0;
	h = h * z + 1.0 / 5.0;
	double rest = z * z * h;
	double w = third + rest;
	double w_low = (third - w) + rest + third_low;
	s = 2.0 * s;
	s_low = 2.0 * s_low;
	double p = s * w;
	double p_low = FMA64(s, w, -p) + s * w_low + s_low * w;
	double a = s + p;
	double a_low = (s - a) + p + (s_low + p_low);
	double k = (double)e, whole = k * 6.93147180369123816490e-01;
	double high = whole + a;
	*low = (whole - high) + a + (k * 1.90821492927058770002e-10 + a_low);
	return high;
}

// exp_of_parts returns e^(x + low).
FUNCTION double exp_of_parts(double x, double low) {
	double n = FLOOR64(x * 1.44269504088896340736 + 0.5);
	double high = x - n * 6.93147180369123816490e-01;
	low -= n * 1.90821492927058770002e-10;
	double r = high + low;
	double r_low = (high - r) + low;
	double one = 1.0 + r;
	double lost = (1.0 - one) + r;
	double s = 0.0;
	s = s * r + 1.0 / 6227020800.0;
	s = s * r + 1.0 / 479001600.0;
	s = s * r + 1.0 / 39916800.0;
	s = s * r + 1.0 / 3628800.0;
	s = s * r + 1.0 / 362880.0;
	s = s * r + 1.0 / 40320.0;
	s = s * r + 1.0 / 5040.0;
	s = s * r + 1.0 / 720.0;
	s = s * r + 1.0 / 120.0;
	s = s * r + 1.0 / 24.0;
	s = s * r + 1.0 / 6.0;
	s = s * r + 1.0 / 2.0;
	return scale(one + (lost + (r * r * s + r_low)), (int)n);
}

// power_of returns x^y for x >= 0. Neither x nor y is NaN.
FUNCTION double power_of(double x, double y) {
	double infinite = DOUBLE(0x7ff0000000000000UL), low;
	bool grows = y > 0.0;
	if (x == 0.0 || x == infinite)
		return (x == 0.0) == grows ? 0.0 : infinite;
	if (x == 1.0)
		return 1.0;
	if (ABS64(y) == infinite)
		return (x < 1.0) == grows ? 0.0 : infinite;
	double high = log_parts(x, &low);
	double p = y * high;
	if (p > 710.0)
		return infinite;
	if (p < -746.0)
		return 0.0;
	return exp_of_parts(p, FMA64(y, high, -p) + y * low);
}

// pow_of is tensor.Pow.
FUNCTION double pow_of(double x, double y) {
	double infinite = DOUBLE(0x7ff0000000000000UL);
	bool whole = y == FLOOR64(y);
	bool odd = whole && ABS64(y) < 0x1p53 && 2.0 * FLOOR64(0.5 * y) != y;
	if (y == 0.0 || x == 1.0)
		return 1.0;
	if (x != x || y != y || (x < 0.0 && !whole && x != -infinite))
		return DOUBLE(0x7ff8000000000001UL);
	double p = power_of(ABS64(x), y);
	return odd && BITS64(x) >> 63 ? -p : p;
}

// round_of rounds x to an integer: to nearest with halves to even (mode 0), down (1) or up (2).
FUNCTION double round_of(double x, int mode) {
	double size = ABS64(x);
	if (mode == 1)
		return FLOOR64(x);
	if (mode == 2)
		return -FLOOR64(-x);
	if (!(size < 0x1p52))
		return x;
	size = (size + 0x1p52) - 0x1p52;
	return BITS64(x) >> 63 ? -size : size;
}
