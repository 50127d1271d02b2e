// Convolutions of bytes by register blocks (29_block.cl): rows are output channels of a group,
// columns are positions of all images. A quad is the bytes of four channels of a pixel, or four
// weights. One operation multiplies two quads and adds the products. The last quad of a tap is
// filled up with weights of 0.
//
// A sum begins with bias - x_zero * (sum of the weights). Then bytes can be multiplied without
// subtracting x_zero first. Padding consists of bytes of x_zero.

// pack_int8 packs weights into quads. Word e is quad e % quads of tap e / quads % taps.
KERNEL pack_int8(int first, IN char *w, OUT uint *packed, int n, int channels, int taps, int quads) {
	EACH(e, unit, n);
	int k = e % quads * 4, t = e / quads % taps, o = e / quads / taps;
	uint quad = 0;
	for (int j = 0; j < 4 && k + j < channels; j++)
		quad |= ((uint)w[((long)o * channels + k + j) * taps + t] & 255u) << 8 * j;
	packed[e] = quad;
}

KERNEL start_int8(int first, IN char *w, IN int *bias, OUT int *start, int n, int terms, int x_zero) {
	EACH(e, unit, n);
	int sum = 0;
	for (int i = 0; i < terms; i++)
		sum += w[(long)e * terms + i];
	start[e] = bias[e] - x_zero * sum;
}

// dot8 multiplies a quad of weights by the quads of eight columns and adds the products to s.
#if defined(DOT)
FUNCTION int dot4(uint w, uint x, int s) {
	int d;
	__asm__("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(w), "r"(s));
	return d;
}
#elif defined(cl_khr_integer_dot_product) && defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable
#define DOT
FUNCTION int dot4(uint w, uint x, int s) { return s + dot_4x8packed_us_int(x, w); }
#endif

#ifdef DOT
FUNCTION int8 dot8(uint w, uint8 x, int8 s) {
	s.s0 = dot4(w, x.s0, s.s0);
	s.s1 = dot4(w, x.s1, s.s1);
	s.s2 = dot4(w, x.s2, s.s2);
	s.s3 = dot4(w, x.s3, s.s3);
	s.s4 = dot4(w, x.s4, s.s4);
	s.s5 = dot4(w, x.s5, s.s5);
	s.s6 = dot4(w, x.s6, s.s6);
	s.s7 = dot4(w, x.s7, s.s7);
	return s;
}
#else
#define WEIGHT(quad, j) ((int)(quad) << (24 - 8 * (j)) >> 24)

FUNCTION int8 dot8(uint w, uint8 x, int8 s) {
	s += as_int8(x & 255u) * WEIGHT(w, 0);
	s += as_int8(x >> 8u & 255u) * WEIGHT(w, 1);
	s += as_int8(x >> 16u & 255u) * WEIGHT(w, 2);
	s += as_int8(x >> 24u) * WEIGHT(w, 3);
	return s;
}
#endif

// window_column is a column of the product that a thread fetches and stores.
typedef struct window_column {
	IN uchar *from; // the group's channels of the image
	long to;        // index of the first row's result
	int there;      // whether the column exists
	int y, x;       // where its window begins
	int inside, at; // whether its current pixel is inside the image, and the pixel's index
} window_column;

// quad_of returns the quad of a column's current pixel that begins with channel k.
FUNCTION uint quad_of(window_column *mine, int k, int channels, int plane, uint padding) {
	if (!mine->inside)
		return padding;
	IN uchar *from = mine->from + (mine->at + (long)k * plane);
	uint quad = from[0];
	EVERY (int j = 1; j < 4; j++)
		if (k + j < channels)
			quad |= (uint)from[(long)j * plane] << 8 * j;
	return quad;
}

// int8_multiply is block_multiply for quads.
FUNCTION void int8_multiply(int8 *s, local uint *chunk, int rows, int columns, int high, int wide) {
	int across = columns / WIDE, line = THREAD() / across * WIDE, at = THREAD() % across * WIDE;
	local uint *a = chunk + line, *b = chunk + DEPTH * LEFT(rows) + at;
	if (line >= high || at >= wide)
		return;
	EVERY (int k = 0; k < DEPTH; k++) {
		uint8 v = *(local uint8 *)(b + k * RIGHT(columns));
		EVERY (int i = 0; i < WIDE; i++) s[i] = dot8(a[k * LEFT(rows) + i], v, s[i]);
	}
}

// int8_store computes results from a block's sums and stores its count rows, at a distance of step.
FUNCTION void int8_store(local uint *m, int8 *s, window_column *mine, int rows, int columns, int count,
	int step, IN int *start, IN float *by, OUT uchar *y, OUT float *f, int as_float, int zero, int least, int most) {
	EVERY (int q = 0; q < WIDE; q += 2) {
		int across = columns / WIDE, line = THREAD() / across, at = THREAD() % across * WIDE;
		*(local int8 *)(m + line * columns + at) = s[q];
		*(local int8 *)(m + (rows / WIDE + line) * columns + at) = s[q + 1];
		BARRIER();
		LOOP (int l = 0; l < rows / (WIDE / 2); l++) {
			int r = ROW_OF(l, rows) + q;
			UP_TO (columns / SIZE, i, 2)
				if (mine[i].there && r < count) {
					float v = (float)((int)m[l * columns + i * SIZE + THREAD()] + start[r]) * by[r];
					if (as_float)
						f[mine[i].to + r * step] = v;
					else
						y[mine[i].to + r * step] = stepped(v, zero, least, most);
				}
		}
		if (q + 2 < WIDE)
			BARRIER();
	}
}

FUNCTION void int8_block(local uint *m, int rows, int columns, int first, int n, IN uchar *x, IN uint *w,
	IN int *start, IN float *by, OUT uchar *y, OUT float *f, IN int *g, int count_x, int x_zero, int as_float,
	int zero, int least, int most) {
	int positions = G_OH * G_OW, per = (G_OG + rows - 1) / rows, group = GROUP_Y() / per;
	int of = GROUP_Y() % per * rows, count = G_OG - of, o = group * G_OG + of, channels = G_CG;
	int high = G_H, wide = G_W, plane = high * wide, kw = G_KW, quads = (channels + 3) / 4;
	int all = quads * G_KH * kw, left = n - GROUP() * columns; // columns from this block on
	window_column mine[2];
	UP_TO (columns / SIZE, r, 2) {
		int c = GROUP() * columns + r * SIZE + THREAD(), there = c < n, p;
		c = there ? c : 0;
		p = c % positions;
		long unit = first + c / positions;
		mine[r].there = there;
		mine[r].from = x + unit * count_x + (long)group * channels * plane;
		mine[r].to = (unit * G_O + o) * positions + p;
		mine[r].y = p / G_OW * G_SH - G_TOP;
		mine[r].x = p % G_OW * G_SW - G_LEFT;
	}
	w += (long)o * all;
	uint padding = (uint)x_zero * 0x01010101u;
	int t = 0, k = 0;
	int8 s[WIDE];
	EVERY (int i = 0; i < WIDE; i++) s[i] = (int8)(0);
	LOOP (int begin = 0; begin < all; begin += DEPTH) {
		local uint *a = m + THREAD() % DEPTH * LEFT(rows) + THREAD() / DEPTH;
		local uint *b = m + DEPTH * LEFT(rows) + THREAD();
		int q = begin + THREAD() % DEPTH;
		UP_TO (rows / STRIDE, i, 4) {
			int r = THREAD() / DEPTH + i * STRIDE;
			a[i * STRIDE] = q < all && r < count ? w[(long)r * all + q] : 0u;
		}
		LOOP (int d = 0; d < DEPTH; d++) {
			if (k == 0) // the next tap
				UP_TO (columns / SIZE, r, 2) {
					int v = mine[r].y + t / kw * G_DH, u = mine[r].x + t % kw * G_DW;
					mine[r].inside = mine[r].there && begin + d < all && v >= 0 && v < high && u >= 0 && u < wide;
					mine[r].at = v * wide + u;
				}
			UP_TO (columns / SIZE, r, 2)
				b[d * RIGHT(columns) + r * SIZE] = quad_of(mine + r, k * 4, channels, plane, padding);
			if (++k == quads) {
				k = 0;
				t++;
			}
		}
		BARRIER();
		int8_multiply(s, m, rows, columns, count, left);
		BARRIER();
	}
	int8_store(m, s, mine, rows, columns, count, positions, start + o, by + o, y, f, as_float, zero, least,
		most);
}

// LAID is the number of words of a chunk or of two rows of every thread's results, whichever is larger.
#define LAID(rows, columns) (CHUNK(rows, columns, DEPTH) > rows / WIDE * 2 * columns ? \
	CHUNK(rows, columns, DEPTH) : rows / WIDE * 2 * columns)

#define INT8_BLOCK(ROWS, COLUMNS) \
	KERNEL conv_int8_block##ROWS(int first, int n, IN uchar *x, IN uint *w, IN int *start, IN float *by, \
		OUT uchar *y, OUT float *f, IN int *table, int count_x, int x_zero, int as_float, int zero, int least, \
		int most) { \
		local uint m[LAID(ROWS, COLUMNS)] __attribute__((aligned(32))); \
		int8_block(m, ROWS, COLUMNS, first, n, x, w, start, by, y, f, table, count_x, x_zero, as_float, zero, \
			least, most); \
	}
INT8_BLOCK(64, 128)
INT8_BLOCK(32, 256)
