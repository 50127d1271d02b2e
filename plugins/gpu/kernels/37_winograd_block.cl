// Products of tiles by register blocks: every frequency is a product of its own.

// winograd_product computes sums over the input channels: rows are output channels, columns
// are the tiles of all images, and y is [frequency][o][tile] for each row. A chain goes over
// block channels, and chains are added in order. GROUP_Y is the index of a frequency and of a
// block of channels.
FUNCTION void winograd_product(local float *m, int rows, int columns, int first, int n, IN float *v, IN float *u,
	OUT float *y, IN int *apart, int in, int out, int tiles, int frequencies, int block) {
	int per = (out + rows - 1) / rows, f = GROUP_Y() / per, of = GROUP_Y() % per * rows, count = out - of;
	column mine[2];
	UP_TO (columns / SIZE, r, 2) {
		int c = GROUP() * columns + r * SIZE + THREAD(), there = c < n;
		c = there ? c : 0;
		long unit = (first + c / tiles) * (long)frequencies + f;
		mine[r].there = there && !apart[0];
		mine[r].from = v + unit * in * tiles + c % tiles;
		mine[r].unit = (int)unit;
		mine[r].e = of * tiles + c % tiles;
	}
	int row = THREAD() % rows, line = THREAD() / rows, chunks = apart[0] ? 0 : in / DEPTH;
	u += (long)f * in * out + of + (row < count ? row : 0) + line * out;
	float a[4], b[2 * DEPTH];
	float8 s[WIDE], sum[WIDE];
	EVERY (int i = 0; i < WIDE; i++) s[i] = sum[i] = (float8)(0.0f);
	LOOP (int chunk = 0, left = block; chunk <= chunks; chunk++) {
		local float *to = m + chunk % 2 * CHUNK(rows, columns, DEPTH);
		if (chunk < chunks) {
			UP_TO (columns / SIZE, r, 2)
				EVERY (int i = 0; i < DEPTH; i++) {
					b[r * DEPTH + i] = *mine[r].from;
					mine[r].from += tiles;
				}
			UP_TO (rows / STRIDE, i, 4) {
				a[i] = *u;
				u += SIZE / rows * out;
			}
		}
		if (chunk > 0) {
			block_multiply(s, m + (chunk - 1) % 2 * CHUNK(rows, columns, DEPTH), rows, columns, DEPTH, count,
				n - GROUP() * columns);
			left -= DEPTH;
			if (left == 0) {
				left = block;
				EVERY (int i = 0; i < WIDE; i++) {
					sum[i] = chunk * DEPTH == block ? s[i] : sum[i] + s[i];
					s[i] = (float8)(0.0f);
				}
			}
		}
		if (chunk < chunks) {
			UP_TO (rows / STRIDE, i, 4) to[(line + i * (SIZE / rows)) * LEFT(rows) + row] = a[i];
			block_keep_columns(to + DEPTH * LEFT(rows), b, columns);
		}
		BARRIER();
	}
	epilogue none = {0};
	block_store(m, sum, mine, rows, columns, count, tiles, u, 0, y, out * tiles, none);
}

#define WINOGRAD_PRODUCT(ROWS, COLUMNS) \
	KERNEL winograd_product##ROWS(int first, int n, IN float *v, IN float *u, OUT float *y, IN int *apart, int in, \
		int out, int tiles, int frequencies, int block) { \
		LOCAL(ROWS, COLUMNS, DEPTH); \
		winograd_product(m, ROWS, COLUMNS, first, n, v, u, y, apart, in, out, tiles, frequencies, block); \
	}
WINOGRAD_PRODUCT(64, 128)
WINOGRAD_PRODUCT(32, 256)

// winograd_sum computes sums over the tiles of a part, for the gradients of weights: rows are
// output channels, columns are input channels, and sums is [frequency][o][k]. GROUP is the
// index of a block of columns, of a block of rows and of a frequency. If chained is 0, one
// chain goes over all tiles. Otherwise each chain begins with +0 and has chain tiles, and the
// chains are added in order.
FUNCTION void winograd_sum(local float *m, int first, IN float *v, IN float *d, OUT float *sums, IN int *apart,
	IN int *cut, int in, int out, int tiles, int chained, int chain) {
	int across = (in + 127) / 128, per = (out + 63) / 64, from = GROUP() % across * 128;
	int of = GROUP() / across % per * 64, f = GROUP() / across / per;
	long unit = (long)first + GROUP_Y();
	int terms = apart[unit] ? 0 : (cut[3 * unit + 2] - cut[3 * unit + 1]) * tiles, end = terms;
	int chunks = (terms + DEPTH - 1) / DEPTH;
	if (chained) {
		chunks = terms / chain * ((chain + DEPTH - 1) / DEPTH) + (terms % chain + DEPTH - 1) / DEPTH;
		end = chain < terms ? chain : terms;
	}
	v += ((long)cut[3 * unit + 1] * 36 + f) * in * tiles;
	d += ((long)cut[3 * unit + 1] * 36 + f) * out * tiles;
	int row[4], column[8];
	EVERY (int i = 0; i < 64 / STRIDE; i++) {
		int r = THREAD() / DEPTH + i * STRIDE;
		row[i] = (of + r < out ? of + r : of) * tiles;
	}
	EVERY (int i = 0; i < 128 / STRIDE; i++) {
		int c = THREAD() / DEPTH + i * STRIDE;
		column[i] = (from + c < in ? from + c : from) * tiles;
	}
	int at = THREAD() % DEPTH, tile = at % tiles, image = at / tiles, left = chain;
	float a[4], b[8];
	float8 s[WIDE], sum[WIDE];
	EVERY (int i = 0; i < WIDE; i++) s[i] = sum[i] = (float8)(0.0f);
	LOOP (int chunk = 0; chunk <= chunks; chunk++) {
		local float *to = m + chunk % 2 * CHUNK(64, 128, DEPTH);
		if (chunk < chunks) {
			int there = at < end;
			IN float *of_d = d + (there ? image * (36L * out * tiles) + tile : 0);
			IN float *of_v = v + (there ? image * (36L * in * tiles) + tile : 0);
			EVERY (int i = 0; i < 64 / STRIDE; i++) {
				float p = of_d[row[i]];
				a[i] = there ? p : -0.0f;
			}
			EVERY (int i = 0; i < 128 / STRIDE; i++) {
				float p = of_v[column[i]];
				b[i] = there ? p : 0.0f;
			}
			at += DEPTH;
			tile += DEPTH % tiles;
			image += DEPTH / tiles;
			if (tile >= tiles) {
				tile -= tiles;
				image++;
			}
			if (chained && at - THREAD() % DEPTH >= end) { // the next chain begins where this one ends
				at = end + THREAD() % DEPTH;
				tile = at % tiles;
				image = at / tiles;
				end = end + chain < terms ? end + chain : terms;
			}
		}
		if (chunk > 0) {
			block_multiply(s, m + (chunk - 1) % 2 * CHUNK(64, 128, DEPTH), 64, 128, DEPTH, out - of, in - from);
			left -= DEPTH;
			if (chained && (left <= 0 || chunk == chunks)) {
				left = chain;
				EVERY (int i = 0; i < WIDE; i++) {
					sum[i] += s[i];
					s[i] = (float8)(0.0f);
				}
			}
		}
		if (chunk < chunks) {
			lines_keep(to, a, 64 / STRIDE, LEFT(64));
			lines_keep(to + DEPTH * LEFT(64), b, 128 / STRIDE, RIGHT(128));
		}
		BARRIER();
	}
	sums += ((unit * 36 + f) * out + of) * (long)in + from + THREAD();
	EVERY (int q = 0; q < WIDE; q += 2) {
		block_lay(m, (chained ? sum : s) + q, 64, 128);
		BARRIER();
		LOOP (int l = 0; l < 64 / (WIDE / 2); l++) {
			int r = ROW_OF(l, 64) + q;
			if (!apart[unit] && from + THREAD() < in && of + r < out)
				sums[(long)r * in] = m[l * 128 + THREAD()];
		}
		if (q + 2 < WIDE)
			BARRIER();
	}
}

KERNEL winograd_sums4(int first, IN float *v, IN float *d, OUT float *sums, IN int *apart, IN int *cut, int in,
	int out, int tiles) {
	LOCAL(64, 128, DEPTH);
	winograd_sum(m, first, v, d, sums, apart, cut, in, out, tiles, 0, 0);
}

KERNEL winograd_sums5(int first, IN float *v, IN float *d, OUT float *sums, IN int *apart, IN int *cut, int in,
	int out, int tiles, int chain) {
	LOCAL(64, 128, DEPTH);
	winograd_sum(m, first, v, d, sums, apart, cut, in, out, tiles, 1, chain);
}
