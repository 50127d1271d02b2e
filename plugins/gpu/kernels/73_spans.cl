// Sums of spans by groups of threads. A group reads its spans once, in the order of memory, to
// local memory. Then each thread computes one block of BLOCK positions: a chain in float32, as
// in span_moments and span_sums. At last one thread for each span adds the sums of its blocks
// in float64, in order. A group has at most GROUPED blocks, which are whole spans.
#define GROUPED 112
#define SPACED (BLOCK + 1) // distance between blocks in local memory, so that threads read different banks

// fetch_spans copies the blocks of the spans from e on to m, at most many blocks. n is the number of
// spans of a unit, and all is the number of positions of a channel. With products, it multiplies the
// elements of m by x - mean instead. Span e + i has means[i].
FUNCTION void fetch_spans(local float *m, IN float *x, int e, int n, int all, int channels, int positions,
	int blocks, int many, int products, local double *means) {
	int p = THREAD() % BLOCK, g = 0, of = THREAD() / BLOCK;
	LOOP (int b = THREAD() / BLOCK; b < many; b += SIZE / BLOCK) {
		while (of >= blocks) {
			of -= blocks;
			g++;
		}
		int c = (e + g) % channels, at = (e + g) / channels * SPAN + of * BLOCK + p, row = 0;
		if (e + g < n && at < all) {
			if (at >= positions) {
				row = at / positions;
				at = at % positions;
			}
			float v = x[((long)row * channels + c) * positions + at];
			m[b * SPACED + p] = products ? m[b * SPACED + p] * (v - (float)means[g]) : v;
		}
		of += SIZE / BLOCK;
	}
}

// length_of returns the number of positions of block b of a group.
FUNCTION int length_of(int b, int e, int n, int all, int channels, int blocks) {
	int s = e + b / blocks, left = all - s / channels * SPAN - b % blocks * BLOCK;
	return s >= n || left < 0 ? 0 : left < BLOCK ? left : BLOCK;
}

// group_span_moments returns the moments of span e + THREAD(), in the threads below
// GROUPED / blocks. m has GROUPED blocks, and sums has room for three numbers per block.
FUNCTION moments group_span_moments(local float *m, local float *sums, IN float *x, int e, int n, int all,
	int channels, int positions, int blocks) {
	int per = GROUPED / blocks, length = length_of(THREAD(), e, n, all, channels, blocks);
	fetch_spans(m, x, e, n, all, channels, positions, blocks, per * blocks, 0, 0);
	BARRIER();
	if (THREAD() < per * blocks && length > 0) {
		local float *v = m + THREAD() * SPACED;
		float k = 0.0f, s = 0.0f, squares = 0.0f;
		LOOP (int p = 0; p < length; p++) k += v[p];
		k *= (float)(1.0 / (double)length);
		LOOP (int p = 0; p < length; p++) {
			float d = v[p] - k;
			s += d;
			squares += d * d;
		}
		sums[THREAD()] = k;
		sums[GROUPED + THREAD()] = s;
		sums[2 * GROUPED + THREAD()] = squares;
	}
	BARRIER();
	moments v = {0.0, 0.0, 0.0};
	int span = e + THREAD(), from = span / channels * SPAN, to = from + SPAN < all ? from + SPAN : all;
	if (THREAD() >= per || span >= n || to <= from)
		return v;
	double k0 = (double)sums[THREAD() * blocks], t1 = 0.0, t2 = 0.0;
	for (int b = 0; b * BLOCK < to - from; b++) {
		int i = THREAD() * blocks + b, left = to - from - b * BLOCK;
		double size = (double)(left < BLOCK ? left : BLOCK), s = (double)sums[GROUPED + i];
		double u = left >= BLOCK ? s * (1.0 / 64.0) : s / size;
		double shifted = ((double)sums[i] - k0) + u, t = size * shifted;
		t1 += t;
		t2 += ((double)sums[2 * GROUPED + i] - s * u) + t * shifted;
	}
	v.n = (double)(to - from);
	double u = t1 / v.n;
	v.mean = k0 + u;
	v.q = greater(0.0, t2 - t1 * u);
	if (!is_finite(v.mean) || !is_finite(v.q)) {
		double mean = wide_sum(x, from, to, span % channels, channels, positions) / v.n;
		v.mean = finite_or(v.mean, mean);
		v.q = finite_or(v.q, wide_products(x, x, from, to, span % channels, channels, positions, mean, 1));
	}
	return v;
}

// moments_part computes the moments of the spans of the positions of a part. n is the number of
// spans and channels.
KERNEL moments_part(int first, IN float *x, OUT double *parts, IN int *cut, int n, int channels, int positions,
	int blocks) {
	local float m[GROUPED * SPACED], sums[3 * GROUPED];
	int per = GROUPED / blocks, e = GROUP() * per;
	long unit = (long)first + GROUP_Y();
	int all = (cut[3 * unit + 2] - cut[3 * unit + 1]) * positions;
	x += (long)cut[3 * unit + 1] * channels * positions;
	moments v = group_span_moments(m, sums, x, e, n, all, channels, positions, blocks);
	if (THREAD() < per && e + THREAD() < n) {
		parts += (unit * n + e + THREAD()) * 3;
		parts[0] = v.n;
		parts[1] = v.mean;
		parts[2] = v.q;
	}
}

// group_span_sums returns the sums of dy and, with both, of dy*(x - mean) of span e + THREAD(), in the
// threads below GROUPED / blocks. m has GROUPED blocks, and sums has room for two numbers per block.
FUNCTION double2 group_span_sums(local float *m, local float *sums, local double *means, IN float *x, IN float *dy,
	int e, int n, int all, int channels, int positions, int blocks, int both) {
	int per = GROUPED / blocks, many = per * blocks;
	int length = THREAD() < many ? length_of(THREAD(), e, n, all, channels, blocks) : 0;
	LOOP (int k = 0; k <= both; k++) {
		fetch_spans(m, k ? x : dy, e, n, all, channels, positions, blocks, many, k, means);
		BARRIER();
		float sum = 0.0f;
		LOOP (int p = 0; p < length; p++) sum += m[THREAD() * SPACED + p];
		if (length > 0)
			sums[k * GROUPED + THREAD()] = sum;
		BARRIER();
	}
	double s1 = 0.0, s2 = 0.0;
	int span = e + THREAD(), c = span % channels, from = span / channels * SPAN;
	int to = from + SPAN < all ? from + SPAN : all;
	if (THREAD() >= per || span >= n)
		return (double2)(0.0, 0.0);
	for (int i = THREAD() * blocks, p = from; p < to; i++, p += BLOCK) {
		s1 += (double)sums[i];
		s2 += both ? (double)sums[GROUPED + i] : 0.0;
	}
	double mean = both ? means[THREAD()] : 0.0;
	s2 = s2 - (mean - (double)(float)mean) * s1;
	if (!is_finite(s1))
		s1 = finite_or(s1, wide_sum(dy, from, to, c, channels, positions));
	if (both && !is_finite(s2))
		s2 = finite_or(s2, wide_products(x, dy, from, to, c, channels, positions, mean, 0));
	return (double2)(s1, s2);
}

// gradient_part computes for each span the sums of dy and of dy*(x - mean). Without moments (of < 0)
// it computes only the sum of dy.
KERNEL gradient_part(int first, IN float *x, IN float *dy, IN double *m, OUT double *parts, IN int *cut, int n,
	int channels, int positions, int blocks, int of) {
	local float blocked[GROUPED * SPACED], sums[2 * GROUPED];
	local double means[GROUPED];
	int per = GROUPED / blocks, e = GROUP() * per + THREAD();
	long unit = (long)first + GROUP_Y();
	int all = (cut[3 * unit + 2] - cut[3 * unit + 1]) * positions;
	long at = (long)cut[3 * unit + 1] * channels * positions;
	if (of >= 0 && THREAD() < per && e < n)
		means[THREAD()] = m[(of == OF_WHOLE ? 0L : (long)cut[3 * unit]) * (1 + 2 * channels) + 1 + e % channels];
	double2 s = group_span_sums(blocked, sums, means, x + at, dy + at, e - THREAD(), n, all, channels, positions,
		blocks, of >= 0);
	if (THREAD() < per && e < n) {
		parts[(unit * n + e) * 2] = s.x;
		parts[(unit * n + e) * 2 + 1] = s.y;
	}
}

// lean_affine is affine without a shift, which line_normalise does not read.
FUNCTION void lean_affine(OUT float *a, int n, double mean, double by) {
	float hi = (float)mean;
	a[0] = hi;
	a[n] = (float)(mean - (double)hi);
	a[2 * n] = (float)by;
}

// row_affine is line_affine for lines of adjacent elements that are one span each.
KERNEL row_affine(int first, IN float *x, OUT float *a, int n, int length, int blocks, double eps) {
	local float m[GROUPED * SPACED], sums[3 * GROUPED];
	int per = GROUPED / blocks, e = GROUP() * per;
	long unit = (long)first + GROUP_Y();
	moments v = group_span_moments(m, sums, x + unit * n * length, e, n, length, n, length, blocks);
	e += THREAD();
	if (THREAD() < per && e < n)
		lean_affine(a + unit * 5 * n + e, n, v.mean, inverse(v.n, v.q, eps));
}

// row_gradient is line_gradient for lines of adjacent elements that are one span each.
KERNEL row_gradient(int first, IN float *x, IN float *dy, OUT float *a, int n, int length, int blocks, double eps) {
	local float m[GROUPED * SPACED], sums[3 * GROUPED];
	local double means[GROUPED];
	int per = GROUPED / blocks, e = GROUP() * per;
	long unit = (long)first + GROUP_Y();
	x += unit * n * length;
	dy += unit * n * length;
	moments v = group_span_moments(m, sums, x, e, n, length, n, length, blocks);
	if (THREAD() < per)
		means[THREAD()] = v.mean;
	BARRIER();
	double2 s = group_span_sums(m, sums, means, x, dy, e, n, length, n, length, blocks, 1);
	e += THREAD();
	if (THREAD() < per && e < n)
		gradient_numbers(a + unit * 5 * n + e, n, v, s.x, s.y, eps);
}
