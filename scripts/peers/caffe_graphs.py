"""Small networks of Caffe, drawn at random, and what they compute.

    python3 caffe_graphs.py SEED ROUNDS

Every type of layer that bnctl knows meets blobs of one axis to seven, the batch counted,
with settings that are usual, odd, and impossible. What it computes is written here with
NumPy, in float64, after Caffe's sources (BVLC, and SSD's for Normalize and Permute), and
shares nothing with bnctl. A line of JSON a network: its description in text, the blobs of
its layers, inputs and outputs; "y" is null where Caffe stops, or has no answer. Needs
NumPy alone.
"""
import itertools
import json
import sys

import numpy as np


class Stopped(Exception):
    """A CHECK of Caffe fails, or what comes out is not defined."""


def check(ok):
    if not ok:
        raise Stopped()


rng = np.random.RandomState(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
pick = lambda *a: a[rng.randint(len(a))]
number = lambda *s: rng.randint(-8, 9, s) / 8.0
positive = lambda *s: rng.randint(2, 9, s) / 8.0


def canonical(axis, n):
    check(-n <= axis < n)
    return axis % n


def text(v):
    return {True: "true", False: "false"}[v] if isinstance(v, (bool, np.bool_)) else v if isinstance(v, str) else repr(v)


def settings(kind, c):
    """A message in text: lists are repeated, dicts are messages."""
    out = []
    for k, v in c.items():
        for one in v if isinstance(v, list) else [v]:
            out.append("%s { %s }" % (k, " ".join("dim: %d" % d for d in one["dim"])) if isinstance(one, dict) else "%s: %s" % (k, text(one)))
    return "%s { %s }" % (kind, " ".join(out)) if out else ""


class Net:
    """A network that is described and computed layer by layer, for a batch of one."""

    def __init__(self, shape):
        self.lines = ['input: "in" input_shape { %s }' % " ".join("dim: %d" % d for d in (1, *shape)[:len(shape) + 1])]
        self.inputs = number(2, *shape)
        self.values = {"in": [self.inputs[i:i + 1] for i in range(2)]}
        self.blobs, self.count = {}, 0

    def shape(self, x): return self.values[x][0].shape

    def add(self, kind, f, bottoms, param="", blobs=(), tops=1):
        """f makes an output, or a list of tops, of the bottoms."""
        self.count += 1
        name = "l%d" % self.count
        names = [name] if tops == 1 else ["%s_%d" % (name, i) for i in range(tops)]
        self.lines.append("layer { name: \"%s\" type: \"%s\" %s %s %s }" % (name, kind, " ".join('bottom: "%s"' % b for b in bottoms),
                          " ".join('top: "%s"' % t for t in names), param))
        if blobs:
            self.blobs[name] = [{"shape": list(b.shape), "data": b.ravel().tolist()} for b in blobs]
        outs = [f(*[self.values[b][i] for b in bottoms]) if f else None for i in range(2)]
        for i, n in enumerate(names):
            self.values[n] = [o if tops == 1 else o[i] for o in outs]
        return names[-1] if tops > 1 else name

    def shaped(self, x, shape):
        n, total = int(np.prod(shape)), int(np.prod(self.shape(x)[1:]))
        w = number(n, total)
        x = self.add("InnerProduct", lambda v: v.reshape(1, -1) @ w.T, [x], settings("inner_product_param", {"num_output": n, "bias_term": False}), [w])
        return self.add("Reshape", lambda v: v.reshape(1, *shape), [x], settings("reshape_param", {"shape": {"dim": [0, *shape]}}))

    # Layers.

    def window(self, deconv):
        k, s, p, d = ([pick(*of) for _ in range(2)] for of in ((1, 2, 3), (1, 1, 2, 3), (0, 0, 1, 2), (1, 1, 1, 2)))
        c = {"kernel_size": k} if k[0] != k[1] or pick(True, False) else {"kernel_size": k[0]}
        if pick(True, False):
            c = {"kernel_h": k[0], "kernel_w": k[1]}
        c.update(pick({"stride": s}, {"stride_h": s[0], "stride_w": s[1]}))
        c.update(pick({"pad": p}, {"pad_h": p[0], "pad_w": p[1]}))
        if d != [1, 1] or pick(True, False):
            c["dilation"] = d
        return k, s, p, d, c

    def Convolution(self, x, deconv=False):
        n = self.shape(x)
        k, s, p, d, c = self.window(deconv)
        check(len(n) == 4)
        groups = pick(1, 1, n[1])
        out = groups * pick(1, 2)
        w = number(n[1], out // groups, *k) if deconv else number(out, n[1] // groups, *k)
        bias = number(out) if pick(True, False) else None
        c.update(num_output=out, group=groups)
        if bias is None or pick(True, False):
            c["bias_term"] = bias is not None
        size = [(m - 1) * ss + dd * (kk - 1) + 1 - 2 * pp if deconv else (m + 2 * pp - dd * (kk - 1) - 1) // ss + 1 for m, kk, ss, pp, dd in zip(n[2:], k, s, p, d)]
        check(min(size) > 0)
        check(deconv or all(m + 2 * pp >= dd * (kk - 1) + 1 for m, kk, pp, dd in zip(n[2:], k, p, d)))

        def f(v):
            y = np.zeros((1, out, *size))
            from_, into = (n[1] // groups, out // groups)
            for g, h, i, a, b in itertools.product(range(groups), *map(range, n[2:] if deconv else size), *map(range, k)):
                r, q = h * s[0] - p[0] + a * d[0], i * s[1] - p[1] + b * d[1]
                u, t = v[0, g * from_:(g + 1) * from_], y[0, g * into:(g + 1) * into]
                if deconv and 0 <= r < size[0] and 0 <= q < size[1]:
                    t[:, r, q] += w[g * from_:(g + 1) * from_, :, a, b].T @ u[:, h, i]
                if not deconv and 0 <= r < n[2] and 0 <= q < n[3]:
                    t[:, h, i] += w[g * into:(g + 1) * into, :, a, b] @ u[:, r, q]
            return y if bias is None else y + bias[:, None, None]
        return self.add("Deconvolution" if deconv else "Convolution", f, [x], settings("convolution_param", c), [w] + ([] if bias is None else [bias]))

    def Deconvolution(self, x): return self.Convolution(x, True)

    def InnerProduct(self, x):
        n = self.shape(x)
        c = {"num_output": pick(1, 2, 3), "bias_term": pick(True, False)}
        axis = pick(1, 1, 1, 2, -1)
        if axis != 1 or pick(True, False):
            c["axis"] = axis
        a = canonical(axis, len(n))
        check(a > 0)
        total = int(np.prod(n[a:]))
        w = number(c["num_output"], total)
        told = w
        if pick(True, False, False):
            c["transpose"], told = True, w.T.copy()
        b = number(c["num_output"]) if c["bias_term"] else None
        return self.add("InnerProduct", lambda v: v.reshape(*n[:a], total) @ w.T + (0 if b is None else b), [x], settings("inner_product_param", c),
                        [told] + ([] if b is None else [b]))

    def per(self, n, axis, axes):
        """Lengths of the axes that a vector of weights goes over, and how it meets the blob."""
        a = canonical(axis, len(n))
        over = n[a:] if axes == -1 else n[a:a + axes]
        check(axes == -1 or a + axes <= len(n))
        return over, lambda w: w.reshape([1] * a + list(over) + [1] * (len(n) - a - len(over)))

    def BatchNorm(self, x):
        n = self.shape(x)
        c, ch = {"eps": pick(1e-5, 0.125)}, n[1] if len(n) > 1 else 1
        mean, var, factor = number(ch), positive(ch), np.array([pick(1.0, 2.0, 0.5, 0.0)])
        by = 0 if factor[0] == 0 else 1 / factor[0]
        at = (lambda w: w.reshape(1, ch, *[1] * (len(n) - 2))) if len(n) > 1 else (lambda w: w)
        return self.add("BatchNorm", lambda v: (v - at(mean * by)) / np.sqrt(at(var * by) + c["eps"]), [x],
                        settings("batch_norm_param", pick(c, {**c, "use_global_stats": True})), [mean, var, factor])

    def Scale(self, x):
        n = self.shape(x)
        c = pick({}, {}, {"axis": pick(1, 2, -1, 0), "num_axes": pick(1, 2, -1, 0)}, {"axis": 1}, {"num_axes": -1})
        if pick(True, False):
            c["bias_term"] = pick(True, False)
        axis, axes = c.get("axis", 1), c.get("num_axes", 1)
        if pick(True, False, False):  # scaled by another blob
            a = canonical(pick(0, axis), len(n))
            k = rng.randint(0, len(n) - a + 1)
            shape = n[a:a + k]
            c = {"axis": int(a)}
            if a == 0:
                check(k > 0)
                by = x if len(shape) == len(n) and pick(True, False) else self.shaped("in", shape[1:]) if k > 1 else None
                check(by)
                return self.add("Scale", lambda v, w: v * w.reshape(*w.shape, *[1] * (v.ndim - w.ndim)), [x, by], settings("scale_param", c))
            check(False)
        over, at = self.per(n, axis, axes)
        check(axis % len(n) > 0)
        w, b = number(*over), number(*over)
        return self.add("Scale", lambda v: v * at(w) + (at(b) if c.get("bias_term") else 0), [x], settings("scale_param", c),
                        [w, b] if c.get("bias_term") else [w])

    def Bias(self, x):
        n = self.shape(x)
        c = pick({}, {}, {"axis": pick(1, 2, -1), "num_axes": pick(1, 2, -1, 0)})
        over, at = self.per(n, c.get("axis", 1), c.get("num_axes", 1))
        b = number(*over)
        return self.add("Bias", lambda v: v + at(b), [x], settings("bias_param", c), [b])

    def LRN(self, x):
        n = self.shape(x)
        c = {"local_size": pick(1, 3, 5, 4), "alpha": pick(1.0, 0.5), "beta": pick(0.75, 0.5)}
        if pick(True, False):
            c["k"] = 2.0
        within = pick(True, False)
        if within:
            c["norm_region"] = "WITHIN_CHANNEL"
        check(len(n) == 4 and c["local_size"] % 2)
        size, half = c["local_size"], c["local_size"] // 2

        def f(v):
            if within:
                sq = np.pad(v * v, [(0, 0), (0, 0), (half, half), (half, half)])
                mean = sum(sq[:, :, i:i + n[2], j:j + n[3]] for i in range(size) for j in range(size)) / size ** 2
                return v * (1 + c["alpha"] * mean) ** -c["beta"]
            sq = np.pad(v * v, [(0, 0), (half, half), (0, 0), (0, 0)])
            return v * (c.get("k", 1) + c["alpha"] / size * sum(sq[:, i:i + n[1]] for i in range(size))) ** -c["beta"]
        return self.add("LRN", f, [x], settings("lrn_param", c))

    def Normalize(self, x):
        n = self.shape(x)
        c = {"across_spatial": pick(True, False), "channel_shared": pick(True, False), "eps": pick(1e-10, 0.125)}
        check(len(n) == 4)
        w = number(1 if c["channel_shared"] else n[1])
        over = (1, 2, 3) if c["across_spatial"] else (1,)
        told = {k: v for k, v in c.items() if not (k != "eps" and v and pick(True, False))}
        return self.add("Normalize", lambda v: v / np.sqrt((v * v).sum(over, keepdims=True) + c["eps"]) * w.reshape(1, -1, 1, 1), [x],
                        settings("norm_param", told), [w])

    def Pooling(self, x):
        n = self.shape(x)
        how = pick("MAX", "AVE")
        k, s, p = ([pick(*of) for _ in range(2)] for of in ((1, 2, 2, 3), (1, 2, 3), (0, 0, 1, 2)))
        c = {"pool": how}
        if pick(True, False, False):
            c.update(pick({"kernel_size": 2}, {"kernel_h": k[0], "kernel_w": k[1]}))
            k = [2, 2] if "kernel_size" in c else k
        else:
            k, c["kernel_size"] = [k[0]] * 2, k[0]
        c.update(pick({"stride_h": s[0], "stride_w": s[1]}, {"stride": s[0]}))
        s = [s[0]] * 2 if "stride" in c else s
        c.update(pick({"pad_h": p[0], "pad_w": p[1]}, {"pad": p[0]}, {}))
        p = [p[0]] * 2 if "pad" in c else p if "pad_h" in c else [0, 0]
        whole, down = pick(True, False, False, False), pick(True, False, False)
        if whole:
            c = {"pool": how, "global_pooling": True}
        elif down:
            c["round_mode"] = "FLOOR"
        check(len(n) == 4)
        if whole:
            k, s, p = list(n[2:]), [1, 1], [0, 0]
        check(all(pp < kk for pp, kk in zip(p, k)) and all(m + 2 * pp >= kk for m, pp, kk in zip(n[2:], p, k)))
        size = []
        for m, kk, ss, pp in zip(n[2:], k, s, p):
            out = (m + 2 * pp - kk) // ss + 1 if down and not whole else -(-(m + 2 * pp - kk) // ss) + 1
            if max(p) and (out - 1) * ss >= m + pp:
                out -= 1
            check((out - 1) * ss - pp < m)  # else the last window has nothing in it
            size.append(out)

        def f(v):
            y = np.zeros((1, n[1], *size))
            for i, j in itertools.product(*map(range, size)):
                a, b = i * s[0] - p[0], j * s[1] - p[1]
                c_, d = min(a + k[0], n[2] + p[0]), min(b + k[1], n[3] + p[1])
                part = v[0, :, max(a, 0):min(c_, n[2]), max(b, 0):min(d, n[3])]
                y[0, :, i, j] = part.max((1, 2)) if how == "MAX" else part.sum((1, 2)) / ((c_ - a) * (d - b))
            return y
        return self.add("Pooling", f, [x], settings("pooling_param", c))

    def ReLU(self, x):
        c = pick({}, {"negative_slope": 0.25})
        return self.add("ReLU", lambda v: np.where(v > 0, v, v * c.get("negative_slope", 0)), [x], settings("relu_param", c))

    def PReLU(self, x):
        n = self.shape(x)
        check(len(n) > 1)
        shared = pick(True, False)
        w = number(1 if shared else n[1])
        return self.add("PReLU", lambda v: np.where(v > 0, v, v * w.reshape(1, -1, *[1] * (v.ndim - 2))), [x],
                        settings("prelu_param", {"channel_shared": shared} if shared else {}), [w])

    def ELU(self, x):
        c = pick({}, {"alpha": 0.5})
        return self.add("ELU", lambda v: np.where(v > 0, v, c.get("alpha", 1) * np.expm1(v)), [x], settings("elu_param", c))

    def Sigmoid(self, x): return self.add("Sigmoid", lambda v: 1 / (1 + np.exp(-v)), [x])
    def TanH(self, x): return self.add("TanH", np.tanh, [x])
    def AbsVal(self, x): return self.add("AbsVal", abs, [x])
    def BNLL(self, x): return self.add("BNLL", lambda v: np.log1p(np.exp(v)), [x])
    def Dropout(self, x): return self.add("Dropout", lambda v: v, [x], settings("dropout_param", pick({}, {"dropout_ratio": 0.25})))

    def Softmax(self, x):
        n = self.shape(x)
        axis = pick(1, 1, 2, -1, 0)
        a = canonical(axis, len(n))

        def f(v):
            e = np.exp(v - v.max(a, keepdims=True))
            return e / e.sum(a, keepdims=True)
        check(a > 0)  # over the batch: not of one sample
        return self.add("Softmax", f, [x], settings("softmax_param", {"axis": axis} if axis != 1 or pick(True, False) else {}))

    def Power(self, x):
        c = pick({}, {"scale": 0.5}, {"shift": -0.25, "scale": 2.0}, {"power": 2.0}, {"power": 0.0})
        return self.add("Power", lambda v: (c.get("shift", 0) + c.get("scale", 1) * v) ** c.get("power", 1), [x], settings("power_param", c))

    def beside(self, x, shape):
        return x if list(shape) == list(self.shape(x)[1:]) and pick(True, False) else self.shaped("in", list(shape))

    def Eltwise(self, x):
        n = list(self.shape(x)[1:])
        names = [x] + [self.beside(x, n if pick(True, True, True, False) else [pick(1, 2) for _ in range(pick(1, 2, 3))]) for _ in range(pick(1, 2))]
        check(all(self.shape(b) == self.shape(x) for b in names))
        how = pick("PROD", "SUM", "MAX")
        c = {"operation": how} if how != "SUM" or pick(True, False) else {}
        k = [1.0] * len(names)
        if how == "SUM" and pick(True, False):
            k = c["coeff"] = number(len(names)).tolist()

        def f(*v):
            return {"PROD": lambda: np.prod(v, 0), "MAX": lambda: np.max(v, 0), "SUM": lambda: sum(a * b for a, b in zip(k, v))}[how]()
        return self.add("Eltwise", f, names, settings("eltwise_param", c))

    def Concat(self, x):
        n = self.shape(x)
        c = pick({}, {"axis": pick(1, 2, -1, 0)}, {"concat_dim": pick(1, 2)})
        a = canonical(list(c.values())[0] if c else 1, len(n))
        check(a > 0)
        names = [x]
        for _ in range(pick(0, 1, 2)):
            shape = list(n[1:])
            shape[a - 1] = pick(1, 2)
            if pick(True, False, False, False):
                shape = [pick(1, 2) for _ in range(pick(1, 2, 3))]
            names.append(self.beside(x, shape))
        vs = [self.shape(b) for b in names]
        check(all(len(v) == len(n) and all(p == q for i, (p, q) in enumerate(zip(v, n)) if i != a) for v in vs))
        return self.add("Concat", lambda *v: np.concatenate(v, a), names, settings("concat_param", c))

    def Slice(self, x):
        n = self.shape(x)
        c = pick({}, {"axis": pick(1, 2, -1)}, {"slice_dim": pick(1, 2)})
        a = canonical(list(c.values())[0] if c else 1, len(n))
        check(a > 0)
        if n[a] == 1 or pick(True, False):
            tops = pick(*[t for t in range(1, n[a] + 1) if n[a] % t == 0])
            points = [n[a] // tops * i for i in range(1, tops)]
        else:
            points = sorted(int(p) for p in rng.choice(np.arange(1, n[a]), rng.randint(1, n[a]), replace=False))
            c["slice_point"] = points
        return self.add("Slice", lambda v: np.split(v, points, a) if points else v, [x], settings("slice_param", c), tops=len(points) + 1)

    def Split(self, x): return self.add("Split", lambda v: [v, v], [x], tops=2)

    def Flatten(self, x):
        n = self.shape(x)
        c = pick({}, {}, {"axis": pick(1, 2, 0)}, {"axis": 1, "end_axis": pick(-1, -2, 2)})
        a, e = canonical(c.get("axis", 1), len(n)), canonical(c.get("end_axis", -1), len(n))
        check(a <= e and a > 0)
        return self.add("Flatten", lambda v: v.reshape(*n[:a], -1, *n[e + 1:]), [x], settings("flatten_param", c))

    def Reshape(self, x):
        n = self.shape(x)
        rest, to = int(np.prod(n)), []
        for _ in range(pick(0, 1, 2, 3, 4)):
            to.append(pick(*[k for k in range(1, rest + 1) if rest % k == 0]))
            rest //= to[-1]
        to.append(rest)
        full, told = [1] + to, [0] + to
        if pick(True, False):
            told[rng.randint(1, len(told))] = -1
        for i in range(1, min(len(told), len(n))):
            if told[i] == n[i] and pick(True, False):
                told[i] = 0
        c = {"shape": {"dim": told}}
        if pick(True, False, False):
            c = {"shape": {"dim": told[1:]}, "axis": 1}
            if pick(True, False):
                c["num_axes"] = -1
            told = told[1:]
            if any(d == 0 and 1 + i >= len(n) for i, d in enumerate(told)):
                raise Stopped()
            full = [1] + to
        return self.add("Reshape", lambda v: v.reshape(full), [x], settings("reshape_param", c))

    def Permute(self, x):
        n = self.shape(x)
        order = [0] + [int(i) + 1 for i in rng.permutation(len(n) - 1)]
        if pick(True, False, False):
            order = order[:rng.randint(1, len(order) + 1)]
        full = order + [i for i in range(len(n)) if i not in order]
        return self.add("Permute", lambda v: v.transpose(full), [x], settings("permute_param", {"order": order}))

    def Tile(self, x):
        n = self.shape(x)
        c = {"tiles": pick(1, 2, 3)}
        if pick(True, False):
            c["axis"] = pick(1, 2, -1)
        a = canonical(c.get("axis", 1), len(n))
        check(a > 0)
        return self.add("Tile", lambda v: np.concatenate([v] * c["tiles"], a), [x], settings("tile_param", c))

    def Crop(self, x):
        n = self.shape(x)
        c = pick({}, {"axis": pick(1, 2, 3, -1)})
        a = canonical(c.get("axis", 2), len(n))
        check(a > 0)
        like = list(n[1:])
        at = []
        for i in range(a, len(n)):
            like[i - 1] = rng.randint(1, n[i] + 1)
            at.append(int(rng.randint(0, n[i] - like[i - 1] + 1)))
        if pick(True, False):
            c["offset"] = at
        elif pick(True, False):
            low = min(n[i] - like[i - 1] for i in range(a, len(n)))
            at = [low] * len(at)
            c["offset"] = low
        else:
            at = [0] * len(at)
        by = self.shaped("in", like)
        cut = (slice(None),) * a + tuple(slice(o, o + like[i + a - 1]) for i, o in enumerate(at))
        return self.add("Crop", lambda v, _: v[cut], [x, by], settings("crop_param", c))


LAYERS = [k for k in dir(Net) if k[0].isupper()]
FALLBACK = {"Convolution": "convolution_param { num_output: 2 kernel_size: 2 }", "Deconvolution": "convolution_param { num_output: 2 kernel_size: 2 }",
            "Pooling": "pooling_param { kernel_size: 2 }", "InnerProduct": "inner_product_param { num_output: 2 axis: 9 }",
            "Softmax": "softmax_param { axis: 9 }", "Permute": "permute_param { order: 3 order: 0 }", "Crop": "crop_param { axis: 7 }",
            "Slice": "slice_param { axis: 5 }", "Tile": "tile_param { axis: -9 tiles: 2 }", "Flatten": "flatten_param { axis: 9 }"}


def draw(kind, axes):
    """A network of a layer on a blob of as many axes beside the batch."""
    own = min(axes, 3) if pick(True, False) else pick(1, 2, 3)
    m = Net([pick(1, 2, 3), pick(1, 3, 4, 5, 6), pick(2, 3, 4, 5)] if axes == 3 and pick(True, False) else [pick(1, 2, 3, 4, 5) for _ in range(own)])
    own = len(m.inputs.shape) - 1
    x, done = "in", False
    try:
        if own != axes:
            if axes == 0:
                x = m.shaped(x, [1])
                x = m.add("Reshape", lambda v: v.reshape(1), [x], "reshape_param { shape { dim: 1 } }")
            else:
                x = m.shaped(x, [pick(1, 2, 3) for _ in range(axes)])
        x = getattr(m, kind)(x)
        done = True
        if pick(True, False):
            x = getattr(m, pick("ReLU", "TanH", "BatchNorm", "Scale", "Flatten", "InnerProduct", "Permute"))(x)
    except Stopped:
        if not done:
            if kind not in FALLBACK or axes == 3 and kind != "Softmax":
                return None
            x = m.add(kind, None, [x, "in"] if kind == "Crop" else [x], FALLBACK[kind])
    y = m.values[x]
    if y[0] is not None and len(y[0].shape) and y[0].shape[0] != 1:
        return None
    y = None if y[0] is None else np.concatenate(y)
    return {"class": kind, "axes": axes, "text": "\n".join(m.lines), "blobs": m.blobs, "out": x,
            "x": {"shape": list(m.inputs.shape), "data": m.inputs.ravel().tolist()},
            "y": None if y is None else {"shape": list(y.shape), "data": [float("%.9g" % v) for v in y.ravel()]}}


with np.errstate(all="ignore"):
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        for kind in LAYERS:
            for axes in [0, 1, 2, 3, 4, 5, 6, 3, 3] + [3] * (8 if kind in ("Pooling", "Convolution", "Deconvolution") else 0):
                for _ in range(8):
                    case = draw(kind, axes)
                    if case:
                        break
                if case:
                    print(json.dumps(case, separators=(",", ":")))
