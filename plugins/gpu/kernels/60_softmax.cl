// BLOCK is the number of positions that are added in float32. The sums of blocks are added in
// float64, up to SPAN positions in one chain.
#define BLOCK 64
#define SPAN 4096

// Softmax along lines of length elements, with a distance of step between elements.

FUNCTION double log_sum_exp(IN float *x, int length, int step, double *largest) {
	double top = (double)x[0];
	for (int k = 0; k < length; k++)
		top = greater(top, (double)x[k * step]);
	double sum = 0.0;
	for (int k = 0; k < length; k++)
		sum += exp_of((double)x[k * step] - top);
	*largest = top;
	return log_of(sum);
}

// LINE_OF is the line that contains element e. LINE_AT is the index of the first element of line l.
#define LINE_OF(e, length, step) (e / (length * step) * step + e % step)
#define LINE_AT(l, length, step) (l / step * (length * step) + l % step)

// line_logs computes for every line its largest value, top, and the logarithm of the sum of
// all e^(x - top).
KERNEL line_logs(int first, IN float *x, OUT double *logs, int n, int length, int step) {
	EACH(l, unit, n);
	double top, log = log_sum_exp(x + unit * n * length + LINE_AT(l, length, step), length, step, &top);
	logs[(unit * n + l) * 2] = top;
	logs[(unit * n + l) * 2 + 1] = log;
}

// exp_normal is class.ExpNormal: 0 below EXP_NORMAL_LEAST.
#define EXP_NORMAL_LEAST -87.0f

FUNCTION float exp_normal(float x) {
	return x < EXP_NORMAL_LEAST ? 0.0f : exp32(x);
}

// line_totals computes for every line its largest value, top, and the sum of all e^(x - top),
// in blocks of float32.
KERNEL line_totals(int first, IN float *x, OUT float *totals, int n, int length, int step) {
	EACH(l, unit, n);
	IN float *v = x + unit * n * length + LINE_AT(l, length, step);
	float top = v[0], block = 0.0f;
	double total = 0.0;
	for (int k = 0; k < length; k++)
		top = v[k * step] > top ? v[k * step] : top;
	for (int k = 0; k < length; k++) {
		if (k % BLOCK == 0) {
			total += (double)block;
			block = 0.0f;
		}
		block += exp_normal(v[k * step] - top);
	}
	totals[(unit * n + l) * 2] = top;
	totals[(unit * n + l) * 2 + 1] = (float)(total + (double)block);
}

KERNEL softmax(int first, IN float *x, IN float *totals, OUT float *y, int n, int length, int step,
	int logarithm) {
	EACH(e, unit, n);
	IN float *t = totals + (unit * (n / length) + LINE_OF(e, length, step)) * 2;
	float v = x[unit * n + e] - t[0];
	y[unit * n + e] = logarithm ? v - log32(t[1]) : DIV(exp_normal(v), t[1]);
}

// line_sums computes for every line the sum of the gradients or, without logarithm, the sum of
// the gradients times the values of softmax.
KERNEL line_sums(int first, IN float *y, IN float *dy, OUT double *sums, int n, int length, int step,
	int logarithm) {
	EACH(l, unit, n);
	long at = unit * n * length + LINE_AT(l, length, step);
	double sum = 0.0;
	for (int k = 0; k < length; k++) {
		double g = (double)dy[at + k * step];
		sum += logarithm ? g : g * (double)y[at + k * step];
	}
	sums[unit * n + l] = sum;
}

KERNEL softmax_back(int first, IN float *y, IN float *dy, IN double *sums, OUT float *dx, int n, int length,
	int step, int logarithm) {
	EACH(e, unit, n);
	double sum = sums[unit * (n / length) + LINE_OF(e, length, step)];
	double v = (double)y[unit * n + e], g = (double)dy[unit * n + e];
	dx[unit * n + e] = (float)(logarithm ? g - exp_of(v) * sum : v * (g - sum));
}
