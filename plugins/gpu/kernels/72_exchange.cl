// Values of replicas are combined along the canonical tree over replicas, as 70_sums.cl combines
// parts. nodes contains, for every requested node of the tree, its first replica on this device
// and the number of its replicas. A replica without rows is skipped. This differs from adding
// 0, which would change -0. Bit i of have is set if all[i] has a value.
KERNEL tree_sum32(int first, IN float *x, OUT float *y, IN int *nodes, IN int *starts, int n) {
	EACH(e, unit, n);
	int from = nodes[2 * unit], count = nodes[2 * unit + 1], have = 0, some = 0;
	float all[LEVELS], v = 0.0f;
	for (int i = 0; i < count; i++) {
		v = x[(long)(from + i) * n + e];
		some = starts[2 * (from + i) + 1] > 0;
		int level = 0;
		for (; 1 << level <= i; level++)
			if (i >> level & 1) {
				if (have >> level & 1) {
					v = some ? all[level] + v : all[level];
					some = 1;
				}
			} else if (i < count - 1)
				break;
		if (i < count - 1) {
			all[level] = v;
			have = some ? have | 1 << level : have & ~(1 << level);
		}
	}
	y[unit * n + e] = some ? v : 0.0f;
}

KERNEL tree_sum64(int first, IN double *x, OUT double *y, IN int *nodes, IN int *starts, int n) {
	EACH(e, unit, n);
	int from = nodes[2 * unit], count = nodes[2 * unit + 1], have = 0, some = 0;
	double all[LEVELS], v = 0.0;
	for (int i = 0; i < count; i++) {
		v = x[(long)(from + i) * n + e];
		some = starts[2 * (from + i) + 1] > 0;
		int level = 0;
		for (; 1 << level <= i; level++)
			if (i >> level & 1) {
				if (have >> level & 1) {
					v = some ? all[level] + v : all[level];
					some = 1;
				}
			} else if (i < count - 1)
				break;
		if (i < count - 1) {
			all[level] = v;
			have = some ? have | 1 << level : have & ~(1 << level);
		}
	}
	y[unit * n + e] = some ? v : 0.0;
}

// tree_moments merges the moments of n channels. The moments of a replica without rows count as
// moments of 0 values.
KERNEL tree_moments(int first, IN double *x, OUT double *y, IN int *nodes, IN int *starts, int n) {
	EACH(c, unit, n);
	int from = nodes[2 * unit], count = nodes[2 * unit + 1];
	moments all[LEVELS], v = {0.0, 0.0, 0.0};
	for (int i = 0; i < count; i++) {
		IN double *m = x + (long)(from + i) * (1 + 2 * n);
		v.n = starts[2 * (from + i) + 1] > 0 ? m[0] : 0.0;
		v.mean = m[1 + c];
		v.q = m[1 + n + c];
		int level = 0;
		for (; 1 << level <= i; level++)
			if (i >> level & 1)
				v = merged(all[level], v);
			else if (i < count - 1)
				break;
		if (i < count - 1)
			all[level] = v;
	}
	y += unit * (1 + 2 * n);
	if (c == 0)
		y[0] = v.n;
	y[1 + c] = v.n == 0.0 ? 0.0 : v.mean;
	y[1 + n + c] = v.n == 0.0 ? 0.0 : v.q;
}
