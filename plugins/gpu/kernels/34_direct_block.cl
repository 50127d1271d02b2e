// Direct convolutions by register blocks: 16 output channels, and kernels with three columns.
// A chain has the order ORDER_DIRECT.
#define DIRECT_ROWS 16
#define DIRECT_COLUMNS 512
#define DIRECT_DEPTH 6 // two channels with three columns each
#define DIRECT CHUNK(DIRECT_ROWS, DIRECT_COLUMNS, DIRECT_DEPTH)

KERNEL direct_block16(int first, int n, IN float *x, IN float *w, IN float *bias, OUT float *y, IN int *table,
	int count_x, int biased, EPILOGUE) {
	LOCAL(DIRECT_ROWS, DIRECT_COLUMNS, DIRECT_DEPTH);
	IN int *g = table;
	int positions = G_OH * G_OW, channels = G_C, high = G_H, wide = G_W, plane = high * wide;
	column mine[DIRECT_COLUMNS / SIZE];
	EVERY (int r = 0; r < DIRECT_COLUMNS / SIZE; r++) {
		int c = GROUP() * DIRECT_COLUMNS + r * SIZE + THREAD(), there = c < n, p;
		c = there ? c : 0;
		p = c % positions;
		long unit = first + c / positions;
		mine[r].there = there;
		mine[r].from = x + unit * count_x;
		mine[r].unit = (int)unit;
		mine[r].e = p;
		mine[r].y = p / G_OW - G_TOP;
		mine[r].x = p % G_OW - G_LEFT;
	}
	int term = THREAD() % DIRECT_DEPTH, row = THREAD() / DIRECT_DEPTH;
	w += G_BASE + row * G_STEP_O + term / 3 * G_STEP_K + term % 3 * G_STEP_T;
	int step_k = G_STEP_K, step_t = 3 * G_STEP_T, chunks = channels / 2 * G_KH, t = 0, k = 0;
	float a = 0.0f, b[DIRECT_COLUMNS / SIZE * DIRECT_DEPTH];
	float8 s[WIDE];
	EVERY (int i = 0; i < WIDE; i++) s[i] = (float8)(0.0f);
	LOOP (int chunk = 0; chunk <= chunks; chunk++) {
		if (chunk < chunks) {
			EVERY (int r = 0; r < DIRECT_COLUMNS / SIZE; r++) {
				int v = mine[r].y + t, within = mine[r].there && v >= 0 && v < high;
				EVERY (int i = 0; i < DIRECT_DEPTH; i++) {
					int u = mine[r].x + i % 3, inside = within && u >= 0 && u < wide;
					float p = mine[r].from[inside ? (k + i / 3) * plane + v * wide + u : 0];
					b[r * DIRECT_DEPTH + i] = inside ? p : 0.0f;
				}
			}
			if (row < DIRECT_ROWS)
				a = w[t * step_t + k * step_k];
			k += 2;
			if (k >= channels) {
				k = 0;
				t++;
			}
		}
		if (chunk > 0)
			block_multiply(s, m + (chunk - 1) % 2 * DIRECT, DIRECT_ROWS, DIRECT_COLUMNS, DIRECT_DEPTH, DIRECT_ROWS,
				n - GROUP() * DIRECT_COLUMNS);
		if (chunk < chunks) {
			local float *to = m + chunk % 2 * DIRECT;
			if (row < DIRECT_ROWS)
				to[term * LEFT(DIRECT_ROWS) + row] = a;
			to += DIRECT_DEPTH * LEFT(DIRECT_ROWS) + THREAD();
			EVERY (int r = 0; r < DIRECT_COLUMNS / SIZE; r++)
				EVERY (int i = 0; i < DIRECT_DEPTH; i++) to[i * RIGHT(DIRECT_COLUMNS) + r * SIZE] = b[r * DIRECT_DEPTH + i];
		}
		BARRIER();
	}
	epilogue last = GIVEN;
	block_store(m, s, mine, DIRECT_ROWS, DIRECT_COLUMNS, DIRECT_ROWS, positions, bias, biased, y, G_O * positions, last);
}
