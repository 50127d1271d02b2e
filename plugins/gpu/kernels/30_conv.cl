// Convolutions as chains of fused multiply-adds, with one output per thread.

// Orders of a chain, from the outermost loop to the innermost.
#define ORDER_WINDOW 0  // taps, channels
#define ORDER_DIRECT 1   // rows of the kernel, channels, columns of the kernel
#define ORDER_ROWS 2    // as ORDER_WINDOW, but begins with the bias and skips rows outside the image
#define ORDER_BACK 3    // as ORDER_WINDOW, but begins with the last tap

FUNCTION float pixel(IN float *x, IN int *g, int k, int y, int c) {
	if (y < 0 || y >= G_H || c < 0 || c >= G_W)
		return 0.0f;
	return x[(k * G_H + y) * G_W + c];
}

// convolved returns output (o, oy, ox) for the image x.
FUNCTION float convolved(IN float *x, IN float *w, IN float *bias, int biased, IN int *g, int o, int oy, int ox) {
	w += G_BASE + o * G_STEP_O;
	x += o / G_OG * G_CG * G_H * G_W;
	int y0 = oy * G_SH - G_TOP, x0 = ox * G_SW - G_LEFT;
	float s = 0.0f;
	if (G_ORDER == ORDER_DIRECT) {
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
	int count_x, int biased, EPILOGUE) {
	EACH(e, unit, n);
	IN int *g = table;
	epilogue last = GIVEN;
	int at = e % (G_OH * G_OW);
	float v = convolved(x + unit * count_x, w, bias, biased, g, e / (G_OH * G_OW), at / G_OW, at % G_OW);
	y[unit * n + e] = finished(last, 0, v, (int)unit, e);
}

// fold multiplies weights by the factors of the batch norm that follows the layer. fold_bias
// computes the bias of the folded layer. The output channel of weight e is
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

// weight_chain returns the gradient of weight e as a chain over the rows and positions of a part.
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
