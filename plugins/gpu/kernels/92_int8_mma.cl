// Convolutions (of one group) and dense layers of bytes by matrix units, where MMA is the compute
// capability times ten: 80 for products of 16 by 32 and 32 by 8 (m16n8k32), 75 for those of 8 by 16
// and 16 by 8 (m8n8k16). Rows are positions of all images, columns are output channels. Sums of
// integers are exact in any order, so results are those of all other kernels.
//
// A term is a product of two bytes. Sixteen terms are a bundle: 16 channels of a pixel, or 4 channels
// of 4 taps if there are no more channels (few). Map and weights are first copied to bundles of 16
// bytes, filled up with zeros (of weights). A chunk is BUNDLES bundles; local memory has two.
//
// A warp computes 32 or 64 positions by all channels of the block, by tiles of 16 by 8. Thread l of
// it holds of a tile the sums of rows l/4 and l/4 + 8, columns l%4*2 and l%4*2 + 1. For each product it
// reads word l%4 of the bundles of rows l/4 and l/4 + 8: consecutive threads read consecutive words.
#ifdef MMA
#define BUNDLES 4
#define TERMS 16
#define LANE() (THREAD() % 32)
#define WARP() (THREAD() / 32)

// bundle_int8 copies a map to bundles, [bundle][pixel], or [pixel] of 4 bytes with few channels.
KERNEL bundle_int8(int first, IN uchar *x, OUT uint4 *bundles, int n, int channels, int plane) {
	EACH(e, unit, n);
	int k = e / plane * TERMS;
	IN uchar *from = x + unit * channels * plane + (long)k * plane + e % plane;
	uint w[4];
	EVERY (int i = 0; i < 4; i++) {
		w[i] = 0;
		EVERY (int j = 0; j < 4; j++)
			if (k + i * 4 + j < channels)
				w[i] |= (uint)from[(long)(i * 4 + j) * plane] << 8 * j;
	}
	bundles[unit * n + e] = (uint4)(w[0], w[1], w[2], w[3]);
}

// quad_int8 copies a map of few channels to quads, [pixel].
KERNEL quad_int8(int first, IN uchar *x, OUT uint *quads, int n, int channels) {
	EACH(e, unit, n);
	IN uchar *from = x + unit * channels * n + e;
	uint quad = 0;
	EVERY (int j = 0; j < 4; j++)
		if (j < channels)
			quad |= (uint)from[(long)j * n] << 8 * j;
	quads[unit * n + e] = quad;
}

// weights_int8 packs weights in the order in which threads need them. Word e is word e % 4 of thread
// e / 4 % 32, for product e / 128 % steps, of channels 16 * (e / 128 / steps) and following.
KERNEL weights_int8(int first, IN char *w, OUT uint *packed, int n, int outputs, int channels, int taps,
	int few, int steps) {
	EACH(e, unit, n);
	int l = e / 4 % 32, bundle = e / 128 % steps * 2 + e % 2, across = (channels + TERMS - 1) / TERMS;
	int o = e / 128 / steps * 16 + e % 4 / 2 * 8 + l / 4;
	int t = few ? bundle * 4 + l % 4 : bundle / across, k = few ? 0 : bundle % across * TERMS + l % 4 * 4;
	uint quad = 0;
	for (int j = 0; j < 4; j++)
		if (o < outputs && t < taps && k + j < channels)
			quad |= ((uint)w[((long)o * channels + k + j) * taps + t] & 255u) << 8 * j;
	packed[e] = quad;
}

// mma adds to the sums of a tile the products of bytes a with bytes b of weights.
FUNCTION void mma(int *s, uint4 a, uint2 b) {
#if MMA >= 80
	__asm__("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
		"{%0, %1, %2, %3};"
		: "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
		: "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
#else
#define MMA8(s, t, a, b) \
	__asm__("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
		: "+r"(s), "+r"(t) : "r"(a), "r"(b))
	MMA8(s[0], s[1], a.x, b.x);
	MMA8(s[0], s[1], a.z, b.y);
	MMA8(s[2], s[3], a.y, b.x);
	MMA8(s[2], s[3], a.w, b.y);
#endif
}

// mma_row is a row of the product, a position, that a thread fetches.
typedef struct mma_row {
	long from;      // index of the image's first bundle, or quad
	int there;      // whether the row exists
	int y, x;       // where its window begins
	int inside, at; // whether its current pixel is inside the image, and the pixel's index
} mma_row;

// mma_tap moves to the pixel of the tap in line i, column j of the window.
FUNCTION void mma_tap(mma_row *mine, int i, int j, IN int *g) {
	int v = mine->y + i * G_DH, u = mine->x + j * G_DW;
	mine->inside = mine->there && i < G_KH && v >= 0 && v < G_H && u >= 0 && u < G_W;
	mine->at = v * G_W + u;
}

// PITCH is the distance between channels in local memory, so that the eight positions and four
// channels that a warp stores together are in different banks.
#define PITCH(rows) (rows + 4)

// mma_store stores results of 16 channels, of which count exist, from their sums in local memory:
// four positions at once if they are in one image, and therefore in one word.
FUNCTION void mma_store(local int *sums, int rows, int count, int left, int at, int first, int positions,
	int outputs, int o, IN int *start, IN float *by, OUT uchar *y, OUT float *f, int as_float, int zero,
	int least, int most) {
	int several = positions % 4 == 0 ? 4 : 1, across = rows / several, n = across * count;
	LOOP (int e = THREAD(); e < n; e += SIZE) {
		int r = e % across * several, q = e / across, c = at + r, p = c % positions;
		if (r >= left)
			continue;
		long to = ((first + c / positions) * (long)outputs + o + q) * positions + p;
		local int *from = sums + q * PITCH(rows) + r;
		int begin = start[o + q];
		float factor = by[o + q];
		if (several == 1) {
			float v = (float)(from[0] + begin) * factor;
			if (as_float)
				f[to] = v;
			else
				y[to] = stepped(v, zero, least, most);
			continue;
		}
		int4 s = *(local int4 *)from;
		float a = (float)(s.x + begin) * factor, b = (float)(s.y + begin) * factor;
		float d = (float)(s.z + begin) * factor, e = (float)(s.w + begin) * factor;
		if (as_float)
			*(OUT float4 *)(f + to) = (float4)(a, b, d, e);
		else
			*(OUT uint *)(y + to) = (uint)stepped(a, zero, least, most) |
				(uint)stepped(b, zero, least, most) << 8 | (uint)stepped(d, zero, least, most) << 16 |
				(uint)stepped(e, zero, least, most) << 24;
	}
}

FUNCTION void mma_block(local uint4 *m, int rows, int columns, int few, int first, int n, IN uint4 *x,
	IN uint4 *w, IN int *start, IN float *by, OUT uchar *y, OUT float *f, IN int *g, int x_zero, int as_float,
	int zero, int least, int most) {
	int positions = G_OH * G_OW, o = GROUP_Y() * columns, count = G_O - o, kw = G_KW;
	int plane = G_H * G_W, across = few ? 1 : (G_C + TERMS - 1) / TERMS;
	int all = few ? (G_KH * kw + 3) / 4 : G_KH * kw * across, chunks = (all + BUNDLES - 1) / BUNDLES;
	int at = GROUP() * rows, left = n - at; // rows from this block on
	mma_row mine[2];
	UP_TO (rows / SIZE, r, 2) {
		int c = at + r * SIZE + THREAD(), there = c < n, p;
		c = there ? c : 0;
		p = c % positions;
		mine[r].there = there;
		mine[r].from = (first + c / positions) * (long)(across * plane);
		mine[r].y = p / G_OW * G_SH - G_TOP;
		mine[r].x = p % G_OW * G_SW - G_LEFT;
	}
	int steps = chunks * (BUNDLES / 2), i = 0, j = 0, k = 0; // the tap, and the bundle of its channels
	w += (long)GROUP_Y() * (columns / 16) * steps * 32 + LANE();
	uint padding = (uint)x_zero * 0x01010101u;
	int s[4][8][4];
	EVERY (int a = 0; a < 4; a++)
		EVERY (int b = 0; b < 8; b++)
			EVERY (int q = 0; q < 4; q++) s[a][b][q] = 0;
	uint4 next[2][BUNDLES];
	LOOP (int chunk = 0;; chunk++) {
		if (chunk < chunks)
			EVERY (int b = 0; b < BUNDLES; b++) {
				if (few) {
					uint quads[2][4];
					EVERY (int q = 0; q < 4; q++) {
						UP_TO (rows / SIZE, r, 2) {
							mma_tap(mine + r, i, j, g);
							quads[r][q] = padding;
							if (mine[r].inside)
								quads[r][q] = ((IN uint *)x)[mine[r].from + mine[r].at];
						}
						if (++j == kw) {
							j = 0;
							i++;
						}
					}
					UP_TO (rows / SIZE, r, 2)
						next[r][b] = (uint4)(quads[r][0], quads[r][1], quads[r][2], quads[r][3]);
					continue;
				}
				UP_TO (rows / SIZE, r, 2) {
					if (k == 0)
						mma_tap(mine + r, i, j, g);
					next[r][b] = (uint4)(padding);
					if (mine[r].inside)
						next[r][b] = x[mine[r].from + (long)k * plane + mine[r].at];
				}
				if (++k == across) {
					k = 0;
					if (++j == kw) {
						j = 0;
						i++;
					}
				}
			}
		if (chunk > 0) { // multiply the chunk before
			local uint *a = (local uint *)(m + (chunk - 1) % 2 * BUNDLES * rows);
			IN uint4 *of = w + (chunk - 1) * (BUNDLES / 2) * 32;
			EVERY (int h = 0; h < BUNDLES / 2; h++) {
				uint4 v[4];
				UP_TO (columns / 16, b, 4) v[b] = of[((long)b * steps + h) * 32];
				UP_TO (rows / 64, r, 4) {
					local uint *from = a + WARP() * rows + h * 2 * rows * 4 + r * 64 + LANE();
					uint4 u = (uint4)(from[0], from[32], from[rows * 4], from[rows * 4 + 32]);
					UP_TO (columns / 16, b, 4) {
						mma(s[r][2 * b], u, v[b].xy);
						mma(s[r][2 * b + 1], u, v[b].zw);
					}
				}
			}
		}
		if (chunk == chunks)
			break;
		local uint4 *to = m + chunk % 2 * BUNDLES * rows + THREAD();
		EVERY (int b = 0; b < BUNDLES; b++)
			UP_TO (rows / SIZE, r, 2) to[b * rows + r * SIZE] = next[r][b];
		BARRIER();
	}
	local int *sums = (local int *)m;
	local int *to = sums + LANE() % 4 * 2 * PITCH(rows) + WARP() * (rows / 4) + LANE() / 4;
	UP_TO (columns / 16, b, 4) {
		if (b * 16 >= count)
			break;
		BARRIER();
		UP_TO (rows / 64, r, 4)
			EVERY (int q = 0; q < 8; q++)
				to[(q / 4 * 8 + q % 2) * PITCH(rows) + r * 16 + q / 2 % 2 * 8] = s[r][2 * b + q / 4][q % 4];
		BARRIER();
		mma_store(sums, rows, count - b * 16 < 16 ? count - b * 16 : 16, left, at, first, positions, G_O,
			o + b * 16, start, by, y, f, as_float, zero, least, most);
	}
}

#define INT8_MMA(NAME, ROWS, COLUMNS, FEW) \
	KERNEL NAME(int first, int n, IN uint4 *x, IN uint4 *w, IN int *start, IN float *by, OUT uchar *y, \
		OUT float *f, IN int *table, int x_zero, int as_float, int zero, int least, int most) { \
		local uint4 m[2 * BUNDLES * ROWS]; \
		mma_block(m, ROWS, COLUMNS, FEW, first, n, x, w, start, by, y, f, table, x_zero, as_float, zero, least, \
			most); \
	}
INT8_MMA(conv_int8_mma64, 128, 64, 0)
INT8_MMA(conv_int8_mma32, 256, 32, 0)
INT8_MMA(first_int8_mma64, 128, 64, 1)
INT8_MMA(first_int8_mma32, 256, 32, 1)
#endif
