// Gradients for the input, and transposed convolutions, by register blocks: rows are
// channels of a group, columns are pixels of all images. With a stride, the taps that read a
// pixel depend on the remainders of its coordinates. A phase is all pixels with the same
// remainders, and each phase is a product.

// fits reports whether tap t reads the pixels of a phase.
FUNCTION int fits(IN int *g, int t, int phase_y, int phase_x) {
	return (phase_y + G_TOP - t / G_KW * G_DH) % G_SH == 0 && (phase_x + G_LEFT - t % G_KW * G_DW) % G_SW == 0;
}

// back_block computes dx, with G_C channels, from dy, with G_O channels. GROUP_Y is the index
// of a block of channels, group by group, and of a phase. n is the number of pixels of the
// largest phase.
FUNCTION void back_block(local float *m, int rows, int columns, int first, int n, IN float *dy, IN float *w,
	IN float *bias, OUT float *dx, IN int *g, int count_dy, int biased, epilogue last) {
	int sh = G_SH, sw = G_SW, phase_y = GROUP_Y() / sw % sh, phase_x = GROUP_Y() % sw, block = GROUP_Y() / (sh * sw);
	int across = (G_W + sw - 1) / sw, pixels = (G_H + sh - 1) / sh * across, area = G_H * G_W;
	int per = (G_CG + rows - 1) / rows, group = block / per, of = block % per * rows, count = G_CG - of;
	int channels = G_OG, high = G_OH, wide = G_OW, plane = high * wide, kw = G_KW, taps = G_KH * kw, dh = G_DH, dw = G_DW;
	int left = n - GROUP() * columns; // columns from this block on
	column mine[2];
	UP_TO (columns / SIZE, r, 2) {
		int c = GROUP() * columns + r * SIZE + THREAD(), there = c < n;
		c = there ? c : 0;
		int v = c % pixels / across * sh + phase_y, u = c % across * sw + phase_x;
		long unit = first + c / pixels;
		mine[r].there = there && v < G_H && u < G_W;
		mine[r].from = dy + unit * count_dy + (long)group * channels * plane;
		mine[r].unit = (int)unit;
		mine[r].e = (group * G_CG + of) * area + v * G_W + u;
		mine[r].y = v + G_TOP;
		mine[r].x = u + G_LEFT;
	}
	int row[4];
	UP_TO (rows / STRIDE, i, 4) {
		int r = THREAD() / DEPTH + i * STRIDE;
		row[i] = (r < count ? r : 0) * taps;
	}
	w += (group * G_OG * G_CG + of) * taps;
	int step = G_CG * taps, seen = 0, t = 0, k = 0;
	for (int i = taps - 1; i >= 0; i--)
		if (fits(g, i, phase_y, phase_x)) {
			t = i; // at the end, the first tap that fits
			seen++;
		}
	int chunks = (channels + DEPTH - 1) / DEPTH * seen;
	float a[4], b[2 * DEPTH];
	float8 s[WIDE];
	EVERY (int i = 0; i < WIDE; i++) s[i] = (float8)(0.0f);
	LOOP (int chunk = 0; chunk <= chunks; chunk++) {
		local float *to = m + chunk % 2 * CHUNK(rows, columns, DEPTH);
		if (chunk < chunks) {
			if (k == 0) // the next tap
				UP_TO (columns / SIZE, r, 2) {
					int v = (mine[r].y - t / kw * dh) / sh, u = (mine[r].x - t % kw * dw) / sw;
					mine[r].inside = mine[r].there && v >= 0 && v < high && u >= 0 && u < wide;
					mine[r].at = v * wide + u;
				}
			int c = k + THREAD() % DEPTH;
			fetch_columns(b, mine, columns / SIZE, k, channels, plane, G_ZERO);
			fetch_weights(a, w, row, rows / STRIDE, c < channels, c * step + t);
			k += DEPTH;
			if (k >= channels) {
				k = 0;
				do
					t++;
				while (t < taps && !fits(g, t, phase_y, phase_x));
			}
		}
		if (chunk > 0)
			block_multiply(s, m + (chunk - 1) % 2 * CHUNK(rows, columns, DEPTH), rows, columns, DEPTH, count, left);
		if (chunk < chunks)
			block_keep(to, a, b, rows, columns);
		BARRIER();
	}
	block_store(m, s, mine, rows, columns, count, area, bias + group * G_CG + of, biased, dx, G_C * area, last);
}

#define BACK_BLOCK(ROWS, COLUMNS) \
	KERNEL back_block##ROWS(int first, int n, IN float *dy, IN float *w, IN float *bias, OUT float *dx, IN int *table, \
		int count_dy, int biased, EPILOGUE) { \
		LOCAL(ROWS, COLUMNS, DEPTH); \
		epilogue last = GIVEN; \
		back_block(m, ROWS, COLUMNS, first, n, dy, w, bias, dx, table, count_dy, biased, last); \
	}
BACK_BLOCK(64, 128)
BACK_BLOCK(32, 256)
