#!/usr/bin/python3
"""check.py [-v] SPEC [PART]: computes golden vectors of bnctl again, in numpy, and compares all bits.

It is written from spec/definitions.md alone. It computes every vector of class int8/1, and the vectors of
class fma/1 whose operations that page defines; the other ones are counted and left out. PART restricts it
to vectors with names that contain it, -v prints the names of vectors that agree. The exit status is 1 if a result has other bits.
"""
import json
import math
import pathlib
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")  # overflows and NaN are results here
F, D = np.float32, np.float64


# --- arithmetic ---

def fma(x, y, z):
    """x*y + z of f32, rounded once."""
    p, z = np.asarray(x, D) * np.asarray(y, D), np.asarray(z, D)
    s = np.atleast_1d(p + z)
    t = s - p
    e = (p - (s - t)) + (z - t)
    inexact = np.isfinite(s) & np.isfinite(e) & (e != 0) & ((s.view(np.int64) & 1) == 0)
    odd = np.where((e > 0) == (s > 0), s.view(np.int64) + 1, s.view(np.int64) - 1).view(D)
    return np.where(inexact, odd, s).astype(F)


def chain(pairs, shape):
    """The chain of pairs of terms, each an array of a shape."""
    acc = np.zeros(shape, F)
    for a, b in pairs:
        acc = fma(a, b, acc).reshape(shape)
    return acc


def tree(parts, add):
    """The sum of parts along the tree."""
    n = len(parts)
    if n == 1:
        return parts[0]
    m = 1
    while 2 * m < n:
        m *= 2
    return add(tree(parts[:m], add), tree(parts[m:], add))


def plus(a, b):
    return a + b


LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10


def polynomial(x, coefficients):
    total = np.zeros_like(x)
    for c in coefficients:
        total = total * x + c
    return total


def exp(x):
    x = np.asarray(x, D)
    inside = (x <= 709.782712893384) & (x >= -745.1332191019412)
    v = np.where(inside, x, 0)
    n = np.floor(v * 1.4426950408889634 + 0.5)
    a, b = v - n * LN2_HIGH, n * LN2_LOW
    r = a - b
    d = (a - r) - b
    p = r + ((r * r) * polynomial(r, [1 / math.factorial(k) for k in range(13, 1, -1)]) + d)
    result = np.ldexp(1 + p, n.astype(np.int64))
    return np.where(inside, result, np.where(np.isnan(x), np.nan, np.where(x > 0, np.inf, 0.0)))


def log(x):
    x = np.asarray(x, D)
    inside = (x > 0) & np.isfinite(x)
    m, k = np.frexp(np.where(inside, x, 1))
    small = m < 0.7071067811865476
    m, k = np.where(small, 2 * m, m), np.where(small, k - 1, k).astype(D)
    f = m - 1
    s = f / (2 + f)
    z, h = s * s, 0.5 * (f * f)
    q = s * (h + z * polynomial(z, [2 / c for c in range(25, 2, -2)]))
    result = k * LN2_HIGH - ((h - (q + k * LN2_LOW)) - f)
    return np.where(inside, result, np.where(x == 0, -np.inf, np.where(x > 0, x, np.nan)))


# --- products with a weight ---

class Window:
    """The window of a convolution over images of a height and a width."""

    def __init__(self, a, kernel, size, out):
        self.kernel, self.size, self.out = kernel, size, out
        self.stride, self.pad = a["stride"], a["pad"]
        self.dilation, self.groups = a.get("dilation", [1, 1]), a.get("groups", 1)

    def taps(self):
        return [(i, j) for i in range(self.kernel[0]) for j in range(self.kernel[1])]

    def places(self, axis, tap):
        """The rows (or columns) of the image that the outputs see by a tap, and which of them are inside."""
        at = np.arange(self.out[axis]) * self.stride[axis] - self.pad[axis] + tap * self.dilation[axis]
        return at, (at >= 0) & (at < self.size[axis])

    def seen(self, x, i, j, outside=0):
        """The pixels that the outputs see by a tap: [..., OH, OW]."""
        (y, y_in), (z, z_in) = self.places(0, i), self.places(1, j)
        picked = x[..., np.where(y_in, y, 0), :][..., np.where(z_in, z, 0)]
        return np.where(y_in[:, None] & z_in[None, :], picked, x.dtype.type(outside))

    def turned(self, g, i, j):
        """For each pixel of the image: the element of g that sees it by a tap, and whether there is such a place."""
        out, whole = [], []
        for axis, tap in ((0, i), (1, j)):
            at = np.arange(self.size[axis]) + self.pad[axis] - tap * self.dilation[axis]
            whole.append(at % self.stride[axis] == 0)
            out.append(at // self.stride[axis])
        inside = [(o >= 0) & (o < n) for o, n in zip(out, self.out)]
        picked = g[..., np.where(inside[0], out[0], 0), :][..., np.where(inside[1], out[1], 0)]
        picked = np.where(inside[0][:, None] & inside[1][None, :], picked, F(0))
        return picked, whole[0][:, None] & whole[1][None, :]


def forward(win, x, w, bias, by_rows):
    rows, channels = x.shape[:2]
    outputs, c = w.shape[:2]
    q = outputs // win.groups
    first = np.arange(outputs) // q * c
    acc = np.zeros((rows, outputs) + tuple(win.out), F)
    if by_rows and bias is not None:
        acc = acc + bias[:, None, None]
    for i, j in win.taps():
        inside = win.places(0, i)[1][:, None] if by_rows else True
        for k in range(c):
            term = fma(win.seen(x[:, first + k], i, j), w[:, k, i, j][:, None, None], acc).reshape(acc.shape)
            acc = np.where(inside, term, acc)
    if bias is not None and not by_rows:
        acc = acc + bias[:, None, None]
    return acc


def backward(win, dy, w, bias):
    rows, outputs = dy.shape[:2]
    c, q = w.shape[1], outputs // win.groups
    channels = c * win.groups
    d = np.arange(channels)
    acc = np.zeros((rows, channels) + tuple(win.size), F)
    for i, j in win.taps():
        for k in range(q):
            o = d // c * q + k
            seen, counts = win.turned(dy[:, o], i, j)
            term = fma(seen, w[o, d % c, i, j][:, None, None], acc).reshape(acc.shape)
            acc = np.where(counts, term, acc)
    return acc if bias is None else acc + bias[:, None, None]


def chunked(replica_rows, positions, compute, shape):
    """A gradient for a weight: chunks of rows, added along the tree."""
    size = max(1, -(-4096 // positions))
    parts = [compute(replica_rows[at:at + size]) for at in range(0, len(replica_rows), size)]
    return tree(parts, plus) if parts else np.zeros(shape, F)


def weight_gradient(win, x, dy, shape, rows):
    outputs, c = shape[:2]
    q = outputs // win.groups

    def chunk(some):
        dw = np.zeros(shape, F)
        first = np.arange(outputs) // q * c
        channel = (first[:, None] + np.arange(c)[None, :])  # [o][k]
        seen = [[win.seen(x[r], i, j) for i, j in win.taps()] for r in some]
        for r, taps in zip(some, seen):
            all_taps = np.stack(taps, -1).reshape(x.shape[1], win.out[0], win.out[1], *win.kernel)
            for y in range(win.out[0]):
                for z in range(win.out[1]):
                    a = all_taps[:, y, z][channel]
                    dw = fma(a, dy[r, :, y, z][:, None, None, None], dw).reshape(shape)
        return dw

    return chunked(rows, win.out[0] * win.out[1], chunk, shape)


def conv(v, n, a):
    x, w, bias = v.operands(n, 3)
    if n["out"] != [r["name"] for r in v.results]:  # a batch norm is folded
        w, bias = v.folded(w, bias, 0)
    win = Window(a, w.shape[2:], x.shape[2:], v.shape_of(n)[2:])
    return [forward(win, x, w, bias, n["algorithm"] == "depthwise by rows")]


def conv_transpose(v, n, a):
    x, w, bias = v.operands(n, 3)
    if n["out"] != [r["name"] for r in v.results]:
        w, bias = v.folded(w, bias, 1, a["groups"])
    return [backward(Window(a, w.shape[2:], v.shape_of(n)[2:], x.shape[2:]), x, w, bias)]


def conv_grad_input(v, n, a):
    dy, w = v.operands(n, 2)
    if n["algorithm"] != "depthwise by rows":
        return [backward(Window(a, w.shape[2:], a["size"], dy.shape[2:]), dy, w, None)]
    kernel = w.shape[2:]
    pad = [(kernel[i % 2] - 1) * a["dilation"][i % 2] - p for i, p in enumerate(a["pad"])]
    turned = Window(dict(a, pad=pad, stride=[1, 1]), kernel, dy.shape[2:], a["size"])
    return [forward(turned, dy, w[:, :, ::-1, ::-1], None, True)]


def conv_grad_weight(v, n, a):
    x, dy = v.operands(n, 2)
    win = Window(a, a["kernel"], x.shape[2:], dy.shape[2:])
    shape = (dy.shape[1], x.shape[1] // a["groups"], *a["kernel"])
    return [np.stack([weight_gradient(win, x, dy, shape, rows) for rows in v.rows()])]


def dense(v, n, a):
    x, w, bias = v.operands(n, 3)
    if n["out"] != [r["name"] for r in v.results]:
        w, bias = v.folded(w, bias, 0)
    y = chain(((x[..., k, None], w[:, k]) for k in range(x.shape[-1])), x.shape[:-1] + w.shape[:1])
    return [y if bias is None else y + bias]


def dense_grad_input(v, n, a):
    dy, w = v.operands(n, 2)
    return [chain(((dy[..., o, None], w[o]) for o in range(w.shape[0])), dy.shape[:-1] + w.shape[1:])]


def dense_grad_weight(v, n, a):
    x, dy = v.operands(n, 2)
    positions = int(np.prod(x.shape[1:-1], dtype=int))
    x, dy = x.reshape(len(x), positions, -1), dy.reshape(len(dy), positions, -1)
    shape = (dy.shape[-1], x.shape[-1])

    def chunk(some):
        return chain(((x[r, p][None, :], dy[r, p][:, None]) for r in some for p in range(positions)), shape)

    return [np.stack([chunked(rows, positions, chunk, shape) for rows in v.rows()])]


# --- batch norm ---

def spans(values, span):
    """Spans of a channel's values [rows][positions] along the trees; None without rows."""
    rows, positions = values[0].shape
    size = max(1, 64 // positions)
    units = []
    for at in range(0, rows, size):
        unit = [x[at:at + size].reshape(-1) for x in values]
        units.append([span(*[x[i:i + 4096] for x in unit]) for i in range(0, len(unit[0]), 4096)])
    return units


def over_channel(values, span, add):
    units = spans(values, span)
    return tree([tree(u, add) for u in units], add) if units else None


def blocks(x):
    return [x[i:i + 64] for i in range(0, len(x), 64)]


def total(values):
    """The sum of a block: f32, one value after the other, from +0."""
    acc = F(0)
    for x in values:
        acc = acc + x
    return acc


def finite_or(v, again):
    """A sum of a span, or the sum in f64 if the first is not finite and that is."""
    if np.isfinite(v):
        return v
    w = again()
    return w if np.isfinite(w) else v


def chain64(values):
    acc = D(0)
    for x in values:
        acc = acc + x
    return acc


def sum_span(x):
    acc = D(0)
    for b in blocks(x):
        acc = acc + D(total(b))
    return finite_or(acc, lambda: chain64(x.astype(D)))


def moments_span(x):
    a = b = D(0)
    k0 = None
    for block in blocks(x):
        v = len(block)
        k = total(block) * F(1 / v)
        d = block - k
        s, p = D(total(d)), D(total(d * d))
        k0 = D(k) if k0 is None else k0
        u = s / v
        e = (D(k) - k0) + u
        h = v * e
        a, b = a + h, b + ((p - s * u) + h * e)
    size = D(len(x))
    rest = b - a * (a / size)
    mean = chain64(x.astype(D)) / size
    rest = finite_or(rest, lambda: chain64((x.astype(D) - mean) * (x.astype(D) - mean)))
    return (size, finite_or(k0 + a / size, lambda: mean), D(0) if rest <= 0 else rest)


def merge(one, two):
    (n1, mean1, q1), (n2, mean2, q2) = one, two
    if n2 == 0:
        return one
    if n1 == 0:
        return two
    n, d = n1 + n2, mean2 - mean1
    return (n, mean1 + (d * n2) / n, (q1 + q2) + (((d * d) * n1) * n2) / n)


def channels_of(x):
    return x.reshape(x.shape[0], x.shape[1], -1)


def moments(v, n, a):
    x = channels_of(v.operands(n, 1)[0])
    all_replicas = []
    for rows in v.rows():
        of = [over_channel([x[rows, c]], moments_span, merge) or (0.0, 0.0, 0.0) for c in range(x.shape[1])]
        all_replicas.append([of[0][0]] + [m[1] for m in of] + [m[2] for m in of])
    return [np.array(all_replicas, D)]


def channel_sum(v, n, a):
    x = channels_of(v.operands(n, 1)[0])
    return [np.array([[over_channel([x[rows, c]], sum_span, plus) or 0.0 if len(rows) else 0.0
                       for c in range(x.shape[1])] for rows in v.rows()], D).astype(F)]


def normalise_grad_sums(v, n, a):
    x, dy, m = v.operands(n, 3)
    x, dy, count = channels_of(x), channels_of(dy), x.shape[1]
    result = []
    for r, rows in enumerate(v.rows()):
        one, two = [], []
        for c in range(count):
            mean = (m[r] if a["over"] == "replica" else m)[1 + c]
            k = F(mean)

            def span(x, dy):
                s1 = s2 = D(0)
                for bx, bd in zip(blocks(x), blocks(dy)):
                    s1, s2 = s1 + D(total(bd)), s2 + D(total(bd * (bx - k)))
                x64, dy64 = x.astype(D), dy.astype(D)
                return np.array([finite_or(s1, lambda: chain64(dy64)),
                                 finite_or(s2 - (mean - D(k)) * s1, lambda: chain64(dy64 * (x64 - mean)))])

            sums = over_channel([x[rows, c], dy[rows, c]], span, plus) if len(rows) else np.zeros(2)
            one.append(sums[0])
            two.append(sums[1])
        result.append(one + two)
    return [np.array(result, D)]


def all_reduce(v, n, a):
    x, = v.operands(n, 1)
    rows = v.rows()

    def node(first, end):
        if end - first == 1:
            return x[first] if len(rows[first]) else None
        m = 1
        while 2 * m < end - first:
            m *= 2
        left, right = node(first, first + m), node(first + m, end)
        if left is None or right is None:
            return right if left is None else left
        if a["of"] != "moments":
            return left + right
        half = len(left) // 2
        of = [merge((left[0], left[1 + c], left[1 + half + c]), (right[0], right[1 + c], right[1 + half + c]))
              for c in range(half)]
        return np.array([of[0][0]] + [m[1] for m in of] + [m[2] for m in of])

    result = node(0, len(rows))
    return [np.zeros(x.shape[1:], x.dtype) if result is None else result]


def running_moments(v, n, a):
    mean, variance = v.operands(n, 2)
    return [np.concatenate([[-1.0], mean, variance]).astype(D)]


def select_moments(v, n, a):
    m, running = v.operands(n, 2)
    return [np.where(m[:, :1] >= a["min"], m, running)]


def inverse(m, eps):
    """s of moments [..., 1 + 2C]: [..., C]."""
    channels = m.shape[-1] // 2
    count = np.abs(m[..., :1])
    variance = np.where(count != 0, m[..., 1 + channels:] / np.where(count != 0, count, 1), 0)
    return 1 / np.sqrt(variance + eps)


def by_row(v, a, m):
    """Values of the batch, or those of the replica of each row: [rows or 1][...]."""
    return m[v.owner()] if a["over"] == "replica" else m[None]


def wide(values, x):
    """[rows or 1][C] along the shape of x."""
    return values.reshape(values.shape + (1,) * (x.ndim - 2))


def affine(mean, by, x):
    hi = mean.astype(F)
    lo = (mean - hi.astype(D)).astype(F)
    return (x - wide(hi, x)) - wide(lo, x), wide(by.astype(F), x)


def normalise(v, n, a):
    x, m, gamma, beta = v.operands(n, 4)
    m = by_row(v, a, m)
    d, by = affine(m[:, 1:1 + x.shape[1]], gamma.astype(D) * inverse(m, a["eps"]), x)
    return [d * by + wide(beta[None], x)]


def batch_norm(v, n, a):
    if len(v.nodes) > 1:
        return [v.last]
    x, gamma, beta, mean, variance = v.operands(n, 5)
    s = 1 / np.sqrt(variance.astype(D) + a["eps"])
    d, by = affine(mean.astype(D)[None], (gamma.astype(D) * s)[None], x)
    return [d * by + wide(beta[None], x)]


def normalise_grad_input(v, n, a):
    x, dy, m, sums, gamma = v.operands(n, 5)
    m, sums, channels = by_row(v, a, m), by_row(v, a, sums), x.shape[1]
    s, count = inverse(m, a["eps"]), m[:, :1]
    some = count > 0
    shift = np.where(some, sums[:, :channels] / np.where(some, count, 1), 0).astype(F)
    slope = np.where(some, ((s * s) * sums[:, channels:]) / np.where(some, count, 1), 0).astype(F)
    d, by = affine(m[:, 1:1 + channels], gamma.astype(D) * s, x)
    return [by * ((dy - wide(shift, x)) - d * wide(slope, x))]


def normalise_grad_params(v, n, a):
    m, sums = v.operands(n, 2)
    channels = sums.shape[-1] // 2
    return [(inverse(m, a["eps"]) * sums[..., channels:]).astype(F), sums[..., :channels].astype(F)]


# --- losses and updates ---

def lines(v, n, a, weight):
    """For each label that counts: row, position, label, logits, targets and weight of its line."""
    logits, labels = v.operands(n, 2)
    classes = logits.shape[1]
    logits, labels = logits.reshape(len(logits), classes, -1).astype(D), labels.reshape(len(labels), -1)
    for row in range(len(logits)):
        for p, label in enumerate(labels[row]):
            if label == a["ignore"]:
                continue
            s = a.get("smoothing", 0.0)
            t = np.full(classes, s / classes)
            t[label] = t[label] + (1 - s)
            w = 1.0 if weight is None else D(weight[row])
            if a.get("weighted_targets"):
                t = t * np.array(a["weights"])
            elif a.get("weights"):
                w = w * a["weights"][label]
            yield row, p, label, logits[row, :, p], t, w


def log_sum(x):
    largest = np.nan if np.isnan(x).any() else x.max()
    acc = D(0)
    for e in exp(x - largest):
        acc = acc + e
    return largest, log(acc)


def softmax_xent(v, n, a):
    rows = np.zeros(sum(v.replicas))
    for row, _, _, x, t, w in lines(v, n, a, v.operand(n, 2)):
        largest, z = log_sum(x)
        loss = D(0)
        for k in range(len(x)):
            if t[k] != 0:
                loss = loss - t[k] * ((x[k] - largest) - z)
        rows[row] = rows[row] + w * loss
    result = []
    for some in v.rows():
        acc = D(0)
        for r in some:
            acc = acc + rows[r]
        result.append([acc])
    return [np.array(result, D)]


def softmax_xent_grad(v, n, a):
    logits, inv = v.operand(n, 0), D(v.operand(n, 2))
    result = np.zeros((len(logits), logits.shape[1], int(np.prod(logits.shape[2:], dtype=int))), F)
    for row, p, _, x, t, w in lines(v, n, a, v.operand(n, 3)):
        largest, z = log_sum(x)
        targets = D(1)
        if a["weighted_targets"]:
            targets = D(0)
            for k in t:
                targets = targets + k
        result[row, :, p] = (((exp((x - largest) - z) * targets) - t) * w * inv).astype(F)
    return [result.reshape(logits.shape)]


def correct(v, n, a):
    counts = np.zeros((len(v.replicas), 2))
    for row, _, label, x, _, _ in lines(v, n, a, None):
        best = 0
        for k in range(len(x)):
            if x[k] > x[best]:
                best = k
        counts[v.owner()[row]] += [best == label, 1]
    return [counts]


def sgd(v, n, a):
    w, g, vel, lr = v.operands(n, 4)
    momentum, decay = F(a["momentum"]), F(a["weight_decay"])
    d = g + decay * w if decay != 0 else g
    v1 = momentum * vel + d
    u = d + momentum * v1 if a["nesterov"] else v1
    return [w - lr * u, v1]


# --- int8 ---

def to(value, a):
    rounded = np.rint(value.astype(D)) + a.get("zero", 0)
    bounded = np.minimum(np.maximum(rounded, a.get("min", 0)), a.get("max", 255))
    return np.where(np.isnan(value), a.get("zero", 0), bounded).astype(np.uint8)


def quantize(v, n, a):
    return [to(v.operand(n, 0) / F(a["scale"]), a)]


def dequantize(v, n, a):
    return [F(a["scale"]) * (v.operand(n, 0).astype(np.int64) - a["zero"]).astype(F)]


def scaled(sums, by, a):
    value = sums.astype(F) * by
    return value if a["float"] else to(value, a)


def conv_int8(v, n, a):
    x, w, bias, by = v.operands(n, 4)
    win = Window(a, w.shape[2:], x.shape[2:], v.shape_of(n)[2:])
    moved, outputs, c = x.astype(np.int64) - a["x_zero"], w.shape[0], w.shape[1]
    first = np.arange(outputs) // (outputs // win.groups) * c
    sums = np.zeros((len(x), outputs) + tuple(win.out), np.int64) + bias[:, None, None]
    for i, j in win.taps():
        for k in range(c):
            sums += win.seen(moved[:, first + k], i, j) * w[:, k, i, j].astype(np.int64)[:, None, None]
    return [scaled(sums, by[:, None, None], a)]


def dense_int8(v, n, a):
    x, w, bias, by = v.operands(n, 4)
    return [scaled((x.astype(np.int64) - a["x_zero"]) @ w.astype(np.int64).T + bias, by, a)]


def add_int8(v, n, a):
    x, y = (z.astype(np.int64) for z in v.operands(n, 2))
    if not a["joint"]:
        return [to((x - a["a_zero"]).astype(F) * F(a["a_by"]) + (y - a["b_zero"]).astype(F) * F(a["b_by"]), a)]
    h, one = joint_half(a), lambda v: np.full((1,), v, F)
    zeros = fma(one(a["a_by"]), one(a["a_zero"] - h), one(a["b_by"]) * one(a["b_zero"] - h))
    sums = fma(F(a["b_by"]), (y - h).astype(F), np.full(y.shape, one(a["zero"] - h) - zeros, F)).reshape(y.shape)
    return [to(fma(F(a["a_by"]), (x - h).astype(F), sums).reshape(x.shape), {**a, "zero": h})]


def joint_half(a):
    """The byte of the number 0 of the type that the attribute joint names."""
    return 128 if a["joint"] == "i8" else 0


def mul_int8(v, n, a):
    x, y = (z.astype(np.int64) for z in v.operands(n, 2))
    product = ((x - a["a_zero"]) * (y - a["b_zero"])).astype(F) * F(a["by"])
    if not a["joint"]:
        return [to(product, a)]
    return [to(product + F(a["zero"] - joint_half(a)), {**a, "zero": joint_half(a)})]


def avg_pool_int8(v, n, a):
    x = v.operand(n, 0).astype(np.int64)
    win = Window(a, a["kernel"], x.shape[2:], v.shape_of(n)[2:])
    sums = sum(win.seen(x - a["x_zero"], i, j) for i, j in win.taps())
    inside = sum(win.seen(np.ones(x.shape[2:], np.int64), i, j) for i, j in win.taps())
    count = a["kernel"][0] * a["kernel"][1] if a["count_pad"] else inside
    return [to(sums.astype(F) * (D(a["by"]) / count).astype(F), a)]


def max_pool_int8(v, n, a):
    x = v.operand(n, 0).astype(np.int64)
    win = Window(a, a["kernel"], x.shape[2:], v.shape_of(n)[2:])
    return [np.max([win.seen(x, i, j, -1) for i, j in win.taps()], axis=0).astype(np.uint8)]


def table_int8(v, n, a):
    x, table = v.operands(n, 2)
    return [table[x]]


def concat_int8(v, n, a):
    return [np.concatenate([v.operand(n, i) for i in range(len(n["in"]))], axis=1 + a["axis"])]


def pad_int8(v, n, a):
    return [np.pad(v.operand(n, 0), [(0, 0)] + list(zip(a["before"], a["after"])), constant_values=a["zero"])]


def quantize_weight(v, n, a):
    w, bias = (z.astype(D) for z in v.operands(n, 2))
    x_scale, scale = D(F(a["x_scale"])), D(F(a["scale"]))
    rows = w.reshape(len(w), -1)
    step = np.maximum(np.maximum(np.abs(rows).max(axis=1) / 127, np.abs(bias) / (x_scale * 2.0**28)), 2.0**-60)
    finite = np.isfinite(rows).all(axis=1) & np.isfinite(bias)
    step = np.where(finite, step.astype(F), F(np.inf)).astype(D)
    whole = lambda x, most: np.where(np.isnan(x), 0, np.clip(np.rint(x), -most, most))
    q = whole(rows / step[:, None], 127).astype(np.int8)
    by = (x_scale * step / scale).astype(F)
    back = np.where(np.isinf(by)[:, None], by[:, None], q.astype(F) * by[:, None])
    return [q.reshape(w.shape), whole(bias / (x_scale * step), 2.0**30).astype(np.int32), by, back.reshape(w.shape)]


def take(v, n, a):
    return [np.take(v.operand(n, 0), a["index"], axis=1 + a["axis"])]


def slices(v, n, a):
    steps = a["step"] or [1] * len(a["begin"])
    return [v.operand(n, 0)[(slice(None),) + tuple(slice(*s) for s in zip(a["begin"], a["end"], steps))]]


# --- vectors ---

OPERATIONS = {f.__name__: f for f in (
    conv, conv_transpose, conv_grad_input, conv_grad_weight, dense, dense_grad_input, dense_grad_weight, moments,
    channel_sum, normalise_grad_sums, all_reduce, running_moments, select_moments, normalise, batch_norm,
    normalise_grad_input, normalise_grad_params, softmax_xent, softmax_xent_grad, correct, sgd, quantize, dequantize,
    conv_int8, dense_int8, add_int8, mul_int8, avg_pool_int8, max_pool_int8, table_int8, concat_int8, pad_int8,
    quantize_weight)}
BYTES = {"take": take, "slice": slices}
ALGORITHMS = {None, "implicit GEMM", "depthwise", "depthwise by rows"}


class Vector:
    """A vector with its operands and the results that it wants."""

    def __init__(self, path):
        described = json.loads(path.read_text())
        self.name, self.replicas, self.nodes = described["name"], described["replicas"], described["nodes"]
        self.results, self.int8 = described["results"], described["class"] == "int8/1"
        self.values = {a["name"]: np.load(path.parent / a["file"]) for a in described["operands"]}
        self.want = [np.load(path.parent / a["file"]) for a in self.results]

    def operand(self, node, i):
        return self.values.get(node["in"][i]) if i < len(node["in"]) else None

    def operands(self, node, count):
        return [self.operand(node, i) for i in range(count)]

    def rows(self):
        """The rows of each replica."""
        ends = np.cumsum([0] + self.replicas)
        return [list(range(a, b)) for a, b in zip(ends[:-1], ends[1:])]

    def owner(self):
        """The replica of each row."""
        return np.repeat(np.arange(len(self.replicas)), self.replicas)

    def shape_of(self, node):
        return self.results[0]["shape"]  # a folded batch norm keeps the shape

    def folded(self, w, bias, axis, groups=1):
        """Weight and bias with the batch norm of the last node."""
        node = self.nodes[-1]
        gamma, beta, mean, variance = (self.operand(node, i).astype(D) for i in range(1, 5))
        g = gamma / np.sqrt(variance + node["attributes"]["eps"])
        shift = -mean if bias is None else bias.astype(D) - mean
        if axis == 0:
            by = g.reshape((-1,) + (1,) * (w.ndim - 1))
        else:  # channel of the result for each [C][O/groups]
            group = np.arange(w.shape[0]) // (w.shape[0] // groups)
            by = g[group[:, None] * w.shape[1] + np.arange(w.shape[1])][:, :, None, None]
        return (w.astype(D) * by).astype(F), (beta + shift * g).astype(F)

    def operation(self):
        """The function of each node; None if one is not defined here."""
        known = [(BYTES if self.int8 else {}).get(n["operation"]) or OPERATIONS.get(n["operation"]) for n in self.nodes]
        fits = all(n.get("algorithm") in ALGORITHMS for n in self.nodes)
        return known if fits and all(known) else None

    def compute(self):
        for node, function in zip(self.nodes, self.operation()):
            self.last, *rest = function(self, node, node["attributes"])
        return [self.last] + rest


def differences(vector, got):
    for array, want, result in zip(got, vector.want, vector.results):
        array = np.asarray(array)
        if array.dtype != want.dtype or array.shape != want.shape:
            yield f"{result['name']} is {array.dtype}{array.shape}, want {want.dtype}{want.shape}"
            continue
        bits = np.dtype(f"u{want.dtype.itemsize}")
        one, two = np.ascontiguousarray(array).view(bits).reshape(-1), np.ascontiguousarray(want).view(bits).reshape(-1)
        other = one != two
        if want.dtype.kind == "f":
            other &= ~(np.isnan(array) & np.isnan(want)).reshape(-1)
        if other.any():
            i = int(np.argmax(other))
            yield (f"{result['name']}, element {i}: {one[i]:#x} ({array.reshape(-1)[i]}), want {two[i]:#x} "
                   f"({want.reshape(-1)[i]}); {other.sum()} of {other.size} differ")


def main(verbose, folder, part=""):
    computed = faults = left_out = 0
    for path in sorted(pathlib.Path(folder).glob("*/1/**/*.json")):
        vector = Vector(path)
        if part not in vector.name:
            continue
        if vector.operation() is None:
            if vector.int8:
                print(f"{vector.name}: no definition")
                faults += 1
            left_out += 1
            continue
        wrong = list(differences(vector, vector.compute()))
        for line in wrong:
            print(f"{vector.name}: {line}")
        if verbose and not wrong:
            print(f"ok {vector.name}")
        computed, faults = computed + 1, faults + bool(wrong)
    print(f"{computed} vectors computed, {faults} differ, {left_out} left out")
    return 1 if faults or not computed else 0


if __name__ == "__main__":
    words = [w for w in sys.argv[1:] if w != "-v"]
    if len(words) not in (1, 2):
        sys.exit(__doc__)
    sys.exit(main("-v" in sys.argv, *words))
