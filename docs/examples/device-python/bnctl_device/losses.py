"""Softmax cross-entropy, and how often a label is the first maximum."""
import numpy as np

from . import device_pb2 as pb
from .errors import invalid
from .operations import operation


def prepare(n):
    """Logits (N, C, P), labels (N, P), which are not ignored."""
    x, labels = n.get(0), n.exact(1)
    pixels = int(np.prod(labels.shape[1:], dtype=int))
    x = x.reshape(x.shape[0], x.shape[1], pixels)
    labels = labels.reshape(x.shape[0], pixels)
    used = labels != n.attr["ignore"]
    wrong = used & ((labels < 0) | (labels >= x.shape[1]))
    if wrong.any():
        raise invalid("label %d is not one of 0 to %d" % (labels[wrong][0], x.shape[1] - 1))
    return x, np.where(used, labels, 0), used


def log_softmax(x):
    x = x - x.max(1, keepdims=True)
    return x - np.log(np.exp(x).sum(1, keepdims=True))


def target(n, x, labels):
    s = n.attr["smoothing"]
    t = np.full(x.shape, s / x.shape[1])
    np.put_along_axis(t, labels[:, None], s / x.shape[1] + 1 - s, 1)
    return t * np.array(n.attr["weights"]).reshape(-1, 1) if weights_targets(n) else t


def weights_targets(n):
    """Whether weights of classes are those of targets, not of labels."""
    return n.attr.get("weighted_targets", False)  # sent where it is true


def weight(n, i, labels):
    """Weights of labels (N, P): that of the row times that of the class."""
    w = np.ones(labels.shape)
    if n.get(i) is not None:
        w = w * n.get(i).reshape(len(labels), 1)
    return w * np.array(n.attr["weights"])[labels] if n.attr["weights"] and not weights_targets(n) else w


@operation(pb.OP_SOFTMAX_XENT, "ignore", "smoothing", "weighted_targets", "weights")
def softmax_xent(frame, n):
    x, labels, used = prepare(n)
    t = target(n, x, labels)
    terms = np.where(t != 0, t * log_softmax(x), 0)
    loss = np.where(used, -terms.sum(1), 0) * weight(n, 2, labels)
    return [[[part.sum()] for _, part in n.replicas(loss)]]


@operation(pb.OP_SOFTMAX_XENT_GRAD, "ignore", "smoothing", "weighted_targets", "weights")
def softmax_xent_grad(frame, n):
    x, labels, used = prepare(n)
    t = target(n, x, labels)
    d = np.exp(log_softmax(x)) * (t.sum(1, keepdims=True) if weights_targets(n) else 1) - t
    return np.where(used[:, None], d * weight(n, 3, labels)[:, None] * n.get(2), 0)


@operation(pb.OP_CORRECT, "ignore")
def correct(frame, n):
    x, labels, used = prepare(n)
    best, largest = np.zeros(labels.shape, int), x[:, 0]
    for k in range(1, x.shape[1]):  # argmax would take a NaN for the maximum
        best = np.where(x[:, k] > largest, k, best)
        largest = np.where(x[:, k] > largest, x[:, k], largest)
    hits = (best == labels) & used
    return [[[h.sum(), u.sum()] for _, h, u in n.replicas(hits, used)]]
