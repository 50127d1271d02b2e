// Moves of elements. table contains a shape, the strides of the source and the strides of
// the target.

#define MOVE(name, type) \
	KERNEL name(int first, IN type *x, OUT type *y, IN int *owner, IN int *table, int n, int rank, int from, \
		int to, int of_x, int count_x, int count_y) { \
		EACH(e, unit, n); \
		IN int *t = table; \
		y[unit * count_y + to + index(t, t + 2 * rank, rank, e)] = \
			x[UNIT(of_x, unit, owner) * count_x + from + index(t, t + rank, rank, e)]; \
	}

MOVE(move1, uchar)
MOVE(move4, uint)
MOVE(move8, ulong)

// fill1 sets all bytes of y.
KERNEL fill1(int first, OUT uchar *y, int n, int byte) {
	EACH(e, unit, n);
	y[unit * n + e] = (uchar)byte;
}

// fill sets all 4-byte words of y.
KERNEL fill(int first, OUT uint *y, int n, int word) {
	EACH(e, unit, n);
	y[unit * n + e] = (uint)word;
}

// fill64 sets all 8-byte numbers of y.
KERNEL fill64(int first, OUT double *y, int n, double value) {
	EACH(e, unit, n);
	y[unit * n + e] = value;
}
