// Resized images. Every row of the result mixes two rows of the original, and every column
// two columns. r contains the sizes of the original and of the result; the lower and the
// upper row that each row of the result mixes, and the same for columns; and for each row of
// the original the range of rows of the result that mix it, first and end, and the same for
// columns. weights contains the weight of the upper row or column of each pair.
#define R_H r[0]
#define R_W r[1]
#define R_OH r[2]
#define R_OW r[3]
#define R_ROWS (r + 4)
#define R_COLUMNS (R_ROWS + 2 * R_OH)
#define R_BY_ROW (R_COLUMNS + 2 * R_OW)
#define R_BY_COLUMN (R_BY_ROW + 2 * R_H)

// share returns the weight of corner i of the four pixels that a pixel of the result mixes.
// Bit 1 of i selects the upper row, bit 0 the upper column.
FUNCTION double share(double row, double column, int i) {
	return (i & 2 ? row : 1.0 - row) * (i & 1 ? column : 1.0 - column);
}

KERNEL resize(int first, IN float *x, OUT float *y, IN int *table, IN double *weights, int n, int count_x) {
	EACH(e, unit, n);
	IN int *r = table;
	int row = e / R_OW % R_OH, column = e % R_OW;
	x += unit * count_x + e / (R_OH * R_OW) * R_H * R_W;
	double s = 0.0;
	for (int i = 0; i < 4; i++) {
		double w = share(weights[row], weights[R_OH + column], i);
		if (w != 0.0)
			s += w * (double)x[R_ROWS[2 * row + (i >> 1)] * R_W + R_COLUMNS[2 * column + (i & 1)]];
	}
	y[unit * n + e] = (float)s;
}

KERNEL resize_back(int first, IN float *dy, OUT float *dx, IN int *table, IN double *weights, int n,
	int count_dy) {
	EACH(e, unit, n);
	IN int *r = table;
	int py = e / R_W % R_H, px = e % R_W;
	dy += unit * count_dy + e / (R_H * R_W) * R_OH * R_OW;
	double s = 0.0;
	for (int row = R_BY_ROW[2 * py]; row < R_BY_ROW[2 * py + 1]; row++)
		for (int column = R_BY_COLUMN[2 * px]; column < R_BY_COLUMN[2 * px + 1]; column++)
			for (int i = 0; i < 4; i++) {
				double w = share(weights[row], weights[R_OH + column], i);
				if (w != 0.0 && R_ROWS[2 * row + (i >> 1)] == py && R_COLUMNS[2 * column + (i & 1)] == px)
					s += w * (double)dy[row * R_OW + column];
			}
	dx[unit * n + e] = (float)s;
}
