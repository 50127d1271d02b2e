// Updates in float32, with operations in the order in which they are written.

// flag stores for a group of threads whether one of them has any.
FUNCTION void flag(local int *m, OUT int *found, int at, int any) {
	m[THREAD()] = any;
	BARRIER();
	if (THREAD() > 0)
		return;
	for (int i = 1; i < SIZE; i++) any = any || m[i];
	found[at + GROUP()] = any;
}

// sick returns whether a number is infinite or NaN.
FUNCTION int sick(float x) { return (BITS(x) & 0x7f800000u) == 0x7f800000u; }

// The kernels of optimizers store for each group of threads, in found from at on, whether a result
// is infinite or NaN.
KERNEL sgd(int first, IN float *w, IN float *g, IN float *v, IN float *lr, OUT float *w1, OUT float *v1, int n,
	OUT int *found, int at, double momentum, double decay, int nesterov) {
	local int groups[SIZE];
	int i = GROUP() * SIZE + THREAD(), any = 0;
	if (i < n) {
		float m = (float)momentum, k = (float)decay, d = g[i];
		if (k != 0.0f)
			d = g[i] + k * w[i];
		float next = m * v[i] + d, u = next;
		if (nesterov)
			u = d + m * next;
		u = w[i] - lr[0] * u;
		w1[i] = u;
		v1[i] = next;
		any = sick(u) || sick(next);
	}
	flag(groups, found, at, any);
}

KERNEL adamw(int first, IN float *w, IN float *g, IN float *m, IN float *v, IN float *lr, IN float *step,
	IN float *root, OUT float *w1, OUT float *m1, OUT float *v1, int n, OUT int *found, int at, double rest1,
	double rest2, double beta2, double eps, double decay) {
	local int groups[SIZE];
	int i = GROUP() * SIZE + THREAD(), any = 0;
	if (i < n) {
		float a = m[i] + (float)rest1 * (g[i] - m[i]);
		float b = (float)beta2 * v[i] + (float)rest2 * (g[i] * g[i]);
		float size = (float)SQRT64((double)b) * root[0] + (float)eps;
		float shrink = lr[0] * (float)decay;
		float u = (w[i] - shrink * w[i]) - step[0] * DIV(a, size);
		w1[i] = u;
		m1[i] = a;
		v1[i] = b;
		any = sick(u) || sick(a) || sick(b);
	}
	flag(groups, found, at, any);
}

KERNEL lars(int first, IN float *w, IN float *g, IN float *v, IN float *lr, IN float *ratio, OUT float *w1,
	OUT float *v1, int n, OUT int *found, int at, double momentum, double decay) {
	local int groups[SIZE];
	int i = GROUP() * SIZE + THREAD(), any = 0;
	if (i < n) {
		float rate = lr[0] * ratio[0], d = g[i] + (float)decay * w[i];
		float next = (float)momentum * v[i] + rate * d, u = w[i] - next;
		v1[i] = next;
		w1[i] = u;
		any = sick(u) || sick(next);
	}
	flag(groups, found, at, any);
}

KERNEL ema(int first, IN float *average, IN float *w, OUT float *next, int n, OUT int *found, int at, double rest) {
	local int groups[SIZE];
	int i = GROUP() * SIZE + THREAD(), any = 0;
	if (i < n) {
		float u = average[i] + (float)rest * (w[i] - average[i]);
		next[i] = u;
		any = sick(u);
	}
	flag(groups, found, at, any);
}

// squares computes the sum of the squares of each block of 1024 elements, in eight lanes of
// float64 that are added in pairs.
KERNEL squares(int first, IN float *x, OUT double *parts, int n, int count) {
	EACH(e, unit, n);
	double lane[8];
	_Pragma("unroll") for (int k = 0; k < 8; k++) {
		lane[k] = 0.0;
		for (int i = e * 1024 + k; i < e * 1024 + 1024 && i < count; i += 8)
			lane[k] += (double)x[i] * (double)x[i];
	}
	parts[e] = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

KERNEL squares_total(int first, IN double *parts, OUT double *y, int n, int blocks) {
	EACH(e, unit, n);
	double all[LEVELS], v = 0.0;
	for (int i = 0; i < blocks; i++) {
		v = parts[i];
		int level = 0;
		for (; 1 << level <= i; level++)
			if (i >> level & 1)
				v = all[level] + v;
			else if (i < blocks - 1)
				break;
		if (i < blocks - 1)
			all[level] = v;
	}
	y[0] = v;
}

KERNEL trust_ratio(int first, IN double *weight, IN double *gradient, OUT float *y, int n, double eta, double decay,
	double eps) {
	EACH(e, unit, n);
	double a = SQRT64(weight[0]), b = SQRT64(gradient[0]), ratio = 1.0;
	if (a != 0.0 && b != 0.0)
		ratio = eta * a / (b + decay * a + eps);
	y[0] = (float)ratio;
}

KERNEL clip_factor(int first, IN double *sum, OUT float *y, int n, double most) {
	EACH(e, unit, n);
	y[0] = (float)lesser(1.0, most / (SQRT64(sum[0]) + 1e-6));
}

// not_finite reports for each block of 1024 elements whether one is infinite or NaN.
KERNEL not_finite(int first, IN float *x, OUT int *found, int n, int count, int at) {
	EACH(e, unit, n);
	int any = 0;
	for (int i = e * 1024; i < e * 1024 + 1024 && i < count; i++)
		any = any || sick(x[i]);
	found[at + e] = any;
}

// any_of reports for each block of 256 values whether one is not 0.
KERNEL any_of(int first, IN int *x, OUT int *found, int n, int count) {
	EACH(e, unit, n);
	int any = 0;
	for (int i = e * 256; i < e * 256 + 256 && i < count; i++)
		any = any || x[i];
	found[e] = any;
}
