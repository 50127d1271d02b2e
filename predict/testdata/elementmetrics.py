#!/usr/bin/python3
"""Figures of labels that do not exclude each other, and of numbers, by scikit-learn. Needs Debian's
python3-sklearn.

usage: elementmetrics.py > elementmetrics.txt

Forty samples. Label k of sample i is known where (i + k) mod 7 is not 0 and holds where (i*i*(k+1) + 3*i) mod 5
is below 2; label 2 never holds, label 3 always does. Its logit is ((37*i + 11*k) mod 23 - 11) / 8, and 2 more
where the label holds and k is 0. Number k is (i*i + 5*k) mod 17 - 3, known likewise, but for number 2, which is 4
wherever it is known; the answer is the number + ((13*i + k) mod 9 - 4) / 2.

Lines: "label K N POSITIVES PRECISION RECALL F1 AUROC", "exact SHARE", "right SHARE", "target K N MAE RMSE R2", with nan for
what has no denominator. "temperature T LOSS": the T that minimises the mean binary cross-entropy of sigmoid(z / T) over the known
labels, and that. "wish K PRECISION RECALL": of the precision-recall curve the largest precision where recall is at least 0.7,
and the largest recall where precision is.
"""
import numpy as np
from scipy import optimize, special
from sklearn import metrics

N = 40
i = np.arange(N)
exact, right, all_known = np.ones(N, bool), 0, 0
some = np.zeros(N, bool)
logits, truth = [], []
for k in range(4):
    known = (i + k) % 7 != 0
    holds = (i * i * (k + 1) + 3 * i) % 5 < 2
    holds = [holds, holds, np.zeros(N, bool), np.ones(N, bool)][k]
    z = ((37 * i + 11 * k) % 23 - 11) / 8 + (2 * holds if k == 0 else 0)
    t, p = holds[known], z[known] > 0
    exact &= ~known | ((z > 0) == holds)
    some |= known
    right += (t == p).sum()
    all_known += known.sum()
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(t, p, labels=[True], zero_division=0)
    precision = precision[0] if p.any() else np.nan
    recall = recall[0] if t.any() else np.nan
    f1 = f1[0] if p.any() or t.any() else np.nan
    area = metrics.roc_auc_score(t, z[known]) if 0 < t.sum() < len(t) else np.nan
    logits.append(z[known])
    truth.append(t)
    curve, covered, _ = metrics.precision_recall_curve(t, z[known]) if t.any() else (np.zeros(1),) * 3
    curve, covered = curve[:-1], covered[:-1]  # the last is no threshold's
    print("wish", k, *(f"{a[b >= 0.7].max(initial=-1):.12g}" for a, b in ((curve, covered), (covered, curve))))
    print("label", k, known.sum(), t.sum(), *(f"{v:.12g}" for v in (precision, recall, f1, area)))
z, t = np.concatenate(logits), np.concatenate(truth)
scale = optimize.brentq(lambda s: (z * (special.expit(s * z) - t)).mean(), 1e-3, 1e3, xtol=1e-15)
print("temperature", f"{1 / scale:.12g} {(np.logaddexp(0, scale * z) - scale * z * t).mean():.12g}")
print("exact", f"{exact[some].mean():.12g}")
print("right", f"{right / all_known:.12g}")
for k in range(3):
    known = (i + k) % 7 != 0
    number = (i * i + 5 * k) % 17 - 3. if k < 2 else np.full(N, 4.)
    said = number + ((13 * i + k) % 9 - 4) / 2
    t, y = number[known], said[known]
    r2 = metrics.r2_score(t, y) if t.std() > 0 else np.nan
    print("target", k, known.sum(), *(f"{v:.12g}" for v in (metrics.mean_absolute_error(t, y),
                                                           metrics.mean_squared_error(t, y) ** .5, r2)))
