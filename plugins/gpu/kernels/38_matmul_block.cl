// Products of two computed matrices by register blocks. GROUP is the index of a block of columns,
// of a block of rows and of a product of a unit. table contains the sizes, the steps, and for
// every product the numbers of its two matrices.
#define T_M t[0]
#define T_K t[1]
#define T_N t[2]
#define T_DOWN_A t[3] // step between rows of the left matrix
#define T_NEXT_A t[4] // step between terms of a row
#define T_NEXT_B t[5] // step between terms of a column of the right matrix
#define T_RIGHT_B t[6] // step between columns
#define T_PAIR(i) t[7 + (i)]

FUNCTION void matmul_block(local float *m, int rows, int columns, int first, IN float *a, IN float *b, OUT float *y,
	IN int *t, int of_a, int count_a, int of_b, int count_b, int count_y, epilogue last) {
	IN int *owner = last.owner;
	int terms = T_K, n = T_N, across = (n + columns - 1) / columns, high = (T_M + rows - 1) / rows;
	int from = GROUP() % across * columns, of = GROUP() / across % high * rows, product = GROUP() / across / high;
	int count = T_M - of, chunks = (terms + DEPTH - 1) / DEPTH, p = THREAD() % DEPTH;
	long unit = (long)first + GROUP_Y();
	a += UNIT(of_a, unit, owner) * count_a + (long)T_PAIR(2 * product) * T_M * terms + (long)of * T_DOWN_A;
	b += UNIT(of_b, unit, owner) * count_b + (long)T_PAIR(2 * product + 1) * terms * n;
	int row[4], right[16], next_a = T_NEXT_A, next_b = T_NEXT_B;
	UP_TO (rows / STRIDE, i, 4) {
		int r = THREAD() / DEPTH + i * STRIDE;
		row[i] = (r < count ? r : 0) * T_DOWN_A;
	}
	UP_TO (columns / STRIDE, i, 16) {
		int e = from + THREAD() / DEPTH + i * STRIDE;
		right[i] = (e < n ? e : 0) * T_RIGHT_B;
	}
	float u[4], v[16];
	float8 s[WIDE];
	EVERY (int i = 0; i < WIDE; i++) s[i] = (float8)(0.0f);
	LOOP (int chunk = 0; chunk <= chunks; chunk++) {
		local float *to = m + chunk % 2 * CHUNK(rows, columns, DEPTH);
		if (chunk < chunks) {
			int k = chunk * DEPTH + p, there = k < terms;
			k = there ? k : 0;
			UP_TO (rows / STRIDE, i, 4) {
				float d = a[row[i] + k * next_a];
				u[i] = there ? d : -0.0f;
			}
			UP_TO (columns / STRIDE, i, 16) {
				float d = b[right[i] + k * next_b];
				v[i] = there ? d : 0.0f;
			}
		}
		if (chunk > 0)
			block_multiply(s, m + (chunk - 1) % 2 * CHUNK(rows, columns, DEPTH), rows, columns, DEPTH, count, n - from);
		if (chunk < chunks) {
			lines_keep(to, u, rows / STRIDE, LEFT(rows));
			lines_keep(to + DEPTH * LEFT(rows), v, columns / STRIDE, RIGHT(columns));
		}
		BARRIER();
	}
	column mine[2];
	UP_TO (columns / SIZE, i, 2) {
		int c = from + i * SIZE + THREAD();
		mine[i].there = c < n;
		mine[i].unit = (int)unit;
		mine[i].e = (product * T_M + of) * n + c;
	}
	block_store(m, s, mine, rows, columns, count, n, y, 0, y, count_y, last);
}

#define MATMUL_BLOCK(ROWS, COLUMNS) \
	KERNEL matmul_block##ROWS(int first, IN float *a, IN float *b, OUT float *y, IN int *table, int of_a, int count_a, \
		int of_b, int count_b, int count_y, EPILOGUE) { \
		LOCAL(ROWS, COLUMNS, DEPTH); \
		epilogue last = GIVEN; \
		matmul_block(m, ROWS, COLUMNS, first, a, b, y, table, of_a, count_a, of_b, count_b, count_y, last); \
	}
MATMUL_BLOCK(64, 128)
MATMUL_BLOCK(32, 256)
