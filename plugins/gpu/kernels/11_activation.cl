// The float32 functions of package class, with the same operations in the same order. POWER
// multiplies by 2^n by adding n to the exponent: after x + ROUND, which rounds x to the
// integer n, the last bits of the sum are n.
#define LOG2E 0x1.715476p+0f
#define LN2_HI 0x1.62e4p-1f
#define LN2_LO 0x1.7f7d1cp-20f
#define LN2 0x1.62e43p-1f
#define ROUND 0x1.8p23f
#define SIGMOID_SCALE 0x1p-64f
#define EXP_LEAST -104.0f
#define EXP_MOST 89.0f
#define EXPM1_LEAST -20.0f
#define THIRD_BITS 0x3f2aaaabu
#define TANH_NEAR 0.55f
#define SQRT2 0x1.6a09e6p+0f
#define GELU_SCALE 0x1.988454p-1f
#define GELU_CUBE 0x1.6e4e26p-5f
#define GELU_SLOPE 0x1.b6676cp-4f
#define GELU_DENSITY 0x1.988454p-2f
#define GELU_MOST 16.0f
#define MISH_MOST 20.0f
#define ERF_SLOPE 0x1.20dd76p+0f
#define SIGNED(v, x) FLOAT(BITS(ABS(v)) | (BITS(x) & 0x80000000u))
#define POWER(bits, by) FLOAT((BITS(bits) << 23) + BITS(by))

// least and most bound x from above and from below. They keep NaN and the sign of zero.
FUNCTION float least(float x, float bound) { return x > bound ? bound : x; }

FUNCTION float most(float x, float bound) { return x < bound ? bound : x; }

// exp_part returns r with x = n*log(2) + r, for an integer n, and sets bits to ROUND + n.
FUNCTION float exp_part(float x, float *bits) {
	*bits = FMA(x, LOG2E, ROUND);
	float n = *bits - ROUND;
	return FMA(n, -LN2_LO, FMA(n, -LN2_HI, x));
}

FUNCTION float exp_series(float r) {
	float s = FMA(0x1.6b9a9cp-10f, r, 0x1.12257ap-07f);
	s = FMA(s, r, 0x1.5556f4p-05f);
	s = FMA(s, r, 0x1.5554b4p-03f);
	return FMA(s, r, 0x1.fffffep-02f);
}

FUNCTION float near_exp(float r) { return FMA(r * r, exp_series(r), r); }

FUNCTION float exp32(float x) {
	float bits, r = exp_part(least(most(x, EXP_LEAST), EXP_MOST), &bits);
	float p = FMA(r, FMA(r, exp_series(r), 1.0f), 1.0f);
	float some = FLOAT((uint)((int)BITS(bits) >> 1));
	return p * POWER(some, 1.0f) * FLOAT(((BITS(bits) - BITS(some)) << 23) + BITS(1.0f));
}

FUNCTION float expm1_32(float x) {
	float bits, r = exp_part(most(x, EXPM1_LEAST), &bits);
	float power = POWER(bits, 1.0f), m = FMA(near_exp(r), power, power - 1.0f);
	return x != x ? x : SIGNED(m, x);
}

FUNCTION float near_log(float f) {
	float s = FMA(-0x1.07c07ep-03f, f, 0x1.1e73d6p-03f);
	s = FMA(s, f, -0x1.f33254p-04f);
	s = FMA(s, f, 0x1.1ed42p-03f);
	s = FMA(s, f, -0x1.559c8ap-03f);
	s = FMA(s, f, 0x1.99d05ep-03f);
	s = FMA(s, f, -0x1.fffef8p-03f);
	s = FMA(s, f, 0x1.555506p-02f);
	s = FMA(s, f, -0x1p-01f);
	return FMA(f * f, s, f);
}

FUNCTION float log32(float x) {
	if (!(x >= 0.0f))
		return FLOAT(0x7fc00000u);
	if (x == 0.0f)
		return FLOAT(0xff800000u);
	if (BITS(x) == 0x7f800000u)
		return x;
	float n = 0.0f, v = x;
	if (x < 0x1p-126f) {
		v = x * 0x1p23f;
		n = -23.0f;
	}
	int power = (int)(BITS(v) - THIRD_BITS) >> 23;
	float f = FLOAT(BITS(v) - ((uint)power << 23)) - 1.0f;
	return FMA(n + (float)power, LN2, near_log(f));
}

FUNCTION float tail32(float x) {
	float bits, r = exp_part(least(x, -EXP_LEAST), &bits);
	float power = POWER(bits, SIGMOID_SCALE), sum = power + SIGMOID_SCALE;
	return DIV(SIGMOID_SCALE, sum + FMA(near_exp(r), power, SIGMOID_SCALE - (sum - power)));
}

FUNCTION float sigmoid32(float x) {
	float s = tail32(ABS(x));
	return x < 0.0f ? s : 1.0f - s;
}

FUNCTION float tanh32(float x) {
	float a = ABS(x);
	if (a < TANH_NEAR) {
		float s = a * a, t = FMA(-0x1.996076p-08f, s, 0x1.58ed5p-06f);
		t = FMA(t, s, -0x1.b91f28p-05f);
		t = FMA(t, s, 0x1.110cfp-03f);
		t = FMA(t, s, -0x1.55554ap-02f);
		return SIGNED(FMA(a, s * t, a), x);
	}
	return SIGNED(FMA(tail32(2.0f * a), -2.0f, 1.0f), x);
}

FUNCTION float softplus32(float x) {
	float z = exp32(-ABS(x)), y;
	if (z > 0x1.555556p-2f)
		y = LN2 + near_log(FMA(z, 0.5f, -0.5f));
	else
		y = near_log(z);
	return (x < 0.0f ? 0.0f : x) + y;
}

FUNCTION float erf32(float x) {
	float a = ABS(x);
	if (a < 1.0f) {
		float s = x * x, t = FMA(0x1.4771fcp-14f, s, -0x1.a3515ep-11f);
		t = FMA(t, s, 0x1.53f224p-08f);
		t = FMA(t, s, -0x1.b7f71ap-06f);
		t = FMA(t, s, 0x1.ce2ce6p-04f);
		t = FMA(t, s, -0x1.81273ep-02f);
		t = FMA(t, s, 0x1.06eba8p-03f);
		return FMA(x, t, x);
	}
	float b = least(a, 4.0f), q = FMA(-0x1.86e0a2p-13f, b, 0x1.825c5ap-09f);
	q = FMA(q, b, -0x1.65cc02p-06f);
	q = FMA(q, b, 0x1.a65384p-04f);
	q = FMA(q, b, 0x1.46bae2p-01f);
	q = FMA(q, b, 0x1.2088eep+00f);
	q = FMA(q, b, 0x1.660e08p-12f);
	return x != x ? x : SIGNED(1.0f - exp32(-q), x);
}

// gelu_inner returns the argument of tanh in the form of GELU with tanh.
FUNCTION float gelu_inner(float x) { return GELU_SCALE * (x + GELU_CUBE * (x * x * x)); }

FUNCTION float gelu_derivative(float x) {
	float b = least(most(x, -GELU_MOST), GELU_MOST), density = exp32(-0.5f * (b * b));
	return FMA(GELU_DENSITY * b, density, FMA(0.5f, erf32(DIV(b, SQRT2)), 0.5f));
}

FUNCTION float gelu_tanh_derivative(float x) {
	float b = least(most(x, -GELU_MOST), GELU_MOST), t = tanh32(gelu_inner(b));
	float inner = FMA(b * b, GELU_SLOPE, GELU_SCALE);
	return FMA(0.5f * b * FMA(-t, t, 1.0f), inner, FMA(0.5f, t, 0.5f));
}

FUNCTION float mish_derivative(float x) {
	float b = least(most(x, EXP_LEAST), MISH_MOST), n = exp32(b);
	float m = n * (n + 2.0f), under = m + 2.0f, slope = 4.0f * b * n * (n + 1.0f);
	return DIV(FMA(slope, DIV(1.0f, under), m), under);
}

FUNCTION float hard_sigmoid32(float x, float a, float b) { return least(most(a * x + b, 0.0f), 1.0f); }

// function32 is class.Activation32. Package gpu defines the numbers of the functions.
FUNCTION float function32(int op, float x, float a, float b) {
	switch (op) {
	case 52: return x >= 0.0f ? x : a * x;
	case 53: return x > 0.0f ? x : a * expm1_32(x);
	case 54: return sigmoid32(x);
	case 55: return hard_sigmoid32(x, a, b);
	case 56: return x * sigmoid32(x);
	case 57: return x * hard_sigmoid32(x, a, b);
	case 58: return tanh32(x);
	case 59: return softplus32(x);
	case 180: return erf32(x);
	case 181: return a * x * (1.0f + erf32(DIV(x, SQRT2))) * b;
	case 182: return a * x * (1.0f + tanh32(gelu_inner(x))) * b;
	case 183: return x * tanh32(softplus32(x));
	case 84: return exp32(x);
	case 85: return log32(x);
	case 86: return (float)SQRT64((double)x);
	case 87: return a * x + b;
	case 165: return (float)round_of((double)x, (int)a);
	}
	return least(most(x, a), b); // 50, 51 and 88
}

// derivative32 is class.Derivative32.
FUNCTION float derivative32(int op, float x, float a, float b) {
	float s;
	switch (op) {
	case 52: return x >= 0.0f ? 1.0f : a;
	case 53: return x >= 0.0f ? 1.0f : a * exp32(x);
	case 54: return x * (1.0f - x);
	case 55: s = a * x + b; return s >= 0.0f && s < 1.0f ? a : 0.0f;
	case 56: s = sigmoid32(x); return s * FMA(x, 1.0f - s, 1.0f);
	case 57: s = a * x + b; return s < 0.0f ? 0.0f : s >= 1.0f ? 1.0f : s + a * x;
	case 58: return FMA(-x, x, 1.0f);
	case 59: return sigmoid32(x);
	case 180: return ERF_SLOPE * exp32(-(x * x));
	case 181: return gelu_derivative(x);
	case 182: return gelu_tanh_derivative(x);
	case 183: return mish_derivative(x);
	}
	return x >= a && x < b ? 1.0f : 0.0f; // 88
}
