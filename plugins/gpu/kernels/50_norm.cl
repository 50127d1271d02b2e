// Normalisation with four numbers per channel: a mean in two parts, a factor and a shift. The
// gradient has a fifth one, a slope. a is [unit][5][channel].

// inverse returns 1/sqrt(q/|n| + eps). If n is 0, the variance q/|n| counts as 0.
FUNCTION double inverse(double n, double q, double eps) {
	double variance = n != 0.0 ? q / ABS64(n) : 0.0;
	return 1.0 / SQRT64(variance + eps);
}

FUNCTION void affine(OUT float *a, int channels, double mean, double by, double add) {
	float hi = (float)mean;
	a[0] = hi;
	a[channels] = (float)(mean - (double)hi);
	a[2 * channels] = (float)by;
	a[3 * channels] = (float)add;
}

// affine_of_state computes the numbers of a batch norm with constant statistics.
KERNEL affine_of_state(int first, IN float *gamma, IN float *beta, IN float *mean, IN float *variance, OUT float *a,
	int n, double eps) {
	EACH(c, unit, n);
	double s = 1.0 / SQRT64((double)variance[c] + eps);
	affine(a + c, n, (double)mean[c], (double)gamma[c] * s, (double)beta[c]);
}

KERNEL affine_of_moments(int first, IN double *m, IN float *gamma, IN float *beta, OUT float *a, int n, double eps) {
	EACH(c, unit, n);
	m += unit * (1 + 2 * n);
	double s = inverse(m[0], m[1 + n + c], eps);
	affine(a + unit * 5 * n + c, n, m[1 + c], (double)gamma[c] * s, (double)beta[c]);
}

KERNEL affine_of_gradient(int first, IN double *m, IN double *sums, IN float *gamma, OUT float *a, int n, double eps) {
	EACH(c, unit, n);
	m += unit * (1 + 2 * n);
	sums += unit * (2 * n);
	double s = inverse(m[0], m[1 + n + c], eps), shift = 0.0, slope = 0.0;
	if (m[0] > 0.0) {
		shift = sums[c] / m[0];
		slope = s * s * sums[n + c] / m[0];
	}
	a += unit * 5 * n + c;
	affine(a, n, m[1 + c], (double)gamma[c] * s, shift);
	a[4 * n] = (float)slope;
}

KERNEL normalise(int first, IN float *x, IN float *a, OUT float *y, int n, int of, int channels, EPILOGUE) {
	EACH(e, unit, n);
	epilogue last = GIVEN;
	a += UNIT(of, unit, owner) * (5 * channels) + e / (n / channels);
	float v = x[unit * n + e];
	v = ((v - a[0]) - a[channels]) * a[2 * channels] + a[3 * channels];
	y[unit * n + e] = finished(last, 0, v, (int)unit, e);
}

KERNEL normalise_back(int first, IN float *x, IN float *dy, IN float *a, OUT float *dx, IN int *owner, int n, int of,
	int channels) {
	EACH(e, unit, n);
	a += UNIT(of, unit, owner) * (5 * channels) + e / (n / channels);
	float d = ((x[unit * n + e] - a[0]) - a[channels]) * a[4 * channels];
	dx[unit * n + e] = a[2 * channels] * ((dy[unit * n + e] - a[3 * channels]) - d);
}

KERNEL running_moments(int first, IN float *mean, IN float *variance, OUT double *m, int n, int channels) {
	EACH(e, unit, n);
	m[e] = e == 0 ? -1.0 : e <= channels ? (double)mean[e - 1] : (double)variance[e - 1 - channels];
}

KERNEL select_moments(int first, IN double *m, IN double *running, OUT double *y, int n, double least) {
	EACH(e, unit, n);
	y[unit * n + e] = m[unit * n] < least ? running[e] : m[unit * n + e];
}

KERNEL normalise_params(int first, IN double *m, IN double *sums, OUT float *dgamma, OUT float *dbeta, int n, int of,
	double eps) {
	EACH(c, unit, n);
	m += of == OF_SAME ? unit * (1 + 2 * n) : 0;
	sums += unit * (2 * n);
	dgamma[unit * n + c] = (float)(inverse(m[0], m[1 + n + c], eps) * sums[n + c]);
	dbeta[unit * n + c] = (float)sums[c];
}
