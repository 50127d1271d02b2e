// Products of matrices by register blocks. A group of threads computes a block of rows
// by columns results, of which each thread computes WIDE by WIDE. A chunk is DEPTH terms
// of each chain. Local memory has room for two chunks: while one is multiplied, the next
// is fetched. Each result is a single chain over all its terms, in order. The last chunk
// is filled up with products of -0 and +0, which do not change a sum or its sign.
#define WIDE 8
#define DEPTH 8
#define STRIDE (SIZE / DEPTH) // a thread fetches terms of every STRIDEth row

// A chunk is DEPTH lines of the left matrix, then DEPTH lines of the right one. LEFT and
// RIGHT are the distances between lines. With them, neighbouring threads store to different
// banks, and eight columns begin at a multiple of 32 bytes.
#define LEFT(rows) (rows + 4)
#define RIGHT(columns) (columns + 8)
#define CHUNK(rows, columns, depth) (depth * (LEFT(rows) + RIGHT(columns)))
#define LOCAL(rows, columns, depth) \
	local float m[2 * CHUNK(rows, columns, depth)] __attribute__((aligned(32)))
// UP_TO loops n times. It is unrolled most times, which n must not exceed, because a
// function is compiled before its arguments are known.
#define UP_TO(n, i, most) EVERY (int i = 0; i < most; i++) if (i < n)

// fma8 returns a * b + c for eight columns.
FUNCTION float8 fma8(float a, float8 b, float8 c) {
#ifdef PTX
	c.s0 = FMA(a, b.s0, c.s0);
	c.s1 = FMA(a, b.s1, c.s1);
	c.s2 = FMA(a, b.s2, c.s2);
	c.s3 = FMA(a, b.s3, c.s3);
	c.s4 = FMA(a, b.s4, c.s4);
	c.s5 = FMA(a, b.s5, c.s5);
	c.s6 = FMA(a, b.s6, c.s6);
	c.s7 = FMA(a, b.s7, c.s7);
	return c;
#else
	return fma((float8)(a), b, c);
#endif
}

// block_multiply adds the products of a chunk to a thread's sums, unless all its results are
// beyond the block's high rows or wide columns.
FUNCTION void block_multiply(float8 *s, local float *chunk, int rows, int columns, int depth, int high,
	int wide) {
	int across = columns / WIDE, line = THREAD() / across * WIDE, at = THREAD() % across * WIDE;
	local float *a = chunk + line, *b = chunk + depth * LEFT(rows) + at;
	if (line >= high || at >= wide)
		return;
	UP_TO (depth, k, DEPTH) {
		float8 v = *(local float8 *)(b + k * RIGHT(columns));
		EVERY (int i = 0; i < WIDE; i++) s[i] = fma8(a[k * LEFT(rows) + i], v, s[i]);
	}
}

// block_keep_columns stores all terms of every SIZEth column, beginning at THREAD().
FUNCTION void block_keep_columns(local float *to, float *b, int columns) {
	to += THREAD();
	UP_TO (columns / SIZE, r, 2)
		EVERY (int k = 0; k < DEPTH; k++) to[k * RIGHT(columns) + r * SIZE] = b[r * DEPTH + k];
}

// block_keep stores the terms of a chunk that a thread has fetched: term THREAD() % DEPTH of
// every STRIDEth row of the left matrix, and all terms of its columns of the right one.
FUNCTION void block_keep(local float *chunk, float *a, float *b, int rows, int columns) {
	local float *to = chunk + THREAD() % DEPTH * LEFT(rows) + THREAD() / DEPTH;
	UP_TO (rows / STRIDE, i, 4) to[i * STRIDE] = a[i];
	block_keep_columns(chunk + DEPTH * LEFT(rows), b, columns);
}

// block_lay copies two rows of every thread's results to local memory, from which the group
// stores them line by line. If these are rows q and q + 1 of each thread, line l is row
// q + ROW_OF(l) of the block.
FUNCTION void block_lay(local float *m, float8 *s, int rows, int columns) {
	int across = columns / WIDE, line = THREAD() / across, at = THREAD() % across * WIDE;
	*(local float8 *)(m + line * columns + at) = s[0];
	*(local float8 *)(m + (rows / WIDE + line) * columns + at) = s[1];
}
#define ROW_OF(l, rows) (l % (rows / WIDE) * WIDE + l / (rows / WIDE))
