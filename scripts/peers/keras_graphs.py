"""Small models of Keras, drawn at random, and what they compute.

    python3 keras_graphs.py SEED ROUNDS

Every class of layer that bnctl knows meets samples of no axis to five, with settings that
are usual, odd, and impossible, alone and behind and before other layers, with its channels
last and first. What it computes is written here with NumPy, in float64, after Keras's
documentation and sources (2.15 and 3.9), and shares nothing with bnctl. A line of JSON a
model: its description, its weights, an input and the output; "y" is null where Keras
refuses the model. Needs NumPy alone.
"""
import itertools
import json
import math
import sys

import numpy as np


class Refused(Exception):
    """Keras raises an error for such a model."""


class Missing(Exception):
    """A case that bnctl need not support, and that the report leaves out."""


def need(ok):
    if not ok:
        raise Refused()


def known(ok):
    if not ok:
        raise Missing()


rng = np.random.RandomState(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
pick = lambda *a: a[rng.randint(len(a))]
number = lambda *s: rng.randint(-8, 9, s) / 8.0
positive = lambda *s: rng.randint(2, 9, s) / 8.0


# What layers compute: x is (batch, ...), cf says that channels come first.

def same(n, k, s, d):
    total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
    return total // 2, total - total // 2


def edges(n, k, s, d, how):
    """Return the padding before and after an axis."""
    if how == "same":
        return same(n, k, s, d)
    return ((k - 1) * d, 0) if how == "causal" else (0, 0)


def windows(x, kernel, stride, dilation, how, value):
    """Windows over axes 1.. of x, channels last: (batch, out..., kernel..., channels)."""
    pads = [edges(n, k, s, d, how) for n, k, s, d in zip(x.shape[1:-1], kernel, stride, dilation)]
    x = np.pad(x, [(0, 0)] + pads + [(0, 0)], constant_values=value)
    for a, (k, s, d) in enumerate(zip(kernel, stride, dilation)):
        n = (x.shape[1 + a] - (k - 1) * d - 1) // s + 1
        need(n > 0)
        at = np.arange(n)[:, None] * s + np.arange(k) * d
        x = np.moveaxis(np.take(x, at, axis=1 + a), 2 + a, -2)  # the taps go in front of the channels
    return x


def last(f):
    """Makes a function of channels last one of either."""
    def g(self, x, *a, **k):
        return np.moveaxis(f(self, np.moveaxis(x, 1, -1), *a, **k), -1, 1) if self.cf else f(self, x, *a, **k)
    return g


ERF = np.vectorize(math.erf, otypes=[float])
ACTIVATIONS = {
    "linear": lambda x, v: x, "relu": lambda x, v: np.maximum(x, 0), "relu6": lambda x, v: np.clip(x, 0, 6),
    "sigmoid": lambda x, v: 1 / (1 + np.exp(-x)), "tanh": lambda x, v: np.tanh(x), "elu": lambda x, v: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x, v: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "softplus": lambda x, v: np.log1p(np.exp(x)), "softsign": lambda x, v: x / (1 + abs(x)), "exponential": lambda x, v: np.exp(x),
    "swish": lambda x, v: x / (1 + np.exp(-x)), "silu": lambda x, v: x / (1 + np.exp(-x)),
    "hard_sigmoid": lambda x, v: np.clip(x / 6 + 0.5, 0, 1) if v == 3 else np.clip(0.2 * x + 0.5, 0, 1),
    "hard_silu": lambda x, v: x * np.clip(x / 6 + 0.5, 0, 1), "hard_swish": lambda x, v: x * np.clip(x / 6 + 0.5, 0, 1),
    "leaky_relu": lambda x, v: np.where(x > 0, x, 0.2 * x), "gelu": lambda x, v: x / 2 * (1 + ERF(x / np.sqrt(2))),
    "mish": lambda x, v: x * np.tanh(np.logaddexp(0, x)),
    "softmax": lambda x, v: softmax(x, -1), "log_softmax": lambda x, v: np.log(softmax(x, -1)),
}


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def apply(x, name, version):
    need(x.ndim > 1)
    y = ACTIVATIONS[name](x, version)
    if y is None:
        raise Missing()
    return y


class Model:
    """A model that is described and computed layer by layer."""

    def __init__(self, shape, cf):
        self.cf, self.version, self.layers, self.weights, self.calls = cf, pick(2, 3), [], {}, 0
        self.x0 = number(2, *shape)
        self.layers.append({"class_name": "InputLayer", "name": "in", "config": {"name": "in", "batch_shape": [None, *shape]}, "inbound_nodes": []})
        self.named = {"in": self.x0}

    def add(self, cls, y, config, inputs, weights={}):
        self.calls += 1
        name = "%s%d" % (cls.lower(), self.calls)
        if self.version == 3 and pick(True, False):
            node = [{"args": [[tensor(i) for i in inputs] if len(inputs) > 1 else tensor(inputs[0])], "kwargs": {}}]
        else:
            node = [[[i, 0, 0, {}] for i in inputs]]
        self.layers.append({"class_name": cls, "name": name, "config": dict(config, name=name), "inbound_nodes": node})
        if weights:
            self.weights[name] = {k: {"shape": list(v.shape), "data": v.ravel().tolist()} for k, v in weights.items()}
        self.named[name] = y
        return name

    def describe(self, out):
        return {"class_name": "Functional", "config": {"name": "m", "layers": self.layers, "input_layers": [["in", 0, 0]], "output_layers": [[out, 0, 0]]}}

    def format(self):
        return {"data_format": "channels_first" if self.cf else "channels_last"}

    # Layers: each takes the name of what it works on, draws its settings and returns its own.

    def shaped(self, x, shape):
        """Any shape, by a flattening, a dense layer and another shape."""
        x = self.Flatten(x, plain=True)
        n = int(np.prod(shape))
        w = number(self.named[x].shape[-1], n)
        x = self.add("Dense", self.named[x] @ w, {"units": n, "use_bias": False}, [x], {"kernel": w})
        return self.add("Reshape", self.named[x].reshape(2, *shape), {"target_shape": list(shape)}, [x]) if len(shape) != 1 else x

    def activated(self, y, config):
        name = pick(None, None, "linear", "relu", "softmax", "tanh")
        if name:
            config["activation"] = name
        return apply(y, name or "linear", self.version)

    def window(self, axes, kernel="kernel_size", dilated=True):
        k, s, d = [pick(1, 2, 2, 3) for _ in range(axes)], [pick(1, 1, 2, 3) for _ in range(axes)], [1] * axes
        if axes == 2 and kernel == "kernel_size" and dilated == "square":
            s = [s[0]] * 2  # TensorFlow has no others for depthwise convolutions
        if dilated and pick(True, False, False):
            s, d = [1] * axes, [pick(1, 2)] * axes
        short = lambda v: v[0] if len(set(v)) == 1 and pick(True, False) else v
        c = {kernel: short(k), "strides": short(s), "padding": pick("same", "valid")}
        if d != [1] * axes or pick(True, False):
            c.update(dilation_rate=short(d)) if dilated else None
        return k, s, d, c

    def conv(self, x, axes):
        v = self.named[x]
        k, s, d, c = self.window(axes)
        need(v.ndim == axes + 2)
        if axes == 1 and not self.cf and pick(True, False):
            c["padding"] = "causal"
        u = np.moveaxis(v, 1, -1) if self.cf else v
        groups, out = pick(1, 1, u.shape[-1]), pick(1, 2, 3)
        if groups > 1 and pick(True, False):
            c["groups"], out = groups, out * groups
        groups = c.get("groups", 1)
        w, b = number(*k, u.shape[-1] // groups, out), number(out)
        wins = windows(u, k, s, d, c["padding"], 0.0)
        flat = np.stack([np.tensordot(g, f, axes=(list(range(1 + axes, 2 + 2 * axes)), list(range(axes + 1))))
                         for g, f in zip(np.split(wins, groups, -1), np.split(w, groups, -1))])
        y = np.concatenate(list(flat), -1)
        bias = pick(True, False)
        y = y + b if bias else y
        c.update(filters=out, use_bias=bias, **self.format())
        y = self.back(y, c)
        return self.add("Conv%dD" % axes, y, c, [x], {"kernel": w, **({"bias": b} if bias else {})})

    def back(self, y, c):
        """The activation is of the axes as the layer has them."""
        return self.activated(np.moveaxis(y, -1, 1) if self.cf else y, c)

    def Conv1D(self, x): return self.conv(x, 1)
    def Conv2D(self, x): return self.conv(x, 2)

    def DepthwiseConv2D(self, x, point=False):
        v = self.named[x]
        k, s, d, c = self.window(2, dilated="square")
        need(v.ndim == 4)
        u = np.moveaxis(v, 1, -1) if self.cf else v
        many, out, n = pick(1, 2), pick(1, 2, 3), u.shape[-1]
        w = number(*k, n, many)
        y = np.einsum("nhwklc,klcm->nhwcm", windows(u, k, s, d, c["padding"], 0.0), w)
        y = y.reshape(*y.shape[:3], n * many)
        weights = {"depthwise_kernel": w}
        if point:
            weights["pointwise_kernel"] = number(1, 1, n * many, out)
            y, c["filters"] = y @ weights["pointwise_kernel"][0, 0], out
        bias = pick(True, False)
        if bias:
            weights["bias"] = number(y.shape[-1])
            y = y + weights["bias"]
        c.update(depth_multiplier=many, use_bias=bias, **self.format())
        return self.add("SeparableConv2D" if point else "DepthwiseConv2D", self.back(y, c), c, [x], weights)

    def SeparableConv2D(self, x): return self.DepthwiseConv2D(x, True)

    def Conv2DTranspose(self, x):
        """The gradient of a convolution for its input."""
        v = self.named[x]
        k, s, _, c = self.window(2, dilated=False)
        need(v.ndim == 4)
        u = np.moveaxis(v, 1, -1) if self.cf else v
        out = pick(1, 2)
        w, size = number(*k, out, u.shape[-1]), []
        for n, kk, ss in zip(u.shape[1:3], k, s):
            size.append(n * ss if c["padding"] == "same" else n * ss + max(kk - ss, 0))
        y = np.zeros((2, *size, out))
        before = [same(n, kk, ss, 1)[0] if c["padding"] == "same" else 0 for n, kk, ss in zip(size, k, s)]
        for i, j, p, q in itertools.product(range(u.shape[1]), range(u.shape[2]), range(k[0]), range(k[1])):
            a, b = i * s[0] + p - before[0], j * s[1] + q - before[1]
            if 0 <= a < size[0] and 0 <= b < size[1]:
                y[:, a, b] += u[:, i, j] @ w[p, q].T
        bias = pick(True, False)
        weights = {"kernel": w}
        if bias:
            weights["bias"] = number(out)
            y = y + weights["bias"]
        c.update(filters=out, use_bias=bias, **self.format())
        return self.add("Conv2DTranspose", self.back(y, c), c, [x], weights)

    def Dense(self, x):
        v = self.named[x]
        need(v.ndim > 1)
        c = {"units": pick(1, 2, 3), "use_bias": pick(True, False)}
        weights = {"kernel": number(v.shape[-1], c["units"])}
        y = v @ weights["kernel"]
        if c["use_bias"]:
            weights["bias"] = number(c["units"])
            y = y + weights["bias"]
        return self.add("Dense", self.activated(y, c), c, [x], weights)

    def BatchNormalization(self, x):
        v = self.named[x]
        need(v.ndim > 1)
        axis = 1 if self.cf else -1
        axis = pick(axis, axis, v.ndim - 1 if axis == -1 else 1, rng.randint(1, v.ndim))
        shape = [1] * v.ndim
        shape[axis] = n = v.shape[axis]
        c = {"axis": pick(axis, [int(axis)]), "epsilon": pick(1e-3, 0.1), "momentum": 0.99, "scale": pick(True, False), "center": pick(True, False)}
        c["axis"] = [int(a) for a in c["axis"]] if isinstance(c["axis"], list) else int(c["axis"])
        w = {"gamma": number(n), "beta": number(n), "moving_mean": number(n), "moving_variance": positive(n)}
        at = {k: u.reshape(shape) for k, u in w.items()}
        y = (v - at["moving_mean"]) / np.sqrt(at["moving_variance"] + c["epsilon"])
        y = y * at["gamma"] if c["scale"] else y
        y = y + at["beta"] if c["center"] else y
        for name, has in (("gamma", c["scale"]), ("beta", c["center"])):
            if not has:
                del w[name]
        return self.add("BatchNormalization", y, c, [x], w)

    def Activation(self, x):
        name = pick(*ACTIVATIONS)
        return self.add("Activation", apply(self.named[x], name, self.version), {"activation": name}, [x])

    def Softmax(self, x):
        v = self.named[x]
        need(v.ndim > 1)
        axis = pick(-1, -1, int(rng.randint(1, v.ndim)), int(rng.randint(1 - v.ndim, 0)))
        return self.add("Softmax", softmax(v, axis), {"axis": axis}, [x])

    def ReLU(self, x):
        c = {"max_value": pick(None, 6, 0.5), "negative_slope": pick(0.0, 0.0, 0.25), "threshold": pick(0.0, 0.0, 0.25)}
        v, top = self.named[x], c["max_value"]
        need(v.ndim > 1)
        y = np.where(v >= c["threshold"], v if top is None else np.minimum(v, top), c["negative_slope"] * (v - c["threshold"]))
        return self.add("ReLU", y, c, [x])

    def LeakyReLU(self, x):
        c = pick({}, {"alpha": 0.125}, {"alpha": {"type": "ndarray", "value": 0.25}}, {"negative_slope": 0.5})
        a = list(c.values())[0] if c else 0.3
        a = a["value"] if isinstance(a, dict) else a
        need(self.named[x].ndim > 1)
        return self.add("LeakyReLU", np.where(self.named[x] > 0, self.named[x], a * self.named[x]), c, [x])

    def ELU(self, x):
        a, v = pick(1.0, 0.5), self.named[x]
        need(v.ndim > 1)
        return self.add("ELU", np.where(v > 0, v, a * np.expm1(v)), {"alpha": a}, [x])

    def PReLU(self, x):
        v = self.named[x]
        need(v.ndim > 1)
        shared = pick(None, [a for a in range(1, v.ndim) if pick(True, False)], list(range(1, v.ndim - 1)), list(range(2, v.ndim)))
        a = number(*[1 if shared and i in shared else n for i, n in enumerate(v.shape)][1:])
        return self.add("PReLU", np.where(v > 0, v, a * v), {"shared_axes": shared}, [x], {"alpha": a})

    def pooling(self, x, how, axes):
        v = self.named[x]
        k, s, _, c = self.window(axes, "pool_size", False)
        need(v.ndim == axes + 2)
        if pick(True, False, False):
            s, c["strides"] = k, None
        u = np.moveaxis(v, 1, -1) if self.cf else v
        over = tuple(range(1 + axes, 1 + 2 * axes))
        if how == "Max":
            y = windows(u, k, s, [1] * axes, c["padding"], -np.inf).max(over)
        else:
            y = windows(u, k, s, [1] * axes, c["padding"], 0.0).sum(over) / windows(np.ones_like(u), k, s, [1] * axes, c["padding"], 0.0).sum(over)
        c.update(self.format())
        return self.add("%sPooling%dD" % (how, axes), np.moveaxis(y, -1, 1) if self.cf else y, c, [x])

    def MaxPooling1D(self, x): return self.pooling(x, "Max", 1)
    def MaxPooling2D(self, x): return self.pooling(x, "Max", 2)
    def AveragePooling1D(self, x): return self.pooling(x, "Average", 1)
    def AveragePooling2D(self, x): return self.pooling(x, "Average", 2)

    def overall(self, x, how, axes):
        v = self.named[x]
        need(v.ndim == axes + 2)
        over = tuple(range(2, v.ndim)) if self.cf else tuple(range(1, v.ndim - 1))
        keep = pick(True, False, False)
        y = {"Max": np.max, "Average": np.mean}[how](v, axis=over, keepdims=keep)
        return self.add("Global%sPooling%dD" % (how, axes), y, {"keepdims": keep, **self.format()}, [x])

    def GlobalMaxPooling1D(self, x): return self.overall(x, "Max", 1)
    def GlobalMaxPooling2D(self, x): return self.overall(x, "Max", 2)
    def GlobalAveragePooling1D(self, x): return self.overall(x, "Average", 1)
    def GlobalAveragePooling2D(self, x): return self.overall(x, "Average", 2)

    def others(self, x, least=1):
        """Operands beside x: of its shape, of one that broadcasts, and of any."""
        v, out = self.named[x], [x]
        for _ in range(pick(least, least, 2)):
            shape = list(v.shape[1:])
            how = pick("same", "same", "ones", "fewer", "more", "any")
            if how == "ones":
                shape = [pick(n, 1) for n in shape]
            elif how == "fewer":
                shape = shape[rng.randint(0, len(shape) + 1):] or [1]
            elif how == "more":
                shape = [pick(1, 2)] * pick(1, 2) + shape
            elif how == "any":
                shape = [pick(1, 2, 3) for _ in range(pick(1, 2, 3, 4, 5))]
            other = pick(x, "in") if how == "same" and self.named["in"].shape == v.shape else self.shaped("in", shape)
            out.insert(pick(0, len(out)), other)
        return out

    def merged(self, x, cls, f, pair=False):
        need(self.named[x].ndim > 1)
        names = self.others(x)
        if pair:
            names = names[:2]
        rank = max(self.named[n].ndim for n in names)
        y = None
        for n in names:
            v = self.named[n]
            v = v.reshape(2, *[1] * (rank - v.ndim), *v.shape[1:])
            if y is not None:
                need(all(a == b or a == 1 or b == 1 for a, b in zip(y.shape, v.shape)))
            y = v if y is None else f(y, v)
        if cls == "Average":
            y = y / len(names)
        return self.add(cls, y, {}, names)

    def Add(self, x): return self.merged(x, "Add", np.add)
    def Multiply(self, x): return self.merged(x, "Multiply", np.multiply)
    def Average(self, x): return self.merged(x, "Average", np.add)
    def Subtract(self, x): return self.merged(x, "Subtract", np.subtract, True)

    def Concatenate(self, x):
        v = self.named[x]
        need(v.ndim > 1)
        axis = pick(-1, int(rng.randint(1, v.ndim)))
        names = [x]
        for _ in range(pick(1, 2)):
            shape = list(v.shape[1:])
            shape[axis if axis < 0 else axis - 1] = pick(1, 2, 3)
            if pick(True, False, False, False):
                shape = [pick(1, 2) for _ in range(pick(1, 2, 3, 4, 5))]
            names.append(x if pick(True, False) else self.shaped("in", shape))
        vs = [self.named[n] for n in names]
        a = axis % v.ndim
        need(all(u.ndim == v.ndim and u.shape[:a] == v.shape[:a] and u.shape[a + 1:] == v.shape[a + 1:] for u in vs))
        return self.add("Concatenate", np.concatenate(vs, axis), {"axis": axis}, names)

    def ZeroPadding1D(self, x):
        v, p = self.named[x], [pick(0, 1, 2), pick(0, 1, 3)]
        need(v.ndim == 3)
        c, axis = {"padding": pick(p, p[0])}, 1
        p = c["padding"] if isinstance(c["padding"], list) else [p[0]] * 2
        if self.version == 3 and pick(True, False):
            c.update(self.format())
            axis = 2 if self.cf else 1
        return self.add("ZeroPadding1D", np.pad(v, [tuple(p) if a == axis else (0, 0) for a in range(3)]), c, [x])

    def sides(self):
        p = [[pick(0, 1), pick(0, 1, 2)] for _ in range(2)]
        short = pick("pairs", "each", "one")
        if short == "pairs":
            return p, p
        if short == "each":
            return [[a[0]] * 2 for a in p], [a[0] for a in p]
        return [[p[0][0]] * 2] * 2, p[0][0]

    def ZeroPadding2D(self, x):
        p, told = self.sides()
        v = self.named[x]
        need(v.ndim == 4)
        where = [(0, 0), (0, 0), *map(tuple, p)] if self.cf else [(0, 0), *map(tuple, p), (0, 0)]
        return self.add("ZeroPadding2D", np.pad(v, where), {"padding": told, **self.format()}, [x])

    def Cropping2D(self, x):
        p, told = self.sides()
        v = self.named[x]
        need(v.ndim == 4)
        a = 2 if self.cf else 1
        need(all(sum(e) < n for e, n in zip(p, v.shape[a:])))
        cut = [slice(None)] * 4
        for i, e in enumerate(p):
            cut[a + i] = slice(e[0], v.shape[a + i] - e[1])
        return self.add("Cropping2D", v[tuple(cut)], {"cropping": told, **self.format()}, [x])

    def UpSampling1D(self, x):
        need(self.named[x].ndim == 3)
        n = pick(1, 2, 3)
        return self.add("UpSampling1D", self.named[x].repeat(n, 1), {"size": n}, [x])

    def UpSampling2D(self, x):
        need(self.named[x].ndim == 4)
        by, how = [pick(1, 2, 3), pick(1, 2)], pick("nearest", "bilinear")
        c = {"size": pick(by, by[0]), "interpolation": how, **self.format()}
        by = c["size"] if isinstance(c["size"], list) else [by[0]] * 2
        y, a = self.named[x], 2 if self.cf else 1
        for i, n in enumerate(by):
            if how == "nearest":
                y = y.repeat(n, a + i)
                continue
            at = np.clip((np.arange(y.shape[a + i] * n) + 0.5) / n - 0.5, 0, y.shape[a + i] - 1)
            low = np.floor(at).astype(int)
            high, part = np.minimum(low + 1, y.shape[a + i] - 1), (at - low).reshape([-1 if j == a + i else 1 for j in range(4)])
            y = np.take(y, low, a + i) * (1 - part) + np.take(y, high, a + i) * part
        return self.add("UpSampling2D", y, c, [x])

    def Reshape(self, x):
        v = self.named[x]
        need(v.ndim > 1)
        rest, shape = int(np.prod(v.shape[1:])), []
        for _ in range(pick(0, 1, 2, 3)):
            n = pick(*[k for k in range(1, rest + 1) if rest % k == 0])
            shape.append(n)
            rest //= n
        shape.insert(rng.randint(len(shape) + 1), rest)
        told = list(shape)
        if pick(True, False):
            told[rng.randint(len(told))] = -1
        return self.add("Reshape", v.reshape(2, *shape), {"target_shape": told}, [x])

    def Flatten(self, x, plain=False):
        v = self.named[x]
        c = {"data_format": "channels_last"}
        if self.cf and not plain and pick(True, False):
            c = self.format()
            v = np.moveaxis(v, 1, -1) if v.ndim > 2 else v
        return self.add("Flatten", v.reshape(2, -1), pick({}, c) if c["data_format"] == "channels_last" else c, [x])

    def Permute(self, x):
        v = self.named[x]
        need(v.ndim > 1)
        dims = [int(d) + 1 for d in rng.permutation(v.ndim - 1)]
        return self.add("Permute", v.transpose(0, *dims), {"dims": dims}, [x])

    def Rescaling(self, x):
        v = self.named[x]
        need(v.ndim > 1)
        draw = lambda one: pick(one, number(v.shape[-1]).tolist())
        c = {"scale": draw(0.25), "offset": draw(-0.5)}
        return self.add("Rescaling", v * np.array(c["scale"]) + np.array(c["offset"]), c, [x])

    def through(self, x, cls, c):
        need(self.named[x].ndim > 1)
        return self.add(cls, self.named[x], c, [x])

    def Dropout(self, x): return self.through(x, "Dropout", {"rate": pick(0, 0.5), "noise_shape": None, "seed": None})
    def SpatialDropout1D(self, x): need(self.named[x].ndim == 3); return self.through(x, "SpatialDropout1D", {"rate": 0.5})
    def SpatialDropout2D(self, x): need(self.named[x].ndim == 4); return self.through(x, "SpatialDropout2D", {"rate": 0.5, **self.format()})
    def AlphaDropout(self, x): return self.through(x, "AlphaDropout", {"rate": 0.5})
    def GaussianDropout(self, x): return self.through(x, "GaussianDropout", {"rate": 0.5})
    def GaussianNoise(self, x): return self.through(x, "GaussianNoise", {"stddev": 0.5})
    def ActivityRegularization(self, x): return self.through(x, "ActivityRegularization", {"l1": 0.5, "l2": 0.0})
    def RandomFlip(self, x): known(self.named[x].ndim == 4); return self.through(x, "RandomFlip", {"mode": "horizontal", **self.format()})
    def RandomZoom(self, x): known(self.named[x].ndim == 4); return self.through(x, "RandomZoom", {"height_factor": 0.1, "width_factor": None, "seed": 1})


def tensor(name):
    return {"class_name": "__keras_tensor__", "config": {"shape": [None], "dtype": "float32", "keras_history": [name, 0, 0]}}


LAYERS = [c for c in dir(Model) if c[0].isupper()]
AROUND = "Activation Reshape Permute Flatten Dense BatchNormalization Rescaling Concatenate Add Softmax PReLU".split()
WINDOWS = {3: "Conv1D MaxPooling1D UpSampling1D".split(), 4: "Conv2D MaxPooling2D GlobalAveragePooling2D".split()}


def around(m, x):
    return getattr(m, pick(*AROUND, *WINDOWS.get(m.named[x].ndim, [])))(x)


def draw(cls, axes):
    cf = pick(True, False, False, False)
    m = Model([pick(1, 2, 3, 4) if axes < 4 else pick(1, 2) for _ in range(axes)], cf)
    x, before, done = "in", False, False
    try:
        if pick(True, False):
            before = axes > 0
            x = around(m, x)
            before = False
        x = getattr(m, cls)(x)
        done = True
        for _ in range(pick(0, 1, 2)):
            x = around(m, x)
    except Refused:  # describe the layer all the same: it must not do harm
        fits = "%dD" % (m.named[x].ndim - 2) in cls
        if before or not done and fits:
            return None
        if not done and axes and cls in "Add Subtract Multiply Average Concatenate".split():
            return None
        if not done:
            x = m.add(cls, None, impossible(m, cls), [x] if pick(True, True, False) or cls == "Conv2D" else [x, "in"])
    except Missing:
        return None
    y = m.named[x]
    told = any(l["config"].get("data_format") == "channels_first" for l in m.layers if l["class_name"] != "Flatten")
    return {"class": cls, "axes": axes, "first": told, "major": m.version, "config": m.describe(x), "weights": m.weights,
            "x": {"shape": list(m.x0.shape), "data": m.x0.ravel().tolist()},
            "y": None if y is None else {"shape": list(y.shape), "data": [float("%.9g" % v) for v in y.ravel()]}}


def impossible(m, cls):
    """Settings for an operand of a rank that the layer does not take."""
    c = {"filters": 2, "kernel_size": 2, "units": 2, "pool_size": 2, "axis": pick(-1, 1, 5, -5, 0), "padding": 1, "cropping": 1, "size": 2,
         "target_shape": pick([2, 2], []), "dims": pick([1, 2], [], [2, 1, 3]), "alpha": 0.5, "shared_axes": pick([1], [9]), "scale": [1.0, 2.0]}
    keys = {"Conv1D": "filters kernel_size", "Conv2D": "filters kernel_size", "Conv2DTranspose": "filters kernel_size", "DepthwiseConv2D": "kernel_size",
            "SeparableConv2D": "filters kernel_size", "Dense": "units", "BatchNormalization": "axis", "Softmax": "axis", "Concatenate": "axis",
            "ZeroPadding1D": "padding", "ZeroPadding2D": "padding", "Cropping2D": "cropping", "UpSampling1D": "size", "UpSampling2D": "size",
            "Reshape": "target_shape", "Permute": "dims", "ELU": "alpha", "PReLU": "shared_axes", "Rescaling": "scale"}.get(cls, "")
    if "Pooling" in cls and "Global" not in cls:
        keys = "pool_size"
    return {k: c[k] for k in keys.split()}


def main():
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        for cls in LAYERS:
            usual = 2 if cls.endswith("1D") else 3 if "2D" in cls or cls.startswith("Random") else pick(1, 2, 3)
            for axes in [0, 1, 2, 3, 4, 5, usual, usual, usual]:
                case = draw(cls, axes)
                if case:
                    print(json.dumps(case, separators=(",", ":")))


with np.errstate(all="ignore"):
    main()
