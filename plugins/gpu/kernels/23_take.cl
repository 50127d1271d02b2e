// Takes: elements of an axis, selected by a list of indices. A line is the inner elements
// with one index of the axis. The axis has from lines in the operand and to lines in the
// result.

#define TAKE(name, type) \
	KERNEL name(int first, IN type *x, OUT type *y, IN int *index, int n, int to, int from, int inner, \
		int count_x) { \
		EACH(e, unit, n); \
		int line = e / inner; \
		y[unit * n + e] = \
			x[unit * count_x + ((long)(line / to) * from + index[line % to]) * inner + e % inner]; \
	}

TAKE(take1, uchar)
TAKE(take4, uint)
TAKE(take8, ulong)

// The gradient of a line of the operand is the sum, in order, of the gradients of the lines
// of the result that took it. table contains the end of each line's list, then the lists.
#define TAKE_BACK(name, type) \
	KERNEL name(int first, IN type *dy, OUT type *dx, IN int *table, int n, int to, int from, int inner, \
		int count_dy) { \
		EACH(e, unit, n); \
		int line = e / inner, j = line % from; \
		dy += unit * count_dy + (long)(line / from) * to * inner + e % inner; \
		double s = 0.0; \
		for (int i = j ? table[j - 1] : 0; i < table[j]; i++) \
			s += (double)dy[(long)table[from + i] * inner]; \
		dx[unit * n + e] = (type)s; \
	}

TAKE_BACK(take_back32, float)
TAKE_BACK(take_back64, double)
