// Softmax along lines of length elements that lie step apart. e counts the elements
// of a unit; a line begins at e / (length*step) * (length*step) + e % step.

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

#define LINE(e, length, step) (e / (length * step) * (length * step) + e % step)

KERNEL softmax(int first, IN float *x, OUT float *y, int n, int length, int step, int logarithm) {
	EACH(e, unit, n);
	double top, log = log_sum_exp(x + unit * n + LINE(e, length, step), length, step, &top);
	double v = (double)x[unit * n + e] - top - log;
	y[unit * n + e] = (float)(logarithm ? v : exp_of(v));
}

KERNEL softmax_back(int first, IN float *y, IN float *dy, OUT float *dx, int n, int length, int step, int logarithm) {
	EACH(e, unit, n);
	long at = unit * n + LINE(e, length, step);
	double sum = 0.0;
	for (int k = 0; k < length; k++) {
		double g = (double)dy[at + k * step];
		sum += logarithm ? g : g * (double)y[at + k * step];
	}
	double v = (double)y[unit * n + e], g = (double)dy[unit * n + e];
	dx[unit * n + e] = (float)(logarithm ? g - exp_of(v) * sum : v * (g - sum));
}
