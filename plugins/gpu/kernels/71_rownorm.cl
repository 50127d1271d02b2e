// Norms of each row by itself. A line is length elements with a distance of step. The channel
// of a row is a line of all its positions. a is [unit][5][line], as in a batch norm. Without a
// shift, -0 is added, which does not change any number.

// line_moments returns the moments of a line. Its spans are merged along the tree.
FUNCTION moments line_moments(IN float *x, int length, int step) {
	int spans = (length + SPAN - 1) / SPAN;
	moments row[LEVELS], v = {0.0, 0.0, 0.0};
	for (int k = 0; k < spans; k++) {
		int from = k * SPAN, to = from + SPAN < length ? from + SPAN : length, level = 0;
		v = span_moments(x, from, to, 0, step, 1);
		for (; 1 << level <= k; level++)
			if (k >> level & 1)
				v = merged(row[level], v);
			else if (k < spans - 1)
				break;
		if (k < spans - 1)
			row[level] = v;
	}
	return v;
}

// line_sums2 returns the sums of dy and of dy*(x - mean) of a line, called S1 and S2.
FUNCTION double2 line_sums2(IN float *x, IN float *dy, int length, int step, double mean) {
	int spans = (length + SPAN - 1) / SPAN;
	double2 row[LEVELS], v = (double2)(0.0, 0.0);
	for (int k = 0; k < spans; k++) {
		int from = k * SPAN, to = from + SPAN < length ? from + SPAN : length, level = 0;
		v = span_sums(x, dy, from, to, 0, step, 1, mean, 1);
		for (; 1 << level <= k; level++)
			if (k >> level & 1)
				v = row[level] + v;
			else if (k < spans - 1)
				break;
		if (k < spans - 1)
			row[level] = v;
	}
	return v;
}

// gradient_numbers computes the numbers of the gradient of a norm without scale.
FUNCTION void gradient_numbers(OUT float *a, int n, moments m, double s1, double s2, double eps) {
	double s = inverse(m.n, m.q, eps);
	affine(a, n, m.mean, s, s1 / m.n);
	a[4 * n] = (float)(s * s * s2 / m.n);
}

KERNEL line_affine(int first, IN float *x, OUT float *a, int n, int length, int step, double eps) {
	EACH(l, unit, n);
	moments m = line_moments(x + unit * n * length + LINE_AT(l, length, step), length, step);
	affine(a + unit * 5 * n + l, n, m.mean, inverse(m.n, m.q, eps), -0.0);
}

// line_normalise normalises a line. With scaled it multiplies by scale, and with shifted it adds
// bias, which have one number for every index in a line.
KERNEL line_normalise(int first, IN float *x, IN float *a, IN float *scale, IN float *bias, OUT float *y, int n,
	int length, int step, int scaled, int shifted) {
	EACH(e, unit, n);
	int lines = n / length;
	a += unit * 5 * lines + LINE_OF(e, length, step);
	float v = ((x[unit * n + e] - a[0]) - a[lines]) * a[2 * lines];
	if (scaled)
		v = v * scale[e / step % length];
	if (shifted)
		v = v + bias[e / step % length];
	y[unit * n + e] = v;
}

KERNEL line_gradient(int first, IN float *x, IN float *dy, OUT float *a, int n, int length, int step, double eps) {
	EACH(l, unit, n);
	long at = unit * n * length + LINE_AT(l, length, step);
	moments m = line_moments(x + at, length, step);
	double2 s = line_sums2(x + at, dy + at, length, step, m.mean);
	gradient_numbers(a + unit * 5 * n + l, n, m, s.x, s.y, eps);
}

KERNEL line_back(int first, IN float *x, IN float *dy, IN float *a, OUT float *dx, int n, int length, int step) {
	EACH(e, unit, n);
	int lines = n / length;
	a += unit * 5 * lines + LINE_OF(e, length, step);
	float d = ((x[unit * n + e] - a[0]) - a[lines]) * a[4 * lines];
	dx[unit * n + e] = a[2 * lines] * ((dy[unit * n + e] - a[3 * lines]) - d);
}

KERNEL channel_moments(int first, IN float *x, OUT double *m, int n, int positions) {
	EACH(c, unit, n);
	moments v = line_moments(x + (unit * n + c) * positions, positions, 1);
	m += (unit * n + c) * 3;
	m[0] = v.n;
	m[1] = v.mean;
	m[2] = v.q;
}

// group_moments returns the moments of size channels, merged along the tree.
FUNCTION moments group_moments(IN double *m, int size) {
	moments all[LEVELS], v = {0.0, 0.0, 0.0};
	for (int i = 0; i < size; i++) {
		int level = 0;
		v.n = m[3 * i];
		v.mean = m[3 * i + 1];
		v.q = m[3 * i + 2];
		for (; 1 << level <= i; level++)
			if (i >> level & 1)
				v = merged(all[level], v);
			else if (i < size - 1)
				break;
		if (i < size - 1)
			all[level] = v;
	}
	return v;
}

KERNEL group_affine(int first, IN double *m, IN float *scale, IN float *bias, OUT float *a, int n, int size,
	int scaled, int shifted, double eps) {
	EACH(c, unit, n);
	moments v = group_moments(m + (unit * n + c / size * size) * 3, size);
	double by = inverse(v.n, v.q, eps);
	if (scaled)
		by = (double)scale[c] * by;
	affine(a + unit * 5 * n + c, n, v.mean, by, shifted ? (double)bias[c] : -0.0);
}

// group_sums computes S1 and S2 of each channel of a row, with the mean of its group.
KERNEL group_sums(int first, IN float *x, IN float *dy, IN double *m, OUT double *sums, int n, int positions,
	int size) {
	EACH(c, unit, n);
	moments v = group_moments(m + (unit * n + c / size * size) * 3, size);
	long at = (unit * n + c) * positions;
	double2 s = line_sums2(x + at, dy + at, positions, 1, v.mean);
	sums[(unit * n + c) * 2] = s.x;
	sums[(unit * n + c) * 2 + 1] = s.y;
}

KERNEL group_gradient(int first, IN double *m, IN double *sums, OUT float *a, int n, int size, double eps) {
	EACH(c, unit, n);
	long from = unit * n + c / size * size;
	double2 all[LEVELS], s = (double2)(0.0, 0.0);
	for (int i = 0; i < size; i++) {
		int level = 0;
		s.x = sums[(from + i) * 2];
		s.y = sums[(from + i) * 2 + 1];
		for (; 1 << level <= i; level++)
			if (i >> level & 1)
				s = all[level] + s;
			else if (i < size - 1)
				break;
		if (i < size - 1)
			all[level] = s;
	}
	gradient_numbers(a + unit * 5 * n + c, n, group_moments(m + from * 3, size), s.x, s.y, eps);
}
