// Gradients for weights by register blocks, for each part of the rows: rows of the product are
// output channels of a group, columns are its input channels and taps, and a chain goes over
// the images and positions of a part.

// line is a column of which a thread fetches term THREAD() % DEPTH of every chunk.
typedef struct line {
	int at, top, left;
} line;

// lines_keep stores the terms of a chunk that a thread has fetched, one of each of its lines.
FUNCTION void lines_keep(local float *to, float *v, int many, int apart) {
	to += THREAD() % DEPTH * apart + THREAD() / DEPTH;
	UP_TO (many, i, 16) to[i * STRIDE] = v[i];
}

// weights_block computes a block of gradients. GROUP is the index of a block of columns, of a
// block of rows and of a group.
FUNCTION void weights_block(local float *m, int rows, int columns, int first, IN float *x, IN float *dy,
	OUT float *parts, IN int *cut, IN int *g, int count_w) {
	int taps = G_KH * G_KW, wide = G_W, high = G_H, area = high * wide, n = G_CG * taps;
	int across = (n + columns - 1) / columns, per = (G_OG + rows - 1) / rows, from = GROUP() % across * columns;
	int group = GROUP() / across / per, of = GROUP() / across % per * rows, count = G_OG - of, o = group * G_OG + of;
	int positions = G_OH * G_OW, ow = G_OW, oh = G_OH, sh = G_SH, sw = G_SW;
	long unit = (long)first + GROUP_Y(), step_x = (long)G_C * area, step_dy = (long)G_O * positions;
	int terms = (cut[3 * unit + 2] - cut[3 * unit + 1]) * positions, chunks = (terms + DEPTH - 1) / DEPTH;
	x += cut[3 * unit + 1] * step_x + (long)group * G_CG * area;
	dy += cut[3 * unit + 1] * step_dy + (long)o * positions;
	int row[4];
	UP_TO (rows / STRIDE, i, 4) {
		int r = THREAD() / DEPTH + i * STRIDE;
		row[i] = (r < count ? r : 0) * positions;
	}
	line column[16];
	UP_TO (columns / STRIDE, i, 16) {
		int e = from + THREAD() / DEPTH + i * STRIDE, t = e % taps;
		column[i].top = e < n ? t / G_KW * G_DH - G_TOP : 0;
		column[i].left = e < n ? t % G_KW * G_DW - G_LEFT : 0;
		column[i].at = e < n ? e / taps * area + column[i].top * wide + column[i].left : 0;
	}
	// From one chunk to the next, a term moves by this many images, rows and columns.
	int p = THREAD() % DEPTH, images = DEPTH / positions, down = DEPTH % positions / ow, right = DEPTH % ow;
	int at = p, image = p / positions, oy = p % positions / ow, ox = p % ow;
	float a[4], b[16];
	float8 s[WIDE];
	EVERY (int i = 0; i < WIDE; i++) s[i] = (float8)(0.0f);
	LOOP (int chunk = 0; chunk <= chunks; chunk++) {
		local float *to = m + chunk % 2 * CHUNK(rows, columns, DEPTH);
		if (chunk < chunks) {
			int there = at < terms, v = oy * sh, u = ox * sw, position = oy * ow + ox, pixel = v * wide + u;
			IN float *of_x = x + (there ? image * step_x : 0), *of_dy = dy + (there ? image * step_dy : 0);
			UP_TO (rows / STRIDE, i, 4) {
				float d = of_dy[there ? row[i] + position : 0];
				a[i] = there ? d : -0.0f;
			}
			UP_TO (columns / STRIDE, i, 16) {
				line *c = column + i;
				int inside = there && v + c->top >= 0 && v + c->top < high && u + c->left >= 0 && u + c->left < wide;
				float d = of_x[inside ? c->at + pixel : 0];
				b[i] = inside ? d : 0.0f;
			}
			at += DEPTH;
			ox += right;
			oy += down;
			if (ox >= ow) {
				ox -= ow;
				oy++;
			}
			image += images;
			if (oy >= oh) {
				oy -= oh;
				image++;
			}
		}
		if (chunk > 0)
			block_multiply(s, m + (chunk - 1) % 2 * CHUNK(rows, columns, DEPTH), rows, columns, DEPTH, count, n - from);
		if (chunk < chunks) {
			lines_keep(to, a, rows / STRIDE, LEFT(rows));
			lines_keep(to + DEPTH * LEFT(rows), b, columns / STRIDE, RIGHT(columns));
		}
		BARRIER();
	}
	parts += unit * count_w + (long)o * n + from + THREAD();
	EVERY (int q = 0; q < WIDE; q += 2) {
		block_lay(m, s + q, rows, columns);
		BARRIER();
		LOOP (int l = 0; l < rows / (WIDE / 2); l++) {
			int r = ROW_OF(l, rows) + q;
			UP_TO (columns / SIZE, i, 2)
				if (from + i * SIZE + THREAD() < n && r < count)
					parts[r * n + i * SIZE] = m[l * columns + i * SIZE + THREAD()];
		}
		if (q + 2 < WIDE)
			BARRIER();
	}
}

#define WEIGHTS_BLOCK(ROWS, COLUMNS) \
	KERNEL weights_block##ROWS(int first, IN float *x, IN float *dy, OUT float *parts, IN int *cut, IN int *table, \
		int count_w) { \
		LOCAL(ROWS, COLUMNS, DEPTH); \
		weights_block(m, ROWS, COLUMNS, first, x, dy, parts, cut, table, count_w); \
	}
WEIGHTS_BLOCK(64, 128)
WEIGHTS_BLOCK(32, 256)
