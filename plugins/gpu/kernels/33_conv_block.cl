// Convolutions by register blocks: rows are output channels of a group, columns are
// positions of all images side by side.

// fetch_columns fetches up to DEPTH channels of the current pixels of columns, and zeros
// outside the image. zero is the address of a zero.
FUNCTION void fetch_columns(float *b, column *mine, int many, int k, int channels, int plane, IN float *zero) {
	UP_TO (many, r, 2) {
		IN float *from = mine[r].inside ? mine[r].from + (mine[r].at + k * plane) : zero;
		long step = mine[r].inside ? plane : 0;
		EVERY (int i = 0; i < DEPTH; i++) {
			float v = *from;
			b[r * DEPTH + i] = k + i < channels ? v : 0.0f;
			from += k + i + 1 < channels ? step : 0;
		}
	}
}

// fetch_weights fetches a weight of one channel for every row, and -0 if ok is 0.
FUNCTION void fetch_weights(float *a, IN float *w, int *row, int many, int ok, int at) {
	UP_TO (many, i, 4) {
		float v = w[ok ? row[i] + at : 0];
		a[i] = ok ? v : -0.0f;
	}
}

// conv_block computes convolutions in ORDER_WINDOW. GROUP_Y is the index of a block of output
// channels, group by group. n is the number of columns.
FUNCTION void conv_block(local float *m, int rows, int columns, int first, int n, IN float *x, IN float *w,
	IN float *bias, OUT float *y, IN int *g, int count_x, int biased, epilogue last) {
	int positions = G_OH * G_OW, per = (G_OG + rows - 1) / rows, group = GROUP_Y() / per;
	int of = GROUP_Y() % per * rows, count = G_OG - of, o = group * G_OG + of, channels = G_CG;
	int high = G_H, wide = G_W, plane = high * wide, kw = G_KW, dh = G_DH, dw = G_DW;
	int left = n - GROUP() * columns; // columns from this block on
	column mine[2];
	UP_TO (columns / SIZE, r, 2) {
		int c = GROUP() * columns + r * SIZE + THREAD(), there = c < n, p;
		c = there ? c : 0;
		p = c % positions;
		long unit = first + c / positions;
		mine[r].there = there;
		mine[r].from = x + unit * count_x + (long)group * channels * plane;
		mine[r].unit = (int)unit;
		mine[r].e = o * positions + p;
		mine[r].y = p / G_OW * G_SH - G_TOP;
		mine[r].x = p % G_OW * G_SW - G_LEFT;
	}
	int row[4];
	UP_TO (rows / STRIDE, i, 4) {
		int r = THREAD() / DEPTH + i * STRIDE;
		row[i] = (r < count ? r : 0) * G_STEP_O;
	}
	w += G_BASE + o * G_STEP_O;
	int step_k = G_STEP_K, step_t = G_STEP_T, chunks = (channels + DEPTH - 1) / DEPTH * (G_KH * kw), t = 0, k = 0;
	float a[4], b[2 * DEPTH];
	float8 s[WIDE];
	EVERY (int i = 0; i < WIDE; i++) s[i] = (float8)(0.0f);
	LOOP (int chunk = 0; chunk <= chunks; chunk++) {
		local float *to = m + chunk % 2 * CHUNK(rows, columns, DEPTH);
		if (chunk < chunks) {
			if (k == 0) // the next tap
				UP_TO (columns / SIZE, r, 2) {
					int v = mine[r].y + t / kw * dh, u = mine[r].x + t % kw * dw;
					mine[r].inside = mine[r].there && v >= 0 && v < high && u >= 0 && u < wide;
					mine[r].at = v * wide + u;
				}
			int c = k + THREAD() % DEPTH;
			fetch_columns(b, mine, columns / SIZE, k, channels, plane, G_ZERO);
			fetch_weights(a, w, row, rows / STRIDE, c < channels, c * step_k + t * step_t);
			k += DEPTH;
			if (k >= channels) {
				k = 0;
				t++;
			}
		}
		if (chunk > 0)
			block_multiply(s, m + (chunk - 1) % 2 * CHUNK(rows, columns, DEPTH), rows, columns, DEPTH, count, left);
		if (chunk < chunks)
			block_keep(to, a, b, rows, columns);
		BARRIER();
	}
	block_store(m, s, mine, rows, columns, count, positions, bias + o, biased, y, G_O * positions, last);
}

#define CONV_BLOCK(ROWS, COLUMNS) \
	KERNEL conv_block##ROWS(int first, int n, IN float *x, IN float *w, IN float *bias, OUT float *y, IN int *table, \
		int count_x, int biased, EPILOGUE) { \
		LOCAL(ROWS, COLUMNS, DEPTH); \
		epilogue last = GIVEN; \
		conv_block(m, ROWS, COLUMNS, first, n, x, w, bias, y, table, count_x, biased, last); \
	}
CONV_BLOCK(64, 128)
CONV_BLOCK(32, 256)
