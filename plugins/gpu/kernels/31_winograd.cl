// Convolutions by tiles of SIDE by SIDE outputs (Lavin, Gray 2016). Functions with names
// ending in 4 or 2 have this side and kernels of 3 by 3. Functions with names ending in 5
// have a side of 2 and kernels of 5 by 5. Tiles of 6 by 6 inputs use the points 0, 0.75,
// -0.75, 1.5, -1.5 and infinity, and tiles of 4 by 4 use 0, 1, -1 and infinity. A frequency
// is an index of a transformed tile.
//
// Tiles are numbered phase by phase. A convolution has G_DH by G_DH phases. Phase (py, px)
// is the pixels (py + G_DH * y, px + G_DH * x), with zeros beyond the image.
#define PHASES (G_DH * G_DH)
#define PHASE_H ((G_H + G_DH - 1) / G_DH)
#define PHASE_W ((G_W + G_DH - 1) / G_DH)
#define ROW(phase, y) ((phase) / G_DH + (y) * G_DH) // row of the image
#define COLUMN(phase, x) ((phase) % G_DH + (x) * G_DH)

// into4 and into2 transform a row or column of inputs.
FUNCTION void into4(float *t, const float *d) {
	t[0] = FMA(1.265625f, d[0], FMA(-2.8125f, d[2], d[4]));
	t[5] = FMA(1.265625f, d[1], FMA(-2.8125f, d[3], d[5]));
	float even = FMA(-2.25f, d[2], d[4]), odd = FMA(-2.25f, d[1], d[3]);
	t[1] = FMA(0.75f, odd, even);
	t[2] = FMA(-0.75f, odd, even);
	even = FMA(-0.5625f, d[2], d[4]);
	odd = FMA(-0.5625f, d[1], d[3]);
	t[3] = FMA(1.5f, odd, even);
	t[4] = FMA(-1.5f, odd, even);
}

FUNCTION void into2(float *t, const float *d) {
	t[0] = FMA(-1.0f, d[0], d[2]);
	t[3] = FMA(-1.0f, d[1], d[3]);
	t[1] = FMA(1.0f, d[1], d[2]);
	t[2] = FMA(-1.0f, d[1], d[2]);
}

// back4, back2 and back5 compute a row or column of outputs.
FUNCTION void back4(float *y, const float *m) {
	float a = m[1] + m[2], b = m[1] - m[2], c = m[3] + m[4], d = m[3] - m[4];
	y[0] = FMA(1.0f, c, m[0] + a);
	y[1] = FMA(1.5f, d, 0.75f * b);
	y[2] = FMA(2.25f, c, 0.5625f * a);
	y[3] = FMA(3.375f, d, FMA(0.421875f, b, m[5]));
}

FUNCTION void back2(float *y, const float *m) {
	y[0] = m[0] + (m[1] + m[2]);
	y[1] = FMA(1.0f, m[1] - m[2], m[3]);
}

FUNCTION void back5(float *y, const float *m) {
	y[0] = FMA(1.0f, m[3] + m[4], m[0] + (m[1] + m[2]));
	y[1] = FMA(1.5f, m[3] - m[4], FMA(0.75f, m[1] - m[2], m[5]));
}

// at4, at2 and at5 set t to the values of the polynomial with coefficients x at the points,
// without the factors.
FUNCTION void at4(double *t, const double *x) {
	t[0] = x[0];
	t[5] = x[2];
	double even = FMA64(0.5625, x[2], x[0]), odd = 0.75 * x[1];
	t[1] = even + odd;
	t[2] = even - odd;
	even = FMA64(2.25, x[2], x[0]);
	odd = 1.5 * x[1];
	t[3] = even + odd;
	t[4] = even - odd;
}

FUNCTION void at2(double *t, const double *x) {
	t[0] = x[0];
	t[3] = x[2];
	double even = FMA64(1.0, x[2], x[0]), odd = 1.0 * x[1];
	t[1] = even + odd;
	t[2] = even - odd;
}

FUNCTION void at5(double *t, const double *x) {
	t[0] = x[0];
	t[5] = x[4];
	double even = FMA64(0.5625, FMA64(0.5625, x[4], x[2]), x[0]), odd = 0.75 * FMA64(0.5625, x[3], x[1]);
	t[1] = even + odd;
	t[2] = even - odd;
	even = FMA64(2.25, FMA64(2.25, x[4], x[2]), x[0]);
	odd = 1.5 * FMA64(2.25, x[3], x[1]);
	t[3] = even + odd;
	t[4] = even - odd;
}

// factor4 and factor2 return the factor of point i, for tiles of 6 by 6 and of 4 by 4. It is
// one over the product of its differences from the other points.
FUNCTION double factor4(int i) {
	switch (i) {
	case 0: return 1.0 / (1.0 * -0.75 * 0.75 * -1.5 * 1.5);
	case 1: return 1.0 / (1.0 * 0.75 * 1.5 * -0.75 * 2.25);
	case 2: return 1.0 / (1.0 * -0.75 * -1.5 * -2.25 * 0.75);
	case 3: return 1.0 / (1.0 * 1.5 * 0.75 * 2.25 * 3.0);
	case 4: return 1.0 / (1.0 * -1.5 * -2.25 * -0.75 * -3.0);
	}
	return 1.0;
}

FUNCTION double factor2(int i) {
	switch (i) {
	case 0: return 1.0 / (1.0 * -1.0 * 1.0);
	case 1: return 1.0 / (1.0 * 1.0 * 2.0);
	case 2: return 1.0 / (1.0 * -1.0 * -2.0);
	}
	return 1.0;
}

// TAP is the weight of tap t, input channel k and output channel o.
#define TAP(t) ((double)w[G_BASE + o * G_STEP_O + k * G_STEP_K + (t) * G_STEP_T])

// winograd_weights4, winograd_weights2 and winograd_weights5 transform the kernel of input
// channel k and output channel o in float64. u is [frequency][k][o], and e is k * G_O + o.
#define WINOGRAD_WEIGHTS(NAME, SIDE_IN, WIDTH, AT, FACTOR) \
	KERNEL NAME(int first, IN float *w, OUT float *u, IN int *table, int n) { \
		EACH(e, unit, n); \
		IN int *g = table; \
		int k = e / G_O, o = e % G_O; \
		double half_way[WIDTH * SIDE_IN], x[WIDTH], t[SIDE_IN]; \
		_Pragma("unroll") for (int j = 0; j < WIDTH; j++) { \
			_Pragma("unroll") for (int i = 0; i < WIDTH; i++) x[i] = TAP(i * WIDTH + j); \
			AT(half_way + j * SIDE_IN, x); \
		} \
		_Pragma("unroll") for (int i = 0; i < SIDE_IN; i++) { \
			_Pragma("unroll") for (int j = 0; j < WIDTH; j++) x[j] = half_way[j * SIDE_IN + i]; \
			AT(t, x); \
			_Pragma("unroll") for (int j = 0; j < SIDE_IN; j++) \
				u[(i * SIDE_IN + j) * n + e] = (float)(t[j] * (FACTOR(i) * FACTOR(j))); \
		} \
	}
WINOGRAD_WEIGHTS(winograd_weights4, 6, 3, at4, factor4)
WINOGRAD_WEIGHTS(winograd_weights2, 4, 3, at2, factor2)
WINOGRAD_WEIGHTS(winograd_weights5, 6, 5, at5, factor4)

// Tiles are used if the largest absolute value is within these bounds.
#define LEAST 0x1p-50f
#define MOST 0x1p50f

// winograd_even reports for every output channel whether its largest absolute weight is 0, or is
// within LEAST and MOST and at most four times the sum of the absolute weights of each tap.
KERNEL winograd_even(int first, IN float *w, OUT int *even, IN int *table, int n) {
	EACH(o, unit, n);
	IN int *g = table;
	uint most = 0;
	float least = 0.0f;
	for (int t = 0; t < G_KH * G_KW; t++) {
		float size = 0.0f;
		LOOP (int k = 0; k < G_C; k++) {
			uint v = BITS(w[G_BASE + o * G_STEP_O + k * G_STEP_K + t * G_STEP_T]) & 0x7fffffffu;
			size += FLOAT(v);
			most = v > most ? v : most;
		}
		least = t == 0 || !(size >= least) ? size : least;
	}
	float m = FLOAT(most);
	even[o] = most == 0 || (m >= LEAST && m <= MOST && least >= 0.25f * m);
}

// winograd_apart reports whether one of the channels is not even.
KERNEL winograd_apart(int first, IN int *even, OUT int *apart, int n, int channels) {
	EACH(e, unit, n);
	int a = 0;
	for (int o = 0; o < channels; o++)
		if (!even[o])
			a = 1;
	apart[0] = a;
}

// Blocks of two by two pixels begin at odd rows, or at even rows with a kernel of 5 by 5.
// BLOCKS is the number of blocks along n rows. block_at returns the first row of block b.
#define ODD (G_KH / 2 % 2)
#define BLOCKS(n) (((n) + ODD + 1) / 2)
FUNCTION int block_at(IN int *g, int b, int n) {
	int at = b == 0 ? 0 : 2 * b - ODD;
	return at > n - 2 ? n - 2 : at;
}

// winograd_blocks computes the sum and the largest of the absolute values of every block of
// a phase. The first pixel of a block is always inside the image. There are sixteen lanes,
// and one half of them is added to the other until one sum is left.
KERNEL winograd_blocks(int first, IN float *x, OUT float *sums, OUT uint *most, IN int *table, int n) {
	EACH(e, unit, n);
	IN int *g = table;
	int wide = BLOCKS(PHASE_W), all = BLOCKS(PHASE_H) * wide, q = e / all;
	int y = ROW(q, block_at(g, e % all / wide, PHASE_H)), c = COLUMN(q, block_at(g, e % all % wide, PHASE_W));
	int below = y + G_DH < G_H, beside = c + G_DH < G_W;
	x += unit * (G_C * G_H * G_W);
	uint top = 0;
	float lane[16];
	_Pragma("unroll") for (int i = 0; i < 16; i++) {
		lane[i] = 0.0f;
		for (int p = 0; p <= beside; p++)
			for (int k = i; k < G_C; k += 16) {
				IN float *v = x + (k * G_H + y) * G_W + c + p * G_DH;
				uint a = BITS(v[0]) & 0x7fffffffu, b = below ? BITS(v[G_DH * G_W]) & 0x7fffffffu : 0;
				lane[i] += FLOAT(a);
				lane[i] += FLOAT(b);
				top = a > top ? a : top;
				top = b > top ? b : top;
			}
	}
	_Pragma("unroll") for (int i = 0; i < 8; i++) lane[i] += lane[i + 8];
	_Pragma("unroll") for (int i = 0; i < 4; i++) lane[i] += lane[i + 4];
	sums[unit * n + e] = (lane[0] + lane[2]) + (lane[1] + lane[3]);
	most[unit * n + e] = top;
}

// winograd_suspects reports for every tile whether its values differ too much. They do not if
// the largest absolute value is 0, or if it is within LEAST and MOST and the sum of each block
// of the tile is at least as large. With a kernel of 5 by 5 this is required only of the block
// at the tile's outputs.
KERNEL winograd_suspects(int first, IN float *sums, IN uint *most, OUT int *suspect, IN int *table, int n,
	int side, int columns) {
	EACH(e, unit, n);
	IN int *g = table;
	int per = side / 2, wide = BLOCKS(PHASE_W), high = BLOCKS(PHASE_H), all = n / PHASES, q = e / all;
	int y = e % all / columns * per, x = e % all % columns * per;
	int y0 = ODD || y == 0 ? y : y - 1, x0 = ODD || x == 0 ? x : x - 1;
	int y1 = y + per + 1 > high ? high : y + per + 1, x1 = x + per + 1 > wide ? wide : x + per + 1;
	sums += (unit * PHASES + q) * (wide * high);
	most += (unit * PHASES + q) * (wide * high);
	uint top = 0;
	for (int i = y0; i < y1; i++)
		for (int j = x0; j < x1; j++)
			top = most[i * wide + j] > top ? most[i * wide + j] : top;
	float largest = FLOAT(top);
	int even = largest >= LEAST && largest <= MOST;
	for (int i = y; i < (ODD ? y1 : y + 1); i++)
		for (int j = x; j < (ODD ? x1 : x + 1); j++)
			even = even && sums[i * wide + j] >= largest;
	suspect[unit * n + e] = top != 0 && !even;
}

// winograd_input4, winograd_input2 and winograd_input5 transform the tiles of a row. v is
// [frequency][k][tile] for each row.
#define WINOGRAD_INPUT(NAME, SIDE, TILE, INTO) \
	KERNEL NAME(int first, IN float *x, OUT float *v, IN int *apart, IN int *table, int n, int columns, \
		int tiles) { \
		EACH(e, unit, n); \
		if (apart[0]) \
			return; \
		IN int *g = table; \
		int k = e / tiles, all = tiles / PHASES, q = e % tiles / all, at = e % tiles % all; \
		int y = at / columns * SIDE - (TILE - SIDE) / 2, c = at % columns * SIDE - (TILE - SIDE) / 2; \
		x += unit * (G_C * G_H * G_W) + k * G_H * G_W; \
		float d[TILE], half_way[TILE * TILE]; \
		float t[TILE]; \
		_Pragma("unroll") for (int j = 0; j < TILE; j++) { \
			int right = COLUMN(q, c + j); \
			_Pragma("unroll") for (int i = 0; i < TILE; i++) { \
				int below = ROW(q, y + i); \
				d[i] = below < 0 || below >= G_H || right < 0 || right >= G_W ? 0.0f : x[below * G_W + right]; \
			} \
			INTO(t, d); \
			_Pragma("unroll") for (int i = 0; i < TILE; i++) half_way[i * TILE + j] = t[i]; \
		} \
		v += unit * (long)n * (TILE * TILE) + e; \
		_Pragma("unroll") for (int i = 0; i < TILE; i++) { \
			INTO(t, half_way + i * TILE); \
			_Pragma("unroll") for (int j = 0; j < TILE; j++) v[(long)(i * TILE + j) * n] = t[j]; \
		} \
	}
WINOGRAD_INPUT(winograd_input4, 4, 6, into4)
WINOGRAD_INPUT(winograd_input2, 2, 4, into2)
WINOGRAD_INPUT(winograd_input5, 2, 6, into4)

// winograd_output4, winograd_output2 and winograd_output5 compute the outputs of a tile,
// unless it is a suspect. A thread keeps its outputs in local memory, so that the loop with the
// epilogue need not be unrolled.
#define WINOGRAD_OUTPUT(NAME, SIDE, TILE, BACK) \
	KERNEL NAME(int first, IN float *m, IN float *bias, OUT float *y, IN int *apart, IN int *suspect, \
		IN int *table, int n, int columns, int tiles, int biased, EPILOGUE) { \
		local float mine[SIDE * SIDE * SIZE]; \
		EACH(e, unit, n); \
		epilogue last = GIVEN; \
		if (apart[0] || suspect[unit * tiles + e % tiles]) \
			return; \
		IN int *g = table; \
		int o = e / tiles, all = tiles / PHASES, phase = e % tiles / all, tile = e % tiles % all; \
		int top = tile / columns * SIDE, left = tile % columns * SIDE; \
		m += unit * (long)n * (TILE * TILE) + e; \
		float d[TILE], t[SIDE], half_way[SIDE * TILE]; \
		_Pragma("unroll") for (int i = 0; i < TILE; i++) { \
			_Pragma("unroll") for (int j = 0; j < TILE; j++) d[j] = m[(long)(i * TILE + j) * n]; \
			BACK(t, d); \
			_Pragma("unroll") for (int x = 0; x < SIDE; x++) half_way[x * TILE + i] = t[x]; \
		} \
		float b = biased ? bias[o] : 0.0f; \
		_Pragma("unroll") for (int x = 0; x < SIDE; x++) { \
			BACK(t, half_way + x * TILE); \
			_Pragma("unroll") for (int i = 0; i < SIDE; i++) mine[(i * SIDE + x) * SIZE + THREAD()] = t[i] + b; \
		} \
		LOOP (int i = 0; i < SIDE * SIDE; i++) { \
			int below = ROW(phase, top + i / SIDE), right = COLUMN(phase, left + i % SIDE); \
			int at = (o * G_OH + below) * G_OW + right; \
			if (below < G_OH && right < G_OW) \
				y[unit * (G_O * G_OH * G_OW) + at] = finished(last, 0, mine[i * SIZE + THREAD()], (int)unit, at); \
		} \
	}
WINOGRAD_OUTPUT(winograd_output4, 4, 6, back4)
WINOGRAD_OUTPUT(winograd_output2, 2, 4, back2)
WINOGRAD_OUTPUT(winograd_output5, 2, 6, back5)

// winograd_direct computes by windows the outputs that tiles must not compute: all of them
// if the weights are not even, otherwise the outputs of suspects.
KERNEL winograd_direct(int first, IN float *x, IN float *w, IN float *bias, OUT float *y, IN int *apart,
	IN int *suspect, IN int *table, int n, int side, int columns, int tiles, int biased, EPILOGUE) {
	EACH(e, unit, n);
	IN int *g = table;
	epilogue last = GIVEN;
	int position = e % (G_OH * G_OW), oy = position / G_OW, ox = position % G_OW;
	int phase = oy % G_DH * G_DH + ox % G_DH, tile = oy / G_DH / side * columns + ox / G_DH / side;
	if (!apart[0] && !suspect[unit * tiles + phase * (tiles / PHASES) + tile])
		return;
	float v = convolved(x + unit * (G_C * G_H * G_W), w, bias, biased, g, e / (G_OH * G_OW), oy, ox);
	y[unit * n + e] = finished(last, 0, v, (int)unit, e);
}
