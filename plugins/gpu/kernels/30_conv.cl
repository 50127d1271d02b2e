// Convolutions as chains of fused multiply-adds: one output per thread.

// geometry of a convolution, as package gpu writes it.
#define G_C g[0]
#define G_H g[1]
#define G_W g[2]
#define G_O g[3]
#define G_OH g[4]
#define G_OW g[5]
#define G_KH g[6]
#define G_KW g[7]
#define G_SH g[8]
#define G_SW g[9]
#define G_TOP g[10]
#define G_LEFT g[11]
#define G_DH g[12]
#define G_DW g[13]
#define G_CG g[14]
#define G_OG g[15]
#define G_BASE g[16]    // the first weight
#define G_STEP_O g[17]  // weights between output channels,
#define G_STEP_K g[18]  // between input channels of a group
#define G_STEP_T g[19]  // and between taps
#define G_ORDER g[20]   // of the chain
#define ORDER_WINDOW 0  // taps outside, channels inside
#define ORDER_STRIP 1   // rows of the kernel, channels, columns of the kernel
#define ORDER_ROWS 2    // as ORDER_WINDOW, from the bias on, without rows outside of the image
#define ORDER_BACK 3    // as ORDER_WINDOW, the last tap first

FUNCTION float pixel(IN float *x, IN int *g, int k, int y, int c) {
	if (y < 0 || y >= G_H || c < 0 || c >= G_W)
		return 0.0f;
	return x[(k * G_H + y) * G_W + c];
}

// convolved is output (o, oy, ox) of the image x.
FUNCTION float convolved(IN float *x, IN float *w, IN float *bias, int biased, IN int *g, int o, int oy, int ox) {
	w += G_BASE + o * G_STEP_O;
	x += o / G_OG * G_CG * G_H * G_W;
	int y0 = oy * G_SH - G_TOP, x0 = ox * G_SW - G_LEFT;
	float s = 0.0f;
	if (G_ORDER == ORDER_STRIP) {
		for (int i = 0; i < G_KH; i++)
			for (int k = 0; k < G_CG; k++)
				for (int j = 0; j < G_KW; j++)
					s = FMA(pixel(x, g, k, y0 + i * G_DH, x0 + j * G_DW), w[k * G_STEP_K + (i * G_KW + j) * G_STEP_T], s);
		return biased ? s + bias[o] : s;
	}
	if (G_ORDER == ORDER_ROWS && biased)
		s = bias[o];
	int taps = G_KH * G_KW;
	for (int n = 0; n < taps; n++) {
		int t = G_ORDER == ORDER_BACK ? taps - 1 - n : n, y = y0 + t / G_KW * G_DH;
		if (G_ORDER == ORDER_ROWS && (y < 0 || y >= G_H))
			continue;
		for (int k = 0; k < G_CG; k++)
			s = FMA(pixel(x, g, k, y, x0 + t % G_KW * G_DW), w[k * G_STEP_K + t * G_STEP_T], s);
	}
	return biased && G_ORDER != ORDER_ROWS ? s + bias[o] : s;
}

KERNEL conv(int first, IN float *x, IN float *w, IN float *bias, OUT float *y, IN int *table, int n,
	int count_x, int biased) {
	EACH(e, unit, n);
	IN int *g = table;
	int p = e % (G_OH * G_OW);
	y[unit * n + e] = convolved(x + unit * count_x, w, bias, biased, g, e / (G_OH * G_OW), p / G_OW, p % G_OW);
}

// WIDE is how many channels of its result a thread computes: what it reads of an
// image serves them all.
#define WIDE 8

// conv_wide is conv with WIDE output channels of a group a thread; e counts blocks
// of them, and positions.
KERNEL conv_wide(int first, IN float *x, IN float *w, IN float *bias, OUT float *y, IN int *table, int n,
	int count_x, int biased) {
	EACH(e, unit, n);
	IN int *g = table;
	int positions = G_OH * G_OW, p = e % positions, b = e / positions, per = (G_OG + WIDE - 1) / WIDE;
	int group = b / per, o = group * G_OG + b % per * WIDE, count = (group + 1) * G_OG - o;
	int high = G_H, wide = G_W, plane = high * wide, channels = G_CG, step = G_STEP_K, kh = G_KH, kw = G_KW;
	int y0 = p / G_OW * G_SH - G_TOP, x0 = p % G_OW * G_SW - G_LEFT, dh = G_DH, dw = G_DW, step_t = G_STEP_T;
	x += unit * count_x + (long)group * channels * plane;
	w += G_BASE + o * G_STEP_O;
	int at[WIDE];
	float s[WIDE];
	_Pragma("unroll") for (int i = 0; i < WIDE; i++) {
		at[i] = (i < count ? i : 0) * G_STEP_O;
		s[i] = 0.0f;
	}
	// A strip has rows outside, then channels, then columns; a window has taps outside.
	int strip = G_ORDER == ORDER_STRIP, back = G_ORDER == ORDER_BACK, taps = kh * kw;
	for (int i = 0; i < (strip ? kh * channels : taps); i++) {
		int t = back ? taps - 1 - i : i, row = y0 + (strip ? i / channels : t / kw) * dh;
		for (int k = 0; k < (strip ? kw : channels); k++) {
			int column = x0 + (strip ? k : t % kw) * dw, channel = strip ? i % channels : k;
			int tap = strip ? i / channels * kw + k : t;
			int inside = row >= 0 && row < high && column >= 0 && column < wide;
			float v = x[channel * plane + (inside ? row * wide + column : 0)];
			v = inside ? v : 0.0f;
			IN float *f = w + channel * step + tap * step_t;
			_Pragma("unroll") for (int c = 0; c < WIDE; c++) s[c] = FMA(v, f[at[c]], s[c]);
		}
	}
	y += (unit * G_O + o) * positions + p;
	_Pragma("unroll") for (int i = 0; i < WIDE; i++)
		if (i < count)
			y[i * positions] = biased ? s[i] + bias[o + i] : s[i];
}

// conv_back is the gradient for the input of the convolution that g describes,
// and the transposed convolution: dy has G_O channels, dx G_C. A tap takes part
// where the stride divides what lies before it. e counts blocks of WIDE channels of
// a group, and pixels.
KERNEL conv_back(int first, IN float *dy, IN float *w, IN float *bias, OUT float *dx, IN int *table, int n,
	int count_dy, int biased) {
	EACH(e, unit, n);
	IN int *g = table;
	int wide = G_W, plane = G_H * wide, p = e % plane, b = e / plane, per = (G_CG + WIDE - 1) / WIDE;
	int group = b / per, first_of = b % per * WIDE, count = G_CG - first_of, taps = G_KH * G_KW, step = G_CG * taps;
	int high = G_OH, across = G_OW, sh = G_SH, sw = G_SW;
	dy += unit * count_dy + (long)group * G_OG * high * across;
	w += (group * G_OG * G_CG + first_of) * taps;
	int at[WIDE];
	float s[WIDE];
	_Pragma("unroll") for (int i = 0; i < WIDE; i++) {
		at[i] = (i < count ? i : 0) * taps;
		s[i] = 0.0f;
	}
	for (int t = 0; t < taps; t++) {
		int y = p / wide + G_TOP - t / G_KW * G_DH, x = p % wide + G_LEFT - t % G_KW * G_DW;
		if (y % sh != 0 || x % sw != 0)
			continue;
		y /= sh;
		x /= sw;
		int inside = y >= 0 && x >= 0 && y < high && x < across, from = inside ? y * across + x : 0;
		for (int o = 0; o < G_OG; o++) {
			float v = dy[o * high * across + from];
			v = inside ? v : 0.0f;
			IN float *f = w + o * step + t;
			_Pragma("unroll") for (int i = 0; i < WIDE; i++) s[i] = FMA(v, f[at[i]], s[i]);
		}
	}
	int c = group * G_CG + first_of;
	dx += (unit * G_C + c) * plane + p;
	_Pragma("unroll") for (int i = 0; i < WIDE; i++)
		if (i < count)
			dx[i * plane] = biased ? s[i] + bias[c + i] : s[i];
}

// fold multiplies weights with the batch norm behind them, and shifts what is
// added: by and add per output channel. Output channel of weight e is
// e / outer % wide + e / far * near.
KERNEL fold(int first, IN float *w, IN float *gamma, IN float *variance, OUT float *folded, int n, double eps,
	int outer, int wide, int far, int near) {
	EACH(e, unit, n);
	int o = e / outer % wide + e / far * near;
	folded[e] = (float)((double)w[e] * ((double)gamma[o] / SQRT64((double)variance[o] + eps)));
}

KERNEL fold_bias(int first, IN float *bias, IN float *gamma, IN float *beta, IN float *mean, IN float *variance,
	OUT float *add, int n, double eps, int biased) {
	EACH(e, unit, n);
	double shift = -(double)mean[e];
	if (biased)
		shift += (double)bias[e];
	add[e] = (float)((double)beta[e] + shift * ((double)gamma[e] / SQRT64((double)variance[e] + eps)));
}

// weight_chain is the chain of weight e over the rows and positions of a part.
FUNCTION float weight_chain(IN float *x, IN float *dy, IN int *cut, IN int *g, int e) {
	int taps = G_KH * G_KW, o = e / (G_CG * taps), t = e % taps, channel = o / G_OG * G_CG + e / taps % G_CG;
	int top = t / G_KW * G_DH - G_TOP, left = t % G_KW * G_DW - G_LEFT;
	float s = 0.0f;
	for (int row = cut[1]; row < cut[2]; row++) {
		IN float *image = x + (long)row * G_C * G_H * G_W;
		IN float *d = dy + ((long)row * G_O + o) * G_OH * G_OW;
		for (int oy = 0; oy < G_OH; oy++)
			for (int ox = 0; ox < G_OW; ox++)
				s = FMA(pixel(image, g, channel, oy * G_SH + top, ox * G_SW + left), d[oy * G_OW + ox], s);
	}
	return s;
}
