// Weight gradients by tiles. The sum of a frequency is one chain over the tiles of a part
// or, with a kernel of 5 by 5, the sum of several chains. The gradients of a kernel are
// computed from the sums of all frequencies.

// points4 and points5 set t to the values of the polynomial with coefficients y at the points.
FUNCTION void points4(float *t, const float *y) {
	t[0] = y[0];
	t[5] = y[3];
	float even = FMA(0.5625f, y[2], y[0]), odd = FMA(0.5625f, y[3], y[1]);
	t[1] = FMA(0.75f, odd, even);
	t[2] = FMA(-0.75f, odd, even);
	even = FMA(2.25f, y[2], y[0]);
	odd = FMA(2.25f, y[3], y[1]);
	t[3] = FMA(1.5f, odd, even);
	t[4] = FMA(-1.5f, odd, even);
}

FUNCTION void points5(float *t, const float *y) {
	t[0] = y[0];
	t[5] = y[1];
	t[1] = FMA(0.75f, y[1], y[0]);
	t[2] = FMA(-0.75f, y[1], y[0]);
	t[3] = FMA(1.5f, y[1], y[0]);
	t[4] = FMA(-1.5f, y[1], y[0]);
}

// winograd_points4 and winograd_points5 transform the tiles of the gradient of a result. d
// is [frequency][o][tile] for each row.
#define WINOGRAD_POINTS(NAME, SIDE, POINTS) \
	KERNEL NAME(int first, IN float *dy, OUT float *d, IN int *table, int n, int columns, int tiles) { \
		EACH(e, unit, n); \
		IN int *g = table; \
		int o = e / tiles, y = e % tiles / columns * SIDE, c = e % tiles % columns * SIDE; \
		dy += (unit * G_O + o) * G_OH * G_OW; \
		float v[SIDE], t[6], half_way[6 * SIDE]; \
		_Pragma("unroll") for (int j = 0; j < SIDE; j++) { \
			_Pragma("unroll") for (int i = 0; i < SIDE; i++) \
				v[i] = y + i >= G_OH || c + j >= G_OW ? 0.0f : dy[(y + i) * G_OW + c + j]; \
			POINTS(t, v); \
			_Pragma("unroll") for (int i = 0; i < 6; i++) half_way[i * SIDE + j] = t[i]; \
		} \
		d += unit * (long)n * 36 + e; \
		_Pragma("unroll") for (int i = 0; i < 6; i++) { \
			POINTS(t, half_way + i * SIDE); \
			_Pragma("unroll") for (int j = 0; j < 6; j++) d[(long)(i * 6 + j) * n] = t[j]; \
		} \
	}
WINOGRAD_POINTS(winograd_points4, 4, points4)
WINOGRAD_POINTS(winograd_points5, 2, points5)

// channel_uneven reports for every channel of a part whether its largest absolute value is not
// within LEAST and MOST, or is more than an eighth of the sum of all. A channel of zeros is
// even. Absolute values are first added within each row of tiles, which is side lines of x.
KERNEL channel_uneven(int first, IN float *x, OUT int *uneven, IN int *cut, int n, int high, int wide, int side) {
	EACH(c, unit, n);
	float size = 0.0f;
	uint most = 0;
	for (int row = cut[3 * unit + 1]; row < cut[3 * unit + 2]; row++)
		for (int y = 0; y < high; y += side) {
			IN float *v = x + (((long)row * n + c) * high + y) * wide;
			int count = (y + side > high ? high - y : side) * wide;
			float s = 0.0f;
			for (int p = 0; p < count; p++) {
				uint b = BITS(v[p]) & 0x7fffffffu;
				s += FLOAT(b);
				most = b > most ? b : most;
			}
			size += s;
		}
	float m = FLOAT(most);
	uneven[unit * n + c] = !(most == 0 || (m >= LEAST && m <= MOST && 8.0f * m <= size));
}

// gradient_apart reports whether chains compute all gradients of a part: if it has fewer
// than least tiles, if a channel of dy is uneven, or more than a quarter of the channels of x.
KERNEL gradient_apart(int first, IN int *of_x, IN int *of_dy, OUT int *apart, IN int *cut, int n, int in, int out,
	int tiles, int least) {
	EACH(e, unit, n);
	int failed = 0, all = (cut[3 * unit + 2] - cut[3 * unit + 1]) * tiles < least;
	for (int k = 0; k < in; k++)
		failed += of_x[unit * in + k];
	for (int o = 0; o < out; o++)
		all = all || of_dy[unit * out + o];
	apart[unit] = all || failed > in / 4;
}

// elements4 and elements5 compute coefficients of a kernel from the values at the points.
FUNCTION void elements4(double *e, const double *x) {
	double sum = x[1] + x[2], difference = x[1] - x[2], f = factor4(1);
	e[0] = FMA64(f, sum, factor4(0) * x[0]);
	e[1] = f * 0.75 * difference;
	e[2] = FMA64(f * 0.75 * 0.75, sum, x[5]);
	sum = x[3] + x[4];
	difference = x[3] - x[4];
	f = factor4(3);
	e[0] = FMA64(f, sum, e[0]);
	e[1] = FMA64(f * 1.5, difference, e[1]);
	e[2] = FMA64(f * 1.5 * 1.5, sum, e[2]);
}

FUNCTION void elements5(double *e, const double *x) {
	double sum = x[1] + x[2], difference = x[1] - x[2], f = factor4(1);
	e[0] = FMA64(f, sum, factor4(0) * x[0]);
	e[1] = f * 0.75 * difference;
	e[2] = f * 0.75 * 0.75 * sum;
	e[3] = f * 0.75 * 0.75 * 0.75 * difference;
	e[4] = FMA64(f * 0.75 * 0.75 * 0.75 * 0.75, sum, x[5]);
	sum = x[3] + x[4];
	difference = x[3] - x[4];
	f = factor4(3);
	e[0] = FMA64(f, sum, e[0]);
	e[1] = FMA64(f * 1.5, difference, e[1]);
	e[2] = FMA64(f * 1.5 * 1.5, sum, e[2]);
	e[3] = FMA64(f * 1.5 * 1.5 * 1.5, difference, e[3]);
	e[4] = FMA64(f * 1.5 * 1.5 * 1.5 * 1.5, sum, e[4]);
}

// winograd_taps4 and winograd_taps5 compute the gradients of kernel (o, k) of a part in
// float64, columns first. They skip input channels that are uneven.
#define WINOGRAD_TAPS(NAME, WIDTH, ELEMENTS) \
	KERNEL NAME(int first, IN float *sums, OUT float *parts, IN int *apart, IN int *uneven, int n, int in) { \
		EACH(e, unit, n); \
		if (apart[unit] || uneven[unit * in + e % in]) \
			return; \
		sums += unit * (long)n * 36 + e; \
		double x[6], c[WIDTH], half_way[WIDTH * 6]; \
		_Pragma("unroll") for (int j = 0; j < 6; j++) { \
			_Pragma("unroll") for (int i = 0; i < 6; i++) x[i] = (double)sums[(long)(i * 6 + j) * n]; \
			ELEMENTS(c, x); \
			_Pragma("unroll") for (int y = 0; y < WIDTH; y++) half_way[y * 6 + j] = c[y]; \
		} \
		parts += (unit * n + e) * (WIDTH * WIDTH); \
		_Pragma("unroll") for (int y = 0; y < WIDTH; y++) { \
			ELEMENTS(c, half_way + y * 6); \
			_Pragma("unroll") for (int j = 0; j < WIDTH; j++) parts[WIDTH * y + j] = (float)c[j]; \
		} \
	}
WINOGRAD_TAPS(winograd_taps4, 3, elements4)
WINOGRAD_TAPS(winograd_taps5, 5, elements5)

// conv_weights_rest computes, as chains, the gradients that tiles must not compute.
KERNEL conv_weights_rest(int first, IN float *x, IN float *dy, OUT float *parts, IN int *apart, IN int *uneven,
	IN int *cut, IN int *table, int n) {
	EACH(e, unit, n);
	IN int *g = table;
	if (!apart[unit] && !uneven[unit * G_C + e / (G_KH * G_KW) % G_C])
		return;
	parts[unit * n + e] = weight_chain(x, dy, cut + 3 * unit, g, e);
}
