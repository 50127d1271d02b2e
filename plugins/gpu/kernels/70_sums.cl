// Sums over rows and positions. The rows of each replica are cut into parts. cut contains the
// replica and the range of rows of every part, first and end. firsts contains the first part
// of every replica and the number of its parts. The results of parts are added along the
// canonical tree, which is complete on its left side. The bits of the number of parts added so
// far show which nodes are complete.
#define LEVELS 24

// moments is a number of values, their mean, and the sum of the squared differences from it.
// merged merges two of them (Chan, Golub, LeVeque 1979, eq. 1.5).
typedef struct moments {
	double n, mean, q;
} moments;

FUNCTION moments merged(moments a, moments b) {
	if (b.n == 0.0)
		return a;
	if (a.n == 0.0)
		return b;
	moments m;
	double d = b.mean - a.mean;
	m.n = a.n + b.n;
	m.mean = a.mean + d * b.n / m.n;
	m.q = a.q + b.q + d * d * a.n * b.n / m.n;
	return m;
}

// walk iterates over the positions of a channel in some rows. at is the index of the current
// position, counted from the first element of the first row. left is the number of positions
// from the current one to the end of its row.
typedef struct walk {
	long at;
	int left;
} walk;

FUNCTION walk walk_from(int p, int c, int channels, int positions) {
	walk w;
	w.at = ((long)(p / positions) * channels + c) * positions + p % positions;
	w.left = positions - p % positions;
	return w;
}

FUNCTION walk next(walk w, int channels, int positions) {
	w.at++;
	if (--w.left == 0) {
		w.at += (long)(channels - 1) * positions;
		w.left = positions;
	}
	return w;
}

// If a sum of a span is not finite, it is computed again as one chain in float64, and
// replaced if the new sum is finite.
FUNCTION int is_finite(double v) { return v - v == 0.0; }

FUNCTION double finite_or(double v, double w) { return is_finite(v) || !is_finite(w) ? v : w; }

// wide_sum returns the sum of positions [from, to) of a channel, in float64.
FUNCTION double wide_sum(IN float *x, int from, int to, int c, int channels, int positions) {
	double sum = 0.0;
	walk w = walk_from(from, c, channels, positions);
	for (int p = from; p < to; p++) {
		sum += (double)x[w.at];
		w = next(w, channels, positions);
	}
	return sum;
}

// wide_products returns the sum of dy*(x - mean) in float64. With squares it returns the sum of
// (x - mean)*(x - mean).
FUNCTION double wide_products(IN float *x, IN float *dy, int from, int to, int c, int channels, int positions,
	double mean, int squares) {
	double sum = 0.0;
	walk w = walk_from(from, c, channels, positions);
	for (int p = from; p < to; p++) {
		double d = (double)x[w.at] - mean;
		sum += squares ? d * d : (double)dy[w.at] * d;
		w = next(w, channels, positions);
	}
	return sum;
}

// span_moments returns the moments of positions [from, to) of a channel. The float32 mean of
// each block is subtracted from its values first.
FUNCTION moments span_moments(IN float *x, int from, int to, int c, int channels, int positions) {
	double k0 = 0.0, t1 = 0.0, t2 = 0.0;
	walk start = walk_from(from, c, channels, positions);
	for (int b = from; b < to; b += BLOCK) {
		int end = b + BLOCK < to ? b + BLOCK : to;
		double size = (double)(end - b);
		float k = 0.0f, s = 0.0f, squares = 0.0f;
		walk w = start;
		for (int p = b; p < end; p++) {
			k += x[w.at];
			w = next(w, channels, positions);
		}
		k *= (float)(1.0 / size);
		for (int p = b; p < end; p++) {
			float d = x[start.at] - k;
			s += d;
			squares += d * d;
			start = next(start, channels, positions);
		}
		if (b == from)
			k0 = (double)k;
		double u = end - b == BLOCK ? (double)s * (1.0 / 64.0) : (double)s / size;
		double shifted = ((double)k - k0) + u, t = size * shifted;
		t1 += t;
		t2 += ((double)squares - (double)s * u) + t * shifted;
	}
	moments m = {0.0, 0.0, 0.0};
	if (to > from) {
		m.n = (double)(to - from);
		double u = t1 / m.n;
		m.mean = k0 + u;
		m.q = greater(0.0, t2 - t1 * u);
		if (!is_finite(m.mean) || !is_finite(m.q)) {
			double mean = wide_sum(x, from, to, c, channels, positions) / m.n;
			m.mean = finite_or(m.mean, mean);
			m.q = finite_or(m.q, wide_products(x, x, from, to, c, channels, positions, mean, 1));
		}
	}
	return m;
}

// moments_total merges the spans of each part and then the parts of a replica.
KERNEL moments_total(int first, IN double *parts, OUT double *m, IN int *firsts, int n, int spans) {
	EACH(c, unit, n);
	int count = firsts[2 * unit + 1];
	moments row[LEVELS], all[LEVELS], v = {0.0, 0.0, 0.0};
	for (int i = 0; i < count; i++) {
		IN double *part = parts + ((long)firsts[2 * unit] + i) * spans * n * 3;
		for (int k = 0; k < spans; k++) {
			v.n = part[(k * n + c) * 3];
			v.mean = part[(k * n + c) * 3 + 1];
			v.q = part[(k * n + c) * 3 + 2];
			int level = 0;
			for (; 1 << level <= k; level++)
				if (k >> level & 1)
					v = merged(row[level], v);
				else if (k < spans - 1)
					break;
			if (k < spans - 1)
				row[level] = v;
		}
		int level = 0;
		for (; 1 << level <= i; level++)
			if (i >> level & 1)
				v = merged(all[level], v);
			else if (i < count - 1)
				break;
		if (i < count - 1)
			all[level] = v;
	}
	m += unit * (1 + 2 * n);
	if (c == 0)
		m[0] = v.n;
	m[1 + c] = v.mean;
	m[1 + n + c] = v.q;
}

// span_sums returns the sum of dy over positions [from, to) of a channel and, with both, also
// the sum of dy*(x - mean).
FUNCTION double2 span_sums(IN float *x, IN float *dy, int from, int to, int c, int channels, int positions,
	double mean, int both) {
	float k = (float)mean;
	double s1 = 0.0, s2 = 0.0;
	walk w = walk_from(from, c, channels, positions);
	for (int b = from; b < to; b += BLOCK) {
		int end = b + BLOCK < to ? b + BLOCK : to;
		float p1 = 0.0f, p2 = 0.0f;
		for (int p = b; p < end; p++) {
			float g = dy[w.at];
			p1 += g;
			p2 += both ? g * (x[w.at] - k) : 0.0f;
			w = next(w, channels, positions);
		}
		s1 += (double)p1;
		s2 += (double)p2;
	}
	s2 = s2 - (mean - (double)k) * s1;
	if (!is_finite(s1))
		s1 = finite_or(s1, wide_sum(dy, from, to, c, channels, positions));
	if (both && !is_finite(s2))
		s2 = finite_or(s2, wide_products(x, dy, from, to, c, channels, positions, mean, 0));
	return (double2)(s1, s2);
}

// added adds one of the two numbers of spans, selected by which, along the tree: the spans of
// each of count parts, then the parts.
FUNCTION double added(IN double *parts, int count, int spans, int n, int c, int which) {
	double row[LEVELS], all[LEVELS], v = 0.0;
	for (int i = 0; i < count; i++) {
		for (int k = 0; k < spans; k++) {
			v = parts[((long)i * spans * n + k * n + c) * 2 + which];
			int level = 0;
			for (; 1 << level <= k; level++)
				if (k >> level & 1)
					v = row[level] + v;
				else if (k < spans - 1)
					break;
			if (k < spans - 1)
				row[level] = v;
		}
		int level = 0;
		for (; 1 << level <= i; level++)
			if (i >> level & 1)
				v = all[level] + v;
			else if (i < count - 1)
				break;
		if (i < count - 1)
			all[level] = v;
	}
	return v;
}

// gradient_total adds both sums of the parts of a replica. y is [2][channel] in float64.
KERNEL gradient_total(int first, IN double *parts, OUT double *y, IN int *firsts, int n, int channels, int spans) {
	EACH(e, unit, n);
	y[unit * n + e] = added(parts + (long)firsts[2 * unit] * spans * channels * 2, firsts[2 * unit + 1], spans, channels,
		e % channels, e / channels);
}

// channel_total adds the first sum of the parts of a replica and divides it. y is float32.
KERNEL channel_total(int first, IN double *parts, OUT float *y, IN int *firsts, int n, int spans, double divisor) {
	EACH(c, unit, n);
	y[unit * n + c] = (float)(added(parts + (long)firsts[2 * unit] * spans * n * 2, firsts[2 * unit + 1], spans, n, c,
		0) / divisor);
}

// channel_mean is channel_total for each row by itself. Every row is a part.
KERNEL channel_mean(int first, IN double *parts, OUT float *y, int n, int spans, double divisor) {
	EACH(c, unit, n);
	y[unit * n + c] = (float)(added(parts + unit * spans * n * 2, 1, spans, n, c, 0) / divisor);
}

// conv_weights computes the gradients of weights of a part, each as one chain.
KERNEL conv_weights(int first, IN float *x, IN float *dy, OUT float *parts, IN int *cut, IN int *table, int n) {
	EACH(e, unit, n);
	parts[unit * n + e] = weight_chain(x, dy, cut + 3 * unit, table, e);
}

// add_parts adds the parts of a replica along the tree, in float32.
KERNEL add_parts(int first, IN float *parts, OUT float *y, IN int *firsts, int n) {
	EACH(e, unit, n);
	float all[LEVELS], v = 0.0f;
	int count = firsts[2 * unit + 1];
	parts += (long)firsts[2 * unit] * n + e;
	for (int i = 0; i < count; i++) {
		v = parts[(long)i * n];
		int level = 0;
		for (; 1 << level <= i; level++)
			if (i >> level & 1)
				v = all[level] + v;
			else if (i < count - 1)
				break;
		if (i < count - 1)
			all[level] = v;
	}
	y[unit * n + e] = v;
}

// sum_rows32 and sum_rows64 add the rows of a replica in order, in float64.
KERNEL sum_rows32(int first, IN float *x, OUT float *y, IN int *starts, int n) {
	EACH(e, unit, n);
	double s = 0.0;
	for (int i = 0; i < starts[2 * unit + 1]; i++)
		s += (double)x[((long)starts[2 * unit] + i) * n + e];
	y[unit * n + e] = (float)s;
}

KERNEL sum_rows64(int first, IN double *x, OUT double *y, IN int *starts, int n) {
	EACH(e, unit, n);
	double s = 0.0;
	for (int i = 0; i < starts[2 * unit + 1]; i++)
		s += x[((long)starts[2 * unit] + i) * n + e];
	y[unit * n + e] = s;
}

// reduce32 and reduce64 add over some axes in float64, in logical order. table contains the
// shape and the strides of the axes that are kept, then of the axes that are reduced.
KERNEL reduce32(int first, IN float *x, OUT float *y, IN int *table, int n, int stay, int gone, int length,
	double divisor) {
	EACH(e, unit, n);
	x += unit * n * (long)length + index(table, table + stay, stay, e);
	double s = 0.0;
	for (int i = 0; i < length; i++)
		s += (double)x[index(table + 2 * stay, table + 2 * stay + gone, gone, i)];
	y[unit * n + e] = (float)(s / divisor);
}

KERNEL reduce64(int first, IN double *x, OUT double *y, IN int *table, int n, int stay, int gone, int length,
	double divisor) {
	EACH(e, unit, n);
	x += unit * n * (long)length + index(table, table + stay, stay, e);
	double s = 0.0;
	for (int i = 0; i < length; i++)
		s += x[index(table + 2 * stay, table + 2 * stay + gone, gone, i)];
	y[unit * n + e] = s / divisor;
}

// taken returns the result s of a reduction after one more number v. op 166 is the maximum, 167
// the minimum and 168 the product.
FUNCTION double taken(int op, double s, double v) {
	return op == 166 ? greater(s, v) : op == 167 ? lesser(s, v) : s * v;
}

KERNEL fold32(int first, IN float *x, OUT float *y, IN int *table, int n, int stay, int gone, int length, int op,
	double s) {
	EACH(e, unit, n);
	x += unit * n * (long)length + index(table, table + stay, stay, e);
	for (int i = 0; i < length; i++)
		s = taken(op, s, (double)x[index(table + 2 * stay, table + 2 * stay + gone, gone, i)]);
	y[unit * n + e] = (float)s;
}

KERNEL fold64(int first, IN double *x, OUT double *y, IN int *table, int n, int stay, int gone, int length,
	int op, double s) {
	EACH(e, unit, n);
	x += unit * n * (long)length + index(table, table + stay, stay, e);
	for (int i = 0; i < length; i++)
		s = taken(op, s, x[index(table + 2 * stay, table + 2 * stay + gone, gone, i)]);
	y[unit * n + e] = s;
}

// prelu_slope computes the gradients of slopes in float64. It adds rows and positions in order.
KERNEL prelu_slope(int first, IN float *x, IN float *dy, OUT float *ds, IN int *starts, int n, int positions) {
	EACH(c, unit, n);
	double s = 0.0;
	for (int i = 0; i < starts[2 * unit + 1]; i++)
		for (int p = 0; p < positions; p++) {
			long at = (((long)starts[2 * unit] + i) * n + c) * positions + p;
			if (!(x[at] >= 0.0f))
				s += (double)x[at] * (double)dy[at];
		}
	ds[unit * n + c] = (float)s;
}
