// Pooling. The geometry is that of a convolution (28_geometry.cl) from the larger image to the
// smaller one.

KERNEL max_pool(int first, IN float *x, OUT float *y, IN int *table, int n, int count_x) {
	EACH(e, unit, n);
	IN int *g = table;
	int c = e / (G_OH * G_OW), p = e % (G_OH * G_OW);
	x += unit * count_x + c * G_H * G_W;
	int y0 = p / G_OW * G_SH - G_TOP, x0 = p % G_OW * G_SW - G_LEFT, seen = 0;
	float best = 0.0f;
	for (int i = 0; i < G_KH; i++)
		for (int j = 0; j < G_KW; j++) {
			if (y0 + i < 0 || y0 + i >= G_H || x0 + j < 0 || x0 + j >= G_W)
				continue;
			float v = x[(y0 + i) * G_W + x0 + j];
			if (!seen || v > best || (v != v && best == best))
				best = v;
			seen = 1;
		}
	y[unit * n + e] = best;
}

// largest_of reports whether pixel (py, px) is the first NaN of the window of output (oy, ox)
// or, without NaN, its first maximum.
FUNCTION int largest_of(IN float *x, IN int *g, int oy, int ox, int py, int px) {
	int y0 = oy * G_SH - G_TOP, x0 = ox * G_SW - G_LEFT, by = -1, bx = -1;
	float best = 0.0f;
	for (int i = 0; i < G_KH; i++)
		for (int j = 0; j < G_KW; j++) {
			if (y0 + i < 0 || y0 + i >= G_H || x0 + j < 0 || x0 + j >= G_W)
				continue;
			float v = x[(y0 + i) * G_W + x0 + j];
			if (by < 0 || v > best || (v != v && best == best)) {
				best = v;
				by = y0 + i;
				bx = x0 + j;
			}
		}
	return by == py && bx == px;
}

// first_window returns the first window that contains coordinate p of the padded image.
FUNCTION int first_window(int p, int size, int stride) {
	return p < size ? 0 : (p - size) / stride + 1;
}

// pool_back adds the gradients that a pixel gets from the windows that contain it, in the order
// of the outputs. With of_max only the first maximum of a window gets its gradient. Otherwise
// all pixels of the window get an equal part.
KERNEL pool_back(int first, IN float *x, IN float *dy, OUT float *dx, IN int *table, int n, int count_dy,
	int of_max, int count_pad) {
	EACH(e, unit, n);
	IN int *g = table;
	int c = e / (G_H * G_W), py = e % (G_H * G_W) / G_W, px = e % G_W;
	dy += unit * count_dy + c * G_OH * G_OW;
	float s = 0.0f;
	for (int oy = first_window(py + G_TOP, G_KH, G_SH); oy < G_OH && oy * G_SH <= py + G_TOP; oy++) {
		int y0 = oy * G_SH - G_TOP;
		for (int ox = first_window(px + G_LEFT, G_KW, G_SW); ox < G_OW && ox * G_SW <= px + G_LEFT; ox++) {
			int x0 = ox * G_SW - G_LEFT;
			float v = dy[oy * G_OW + ox];
			if (of_max) {
				if (largest_of(x + unit * n + c * G_H * G_W, g, oy, ox, py, px))
					s += v;
				continue;
			}
			int high = (y0 + G_KH > G_H ? G_H : y0 + G_KH) - (y0 < 0 ? 0 : y0);
			int across = (x0 + G_KW > G_W ? G_W : x0 + G_KW) - (x0 < 0 ? 0 : x0);
			s += DIV(v, (float)(count_pad ? G_KH * G_KW : high * across));
		}
	}
	dx[unit * n + e] = s;
}

KERNEL avg_pool(int first, IN float *x, OUT float *y, IN int *table, int n, int count_x, int count_pad) {
	EACH(e, unit, n);
	IN int *g = table;
	int c = e / (G_OH * G_OW), p = e % (G_OH * G_OW), seen = 0;
	x += unit * count_x + c * G_H * G_W;
	int y0 = p / G_OW * G_SH - G_TOP, x0 = p % G_OW * G_SW - G_LEFT;
	double s = 0.0;
	for (int i = 0; i < G_KH; i++)
		for (int j = 0; j < G_KW; j++) {
			if (y0 + i < 0 || y0 + i >= G_H || x0 + j < 0 || x0 + j >= G_W)
				continue;
			s += (double)x[(y0 + i) * G_W + x0 + j];
			seen++;
		}
	y[unit * n + e] = (float)(s / (double)(float)(count_pad ? G_KH * G_KW : seen));
}

KERNEL global_avg_pool_back(int first, IN float *dy, OUT float *dx, int n, int positions) {
	EACH(e, unit, n);
	dx[unit * n + e] = DIV(dy[unit * (n / positions) + e / positions], (float)positions);
}
