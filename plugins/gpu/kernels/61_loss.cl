// Losses and metrics of a row. Its logits are [class][position], its labels [position].

// target_of returns the target of class k with label smoothing. If the loss has both smoothing
// and weights of classes, the target is multiplied by the weight of the class.
FUNCTION double target_of(int k, int label, int classes, double smoothing, IN double *of_class, int both) {
	double t = smoothing / (double)classes;
	t = k == label ? t + (1.0 - smoothing) : t;
	return both ? t * of_class[k] : t;
}

// xent computes the loss of a row, and sets bad to whether a label is not a class.
KERNEL xent(int first, IN float *x, IN int *labels, IN float *weight, IN double *of_class,
	OUT double *loss, OUT int *bad, int n,
	int classes, int positions, int ignore, double smoothing, int weighted, int both) {
	EACH(e, unit, n);
	double sum = 0.0, w = weighted ? (double)weight[unit] : 1.0;
	int wrong = 0;
	for (int p = 0; p < positions && !wrong; p++) {
		int label = labels[unit * positions + p];
		if (label == ignore)
			continue;
		if (label < 0 || label >= classes) {
			wrong = 1;
			continue;
		}
		IN float *v = x + unit * classes * positions + p;
		double top, log = log_sum_exp(v, classes, positions, &top), l = 0.0;
		for (int k = 0; k < classes; k++) {
			double t = target_of(k, label, classes, smoothing, of_class, both);
			if (t != 0.0)
				l -= t * ((double)v[k * positions] - top - log);
		}
		sum += (both ? w : w * of_class[label]) * l;
	}
	loss[unit] = sum;
	bad[unit] = wrong;
}

KERNEL correct(int first, IN float *x, IN int *labels, OUT double *counts, OUT int *bad, int n, int classes,
	int positions, int ignore) {
	EACH(e, unit, n);
	double right = 0.0, all = 0.0;
	int wrong = 0;
	for (int p = 0; p < positions && !wrong; p++) {
		int label = labels[unit * positions + p];
		if (label == ignore)
			continue;
		if (label < 0 || label >= classes) {
			wrong = 1;
			continue;
		}
		IN float *v = x + unit * classes * positions + p;
		int best = 0;
		for (int k = 0; k < classes; k++)
			if (v[k * positions] > v[best * positions])
				best = k;
		right += best == label ? 1.0 : 0.0;
		all += 1.0;
	}
	counts[2 * unit] = right;
	counts[2 * unit + 1] = all;
	bad[unit] = wrong;
}

// xent_back computes the gradient of every logit. logs is the output of line_logs.
KERNEL xent_back(int first, IN float *x, IN double *logs, IN int *labels, IN float *inverse, IN float *weight,
	IN double *of_class, OUT float *dx, OUT int *bad, int n, int classes, int positions, int ignore, double smoothing, int weighted,
	int both) {
	EACH(e, unit, n);
	int k = e / positions, p = e % positions, label = labels[unit * positions + p];
	if (k == 0)
		bad[unit * positions + p] = label != ignore && (label < 0 || label >= classes);
	float g = 0.0f;
	if (label != ignore && label >= 0 && label < classes) {
		IN double *l = logs + (unit * positions + p) * 2;
		double q = exp_of((double)x[unit * n + e] - l[0] - l[1]);
		double w = weighted ? (double)weight[unit] : 1.0;
		if (both) {
			double all = 0.0;
			for (int c = 0; c < classes; c++)
				all += target_of(c, label, classes, smoothing, of_class, both);
			q = q * all;
		} else
			w = w * of_class[label];
		g = (float)((q - target_of(k, label, classes, smoothing, of_class, both)) * w * (double)inverse[0]);
	}
	dx[unit * n + e] = g;
}
