// Operations on bytes (docs/int8.md). Sums of integers are exact in any order. Each product,
// quotient and sum in float32 is rounded separately.

KERNEL quantize(int first, IN float *x, OUT uchar *y, int n, double scale, int zero, int least, int most) {
	EACH(e, unit, n);
	y[unit * n + e] = stepped(DIV(x[unit * n + e], (float)scale), zero, least, most);
}

KERNEL dequantize(int first, IN uchar *x, OUT float *y, int n, double scale, int zero) {
	EACH(e, unit, n);
	y[unit * n + e] = (float)scale * (float)((int)x[unit * n + e] - zero);
}

// add_int8 adds scaled bytes. With joint it computes fma(a, a_by, fma(b, b_by, at)).
KERNEL add_int8(int first, IN uchar *a, IN uchar *b, OUT uchar *y, int n, double a_by, double b_by, double at,
	int joint, int a_zero, int b_zero, int zero, int least, int most) {
	EACH(e, unit, n);
	float t = (float)((int)a[unit * n + e] - a_zero), u = (float)((int)b[unit * n + e] - b_zero), s;
	if (joint) {
		s = FMA(u, (float)b_by, (float)at);
		s = FMA(t, (float)a_by, s);
	} else {
		t = t * (float)a_by;
		u = u * (float)b_by;
		s = t + u;
	}
	y[unit * n + e] = stepped(s, zero, least, most);
}

// mul_int8 multiplies bytes. Each number of b is multiplied by several consecutive numbers of a.
KERNEL mul_int8(int first, IN uchar *a, IN uchar *b, OUT uchar *y, int n, int several, double by, double at,
	int a_zero, int b_zero, int zero, int least, int most) {
	EACH(e, unit, n);
	int u = (int)a[unit * n + e] - a_zero, v = (int)b[unit * (n / several) + e / several] - b_zero;
	float product = (float)(u * v) * (float)by;
	y[unit * n + e] = stepped(product + (float)at, zero, least, most);
}

KERNEL table_int8(int first, IN uchar *x, IN uchar *table, OUT uchar *y, int n) {
	EACH(e, unit, n);
	y[unit * n + e] = table[x[unit * n + e]];
}

KERNEL max_pool_int8(int first, IN uchar *x, OUT uchar *y, IN int *table, int n, int count_x) {
	EACH(e, unit, n);
	IN int *g = table;
	int p = e % (G_OH * G_OW), y0 = p / G_OW * G_SH - G_TOP, x0 = p % G_OW * G_SW - G_LEFT;
	uchar best = 0;
	x += unit * count_x + e / (G_OH * G_OW) * G_H * G_W;
	for (int i = 0; i < G_KH; i++)
		for (int j = 0; j < G_KW; j++) {
			if (y0 + i < 0 || y0 + i >= G_H || x0 + j < 0 || x0 + j >= G_W)
				continue;
			uchar v = x[(y0 + i) * G_W + x0 + j];
			best = v > best ? v : best;
		}
	y[unit * n + e] = best;
}

// avg_pool_int8: by[i] is the factor for a sum of i + 1 numbers.
KERNEL avg_pool_int8(int first, IN uchar *x, OUT uchar *y, IN int *table, IN float *by, int n, int count_x,
	int count_pad, int x_zero, int zero) {
	EACH(e, unit, n);
	IN int *g = table;
	int p = e % (G_OH * G_OW), y0 = p / G_OW * G_SH - G_TOP, x0 = p % G_OW * G_SW - G_LEFT, s = 0, seen = 0;
	x += unit * count_x + e / (G_OH * G_OW) * G_H * G_W;
	for (int i = 0; i < G_KH; i++)
		for (int j = 0; j < G_KW; j++) {
			if (y0 + i < 0 || y0 + i >= G_H || x0 + j < 0 || x0 + j >= G_W)
				continue;
			s += (int)x[(y0 + i) * G_W + x0 + j] - x_zero;
			seen++;
		}
	seen = count_pad ? G_KH * G_KW : seen;
	y[unit * n + e] = stepped(seen ? (float)s * by[seen - 1] : 0.0f, zero, 0, 255);
}

// conv_int8 is a convolution with one output per thread. With as_float, results are float32 and
// are stored to f.
KERNEL conv_int8(int first, IN uchar *x, IN char *w, IN int *bias, IN float *by, OUT uchar *y, OUT float *f,
	IN int *table, int n, int count_x, int x_zero, int as_float, int zero, int least, int most) {
	EACH(e, unit, n);
	IN int *g = table;
	int o = e / (G_OH * G_OW), p = e % (G_OH * G_OW), s = bias[o];
	int y0 = p / G_OW * G_SH - G_TOP, x0 = p % G_OW * G_SW - G_LEFT;
	x += unit * count_x + o / G_OG * G_CG * G_H * G_W;
	w += o * G_STEP_O;
	for (int i = 0; i < G_KH; i++)
		for (int j = 0; j < G_KW; j++) {
			int v = y0 + i * G_DH, u = x0 + j * G_DW;
			if (v < 0 || v >= G_H || u < 0 || u >= G_W)
				continue;
			for (int k = 0; k < G_CG; k++)
				s += (int)w[k * G_STEP_K + i * G_KW + j] * ((int)x[(k * G_H + v) * G_W + u] - x_zero);
		}
	float r = (float)s * by[o];
	if (as_float)
		f[unit * n + e] = r;
	else
		y[unit * n + e] = stepped(r, zero, least, most);
}

// nearest64 returns v limited to [-most, most] and rounded to an integer, with halves to even.
// For NaN it returns 0.
FUNCTION double nearest64(double v, double most) {
	if (v != v)
		return 0.0;
	v = v < -most ? -most : v > most ? most : v;
	double magic = 6755399441055744.0; // 1.5 * 2^52
	return (v + magic) - magic;
}

// quantize_steps computes for each output channel the step of its weights (steps), which is
// infinite if a weight or the bias is not finite, the bias in steps of a sum (b), and a step of
// a sum in steps of the result (by).
KERNEL quantize_steps(int first, IN float *w, IN float *bias, OUT int *b, OUT float *by, OUT float *steps, int n,
	int per, double x_scale, double scale) {
	EACH(o, unit, n);
	uint largest = 0;
	for (int k = 0; k < per; k++) {
		uint bits = BITS(w[o * per + k]) & 0x7fffffffu;
		largest = bits > largest ? bits : largest;
	}
	double v = (double)bias[o], byBias = ABS64(v) / (x_scale * 268435456.0), s = (double)FLOAT(largest) / 127.0;
	s = byBias > s ? byBias : s;
	s = s > 0x1p-60 ? s : 0x1p-60;
	float step = (float)s;
	if (largest >= 0x7f800000u || (BITS(bias[o]) & 0x7fffffffu) >= 0x7f800000u)
		step = FLOAT(0x7f800000u);
	steps[o] = step;
	by[o] = (float)(x_scale * (double)step / scale);
	b[o] = (int)nearest64(v / (x_scale * (double)step), 1073741824.0);
}

KERNEL quantize_weight(int first, IN float *w, IN float *steps, IN float *by, OUT char *q, OUT float *back, int n,
	int per) {
	EACH(e, unit, n);
	int o = e / per, v = (int)nearest64((double)w[e] / (double)steps[o], 127.0);
	q[e] = (char)v;
	back[e] = BITS(by[o]) == 0x7f800000u ? by[o] : (float)v * by[o];
}
