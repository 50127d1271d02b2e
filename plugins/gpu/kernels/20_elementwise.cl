// Functions of one element and of two. Package gpu defines their numbers.

FUNCTION double unary(int op, double x, double a, double b) {
	switch (op) {
	case 52: return x >= 0.0 ? x : a * x;
	case 53: return x > 0.0 ? x : a * expm1_of(x);
	case 54: return sigmoid(x);
	case 55: return lesser(greater(a * x + b, 0.0), 1.0);
	case 56: return x * sigmoid(x);
	case 57: return x * lesser(greater(x + 3.0, 0.0), 6.0) / 6.0;
	case 58: return tanh_of(x);
	case 59: return greater(x, 0.0) + log1p_of(exp_of(-ABS64(x)));
	case 84: return exp_of(x);
	case 85: return log_of(x);
	case 86: return SQRT64(x);
	case 87: return a * x + b;
	case 165: return round_of(x, (int)a);
	}
	return lesser(greater(x, a), b); // 50, 51 and 88
}

KERNEL unary64(int first, IN double *x, OUT double *y, int n, int op, double a, double b) {
	EACH(e, unit, n);
	y[unit * n + e] = unary(op, x[unit * n + e], a, b);
}

KERNEL unary32(int first, IN float *x, OUT float *y, int n, int op, double a, double b) {
	EACH(e, unit, n);
	y[unit * n + e] = function32(op, x[unit * n + e], (float)a, (float)b);
}

KERNEL activation_gradient(int first, IN float *x, IN float *dy, OUT float *dx, int n, int op, double a,
	double b) {
	EACH(e, unit, n);
	long i = unit * n + e;
	float v = x[i], g = dy[i];
	switch (op) {
	case 50: dx[i] = v > 0.0f ? g : 0.0f; return;
	case 51: dx[i] = v > 0.0f && v < 6.0f ? g : 0.0f; return;
	}
	dx[i] = derivative32(op, v, (float)a, (float)b) * g;
}

// index returns the position of element e of a unit in an operand with the given strides,
// one for every number of shape.
FUNCTION int index(IN int *shape, IN int *stride, int rank, int e) {
	int at = 0;
	for (int i = rank - 1; i >= 0; i--) {
		at += e % shape[i] * stride[i];
		e /= shape[i];
	}
	return at;
}

// binary returns a function of two numbers, which callers round once if the result is
// float32. Comparisons are numbered from 256 on, in the order of package graph.
FUNCTION double binary(int op, double a, double b) {
	switch (op) {
	case 80: return a + b;
	case 81: return a - b;
	case 82: return a * b;
	case 83: return a / b;
	case 160: return greater(a, b);
	case 161: return lesser(a, b);
	case 162: return pow_of(a, b);
	case 256: return a == b ? 1.0 : 0.0;
	case 257: return a != b ? 1.0 : 0.0;
	case 258: return a > b ? 1.0 : 0.0;
	case 259: return a >= b ? 1.0 : 0.0;
	case 260: return a < b ? 1.0 : 0.0;
	}
	return a <= b ? 1.0 : 0.0;
}

KERNEL binary32(int first, IN float *a, IN float *b, OUT float *y, IN int *owner, IN int *table, int n,
	int rank, int op, int of_a, int count_a, int of_b, int count_b) {
	EACH(e, unit, n);
	IN int *t = table;
	float u = a[UNIT(of_a, unit, owner) * count_a + index(t, t + rank, rank, e)];
	float v = b[UNIT(of_b, unit, owner) * count_b + index(t, t + 2 * rank, rank, e)];
	y[unit * n + e] = op == 80 ? u + v : op == 81 ? u - v : op == 82 ? u * v : (float)binary(op, u, v);
}

KERNEL binary64(int first, IN double *a, IN double *b, OUT double *y, IN int *owner, IN int *table,
	int n, int rank, int op, int of_a, int count_a, int of_b, int count_b) {
	EACH(e, unit, n);
	IN int *t = table;
	double u = a[UNIT(of_a, unit, owner) * count_a + index(t, t + rank, rank, e)];
	double v = b[UNIT(of_b, unit, owner) * count_b + index(t, t + 2 * rank, rank, e)];
	y[unit * n + e] = binary(op, u, v);
}

// where32 and where64 copy elements of x where test is not 0, and of z elsewhere.
KERNEL where32(int first, IN float *test, IN float *x, IN float *z, OUT float *y, IN int *owner, IN int *table,
	int n, int rank, int of_test, int count_test, int of_x, int count_x, int of_z, int count_z) {
	EACH(e, unit, n);
	IN int *t = table;
	if (test[UNIT(of_test, unit, owner) * count_test + index(t, t + rank, rank, e)] != 0.0f)
		y[unit * n + e] = x[UNIT(of_x, unit, owner) * count_x + index(t, t + 2 * rank, rank, e)];
	else
		y[unit * n + e] = z[UNIT(of_z, unit, owner) * count_z + index(t, t + 3 * rank, rank, e)];
}

KERNEL where64(int first, IN double *test, IN double *x, IN double *z, OUT double *y, IN int *owner,
	IN int *table, int n, int rank, int of_test, int count_test, int of_x, int count_x, int of_z, int count_z) {
	EACH(e, unit, n);
	IN int *t = table;
	if (test[UNIT(of_test, unit, owner) * count_test + index(t, t + rank, rank, e)] != 0.0)
		y[unit * n + e] = x[UNIT(of_x, unit, owner) * count_x + index(t, t + 2 * rank, rank, e)];
	else
		y[unit * n + e] = z[UNIT(of_z, unit, owner) * count_z + index(t, t + 3 * rank, rank, e)];
}

// prelu computes PReLU of x or, with op 62, the gradient of x from dy.
KERNEL prelu(int first, IN float *x, IN float *slope, IN float *dy, OUT float *y, int n, int positions, int op) {
	EACH(e, unit, n);
	long i = unit * n + e;
	float v = op == 62 ? dy[i] : x[i];
	y[i] = x[i] >= 0.0f ? v : v * slope[e / positions];
}

// image looks up bytes in lut, which has 256 float32 per channel. It reads bytes in words of 4.
KERNEL image(int first, IN uint *x, IN float *lut, OUT float *y, int n, int channels, int positions, int bgr) {
	EACH(e, unit, n);
	int c = e / positions;
	long at = unit * n + (long)(e % positions) * channels + (bgr ? channels - 1 - c : c);
	uint byte = x[at / 4] >> (uint)(at % 4 * 8) & 255u;
	y[unit * n + e] = lut[c * 256 + (int)byte];
}
