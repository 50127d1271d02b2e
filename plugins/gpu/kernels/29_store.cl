// Results of register blocks, and their way to memory.

// column is a column of the product that a thread fetches and stores. It belongs to a pixel
// of an image.
typedef struct column {
	IN float *from; // the image
	int unit, e;    // the unit of the result, and the result of row 0 in it
	int there;      // whether the column exists
	int y, x;       // where its window begins
	int inside, at; // whether its current pixel is inside the image, and the pixel's index
} column;

// block_store adds the bias to a block and stores its count rows, at a distance of step, after
// the steps of an epilogue. A unit has n results. The loops are not unrolled, so that a kernel
// has the code of the epilogue once.
FUNCTION void block_store(local float *m, float8 *s, column *mine, int rows, int columns, int count, int step,
	IN float *bias, int biased, OUT float *y, int n, epilogue last) {
	LOOP (int q = 0; q < WIDE; q += 2) {
		EVERY (int i = 0; i < WIDE; i += 2)
			if (i == q)
				block_lay(m, s + i, rows, columns);
		BARRIER();
		LOOP (int i = 0; i < columns / SIZE; i++) {
			int unit = mine[0].unit, e = mine[0].e, there = mine[0].there;
			EVERY (int k = 1; k < 4; k++)
				if (k < columns / SIZE && k == i) {
					unit = mine[k].unit;
					e = mine[k].e;
					there = mine[k].there;
				}
			LOOP (int l = 0; l < rows / (WIDE / 2); l++) {
				int r = ROW_OF(l, rows) + q;
				if (there && r < count) {
					float v = m[l * columns + i * SIZE + THREAD()];
					v = biased ? v + bias[r] : v;
					y[(long)unit * n + e + r * step] = finished(last, 0, v, unit, e + r * step);
				}
			}
		}
		BARRIER();
	}
}
