#!/usr/bin/env python3
"""Writes metrics.json: figures of evaluations as scikit-learn has them.

python3-sklearn 1.2 of Debian; run in this folder: python3 metrics.py
"""

import json
import math

import numpy
from scipy import optimize, special
from sklearn import metrics

r = numpy.random.RandomState(1)


def calibration_error(probabilities, labels, bins=15):
    """Guo and others 2017, from the definition: bins are (k/15, (k+1)/15]."""
    predicted = probabilities.argmax(1)
    confidence = probabilities.max(1)
    total = 0.0
    for k in range(bins):
        here = (confidence > k / bins) & (confidence <= (k + 1) / bins)
        if here.any():
            total += here.mean() * abs((predicted[here] == labels[here]).mean() - confidence[here].mean())
    return total


def temperature(z, labels):
    """The T that minimises the cross-entropy of softmax(z / T), and the loss there; None if none does."""
    def slope(log_scale):
        s = math.exp(log_scale) * z
        return float(((special.softmax(s, 1) * z).sum(1) - z[numpy.arange(len(s)), labels]).mean())
    if not slope(-8) < 0 < slope(8):
        return None
    scale = math.exp(optimize.brentq(slope, -8, 8, xtol=1e-14))
    s = scale * z
    return [1 / scale, float((special.logsumexp(s, 1) - s[numpy.arange(len(s)), labels]).mean())]


def thresholds(scores, positive, wish):
    """Return, from scikit-learn's curve, the largest recall where precision is at least wish, and the largest precision
    where recall is; None where nothing reaches it."""
    precision, recall, _ = metrics.precision_recall_curve(positive, scores)
    precision, recall = precision[:-1], recall[:-1]  # the last is no threshold's
    return [max(recall[precision >= wish], default=None), max(precision[recall >= wish], default=None)]


def case(name, logits, labels):
    logits = numpy.asarray(logits, numpy.float32)
    labels = numpy.asarray(labels)
    z = logits.astype(float)
    p = numpy.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    predicted = logits.argmax(1)
    classes = logits.shape[1]
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        labels, predicted, labels=range(classes), zero_division=0)
    auroc = None
    if classes == 2 and len(set(labels)) == 2:
        auroc = metrics.roc_auc_score(labels, z[:, 1] - z[:, 0])
    return {"name": name, "classes": classes, "logits": [float(v) for v in logits.ravel()],
            "labels": [int(v) for v in labels], "precision": list(precision), "recall": list(recall), "f1": list(f1),
            "support": [int(n) for n in support],
            "macro_f1": metrics.f1_score(labels, predicted, average="macro", zero_division=0),
            "balanced": metrics.balanced_accuracy_score(labels, predicted) if set(predicted) <= set(labels) else None,
            "auroc": auroc, "ece": calibration_error(p, labels), "temperature": temperature(z, labels),
            "thresholds": None if auroc is None else [
                thresholds(sign * (z[:, 1] - z[:, 0]), labels == k, 0.7) for k, sign in ((0, -1), (1, 1))]}


cases = [
    case("random, 2 classes", r.randn(200, 2), r.randint(0, 2, 200)),
    case("random, 5 classes", 2 * r.randn(300, 5), r.randint(0, 5, 300)),
    case("learnt, 7 classes", r.randn(300, 7) + 3 * numpy.eye(7)[r.randint(0, 7, 300)], r.randint(0, 7, 300)),
    case("equal odds", numpy.round(r.randn(100, 2)), r.randint(0, 2, 100)),
    case("all right", 9 * numpy.eye(3)[[0, 1, 2, 1]], [0, 1, 2, 1]),
    case("all wrong", 9 * numpy.eye(3)[[1, 2, 0, 2]], [0, 1, 2, 1]),
    case("a class without labels", r.randn(60, 4), r.randint(0, 3, 60)),
    case("one class", r.randn(20, 2), numpy.zeros(20, int)),
    case("one sample", [[0.5, 0.25]], [1]),
]
with open("metrics.json", "w") as f:
    json.dump(cases, f)
    f.write("\n")
