"""keras_reference.py: what models in files of Keras compute, in float64, for survey.py.

Reads configuration and weights with json, zipfile and h5py, and computes each layer with PyTorch after Keras's
documentation; it shares nothing with bnctl. Layers that it does not know, it names.
"""
import io
import json
import re
import zipfile

import h5py
import numpy as np
import torch
from torch.nn import functional as F


class Unknown(Exception):
    pass


NOT_SURVEYED = ("LSTM", "GRU", "RNN", "Bidirectional", "TimeDistributed", "Embedding", "TextVectorization", "Lookup",
                "Masking", "Lambda", "Hashing", "MinibatchStdDev")
RANDOM = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "GaussianNoise", "GaussianDropout", "AlphaDropout",
          "ActivityRegularization")


def activation(name, x, version):
    if isinstance(name, dict):
        inner = name.get("config", {})
        name = inner if isinstance(inner, str) else inner.get("activation", name["class_name"].lower())
    f = {None: lambda x: x, "linear": lambda x: x, "relu": F.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh,
         "softmax": lambda x: torch.softmax(x, -1), "elu": F.elu, "selu": F.selu, "softplus": F.softplus,
         "softsign": F.softsign, "swish": F.silu, "silu": F.silu, "relu6": F.relu6, "gelu": F.gelu,
         "exponential": torch.exp, "log_softmax": lambda x: torch.log_softmax(x, -1), "mish": F.mish,
         "leaky_relu": lambda x: F.leaky_relu(x, 0.2), "leakyrelu": lambda x: F.leaky_relu(x, 0.3),
         "hard_swish": F.hardswish, "hard_silu": F.hardswish,
         "hard_sigmoid": F.hardsigmoid if version >= 3 else lambda x: torch.clamp(0.2 * x + 0.5, 0, 1)}.get(name)
    if f is None:
        raise Unknown("activation " + str(name))
    return f(x)


def pair(v, n=2):
    return [v] * n if isinstance(v, int) else list(v)


def padded(x, kernel, stride, dilation, padding, value=0.0):
    """x (N, C, ...), padded as "same" asks."""
    if padding == "causal":
        return F.pad(x, ((kernel[0] - 1) * dilation[0], 0))
    if padding != "same":
        return x
    pads = []
    for n, k, s, d in reversed(list(zip(x.shape[2:], kernel, stride, dilation))):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)


def first(x):
    return x.movedim(-1, 1)


def last(x):
    return x.movedim(1, -1)


class Network:
    """A model's layers, by their configuration."""

    def __init__(self, spec, weights, version):
        self.version, self.config = version, spec["config"]
        self.sequential = spec["class_name"] == "Sequential"
        layers = self.config if isinstance(self.config, list) else self.config["layers"]
        self.layers, self.specs = {}, []
        for l in layers:
            name = l["config"].get("name") or l.get("name")
            self.specs.append((name, l))
            if l["class_name"] in ("Functional", "Model", "Sequential"):
                self.layers[name] = Network(l, weights.inside(name, l), version)
        self.weights = weights

    def classes(self):
        for name, l in self.specs:
            if name in self.layers:
                yield from self.layers[name].classes()
            else:
                yield l["class_name"]

    def shape(self):
        """Return the shape of the input, without the batch."""
        c = self.specs[0][1]["config"]
        s = c.get("batch_shape") or c.get("batch_input_shape")
        if s is None and self.specs[0][0] in self.layers:
            return self.layers[self.specs[0][0]].shape()
        if s is None and not isinstance(self.config, list):
            s = self.config.get("build_input_shape")
        if s is None:
            raise Unknown("no shape of the input")
        return [n or 32 for n in s[1:]]

    def call(self, x):
        if self.sequential:
            for name, l in self.specs:
                x = self.layer(name, l, [x])
            return [x]
        values = {}
        inputs = self.config["input_layers"]
        inputs = [inputs] if isinstance(inputs[0], str) else inputs
        if len(inputs) != 1:
            raise Unknown("several inputs")
        todo = list(self.specs)
        while todo:
            left = []
            for name, l in todo:
                nodes = l.get("inbound_nodes", [])
                if l["class_name"] == "InputLayer":
                    values[name, 0] = x
                    continue
                for i, node in enumerate(nodes):
                    if (name, i) in values:
                        continue
                    at = self.operands(node)
                    if all(a in values for a in at):
                        values[name, i] = self.layer(name, l, [values[a] for a in at])
                if any((name, i) not in values for i in range(len(nodes))):
                    left.append((name, l))
            if len(left) == len(todo):
                raise Unknown("a graph in a circle")
            todo = left
        out = self.config["output_layers"]
        out = list(out.values()) if isinstance(out, dict) else out
        out = [out] if isinstance(out[0], str) else out
        return [values[o[0], o[1]] for o in out]

    @staticmethod
    def operands(node):
        if isinstance(node, dict):  # Keras 3
            found = []

            def walk(v):
                if isinstance(v, dict) and v.get("class_name") == "__keras_tensor__":
                    h = v["config"]["keras_history"]
                    found.append((h[0], h[1]))
                elif isinstance(v, dict):
                    for u in v.values():
                        walk(u)
                elif isinstance(v, list):
                    for u in v:
                        walk(u)
            walk(node["args"])
            walk(node.get("kwargs", {}))
            return found
        if node and isinstance(node[0], str):
            node = [node]
        if any(len(n) > 3 and n[3] for n in node):
            if any(k not in ("training", "mask") for n in node for k in (n[3] if len(n) > 3 else {})):
                raise Unknown("arguments of a call")
        return [(n[0], n[1]) for n in node]

    def layer(self, name, l, xs):
        if name in self.layers:
            out = self.layers[name].call(xs[0])
            return out[0]
        cls, c, x = l["class_name"], l["config"], xs[0]
        if cls in RANDOM or cls.startswith("Random") or cls == "InputLayer":
            return x
        f = getattr(self, cls, None)
        if f is None or cls[0] == "_":
            raise Unknown("layer " + cls)
        self.w = self.weights.of(name)
        if c.get("data_format") == "channels_first" and cls not in ("Flatten",):
            raise Unknown("channels first")
        y = f(c, xs if cls in MERGES else x)
        return y if cls in ("Activation", "Softmax") else activation(c.get("activation"), y, self.version) \
            if cls in ("Dense", "Conv1D", "Conv2D", "DepthwiseConv2D", "SeparableConv2D", "Conv2DTranspose",
                       "Convolution2D") else y

    def Dense(self, c, x):
        y = x @ self.w[0]
        return y + self.w[1] if c.get("use_bias", c.get("bias", True)) else y

    def conv(self, c, x, n):
        k = self.w[0]
        kernel, stride = list(k.shape[:n]), pair(c.get("strides", c.get("subsample", 1)), n)
        d = pair(c.get("dilation_rate", 1), n)
        x = padded(first(x), kernel, stride, d, c.get("padding", c.get("border_mode")))
        f = {1: F.conv1d, 2: F.conv2d}[n]
        y = f(x, k.permute(n + 1, n, *range(n)), None, stride, 0, d, c.get("groups", 1) or 1)
        return last(y) + (self.w[1] if c.get("use_bias", True) else 0)

    def Conv1D(self, c, x):
        return self.conv(c, x, 1)

    def Conv2D(self, c, x):
        return self.conv(c, x, 2)

    Convolution2D = Conv2D

    def DepthwiseConv2D(self, c, x):
        k = self.w[0]
        kernel, stride, d = list(k.shape[:2]), pair(c["strides"]), pair(c.get("dilation_rate", 1))
        x = padded(first(x), kernel, stride, d, c["padding"])
        k = k.permute(2, 3, 0, 1).reshape(-1, 1, *kernel)
        y = last(F.conv2d(x, k, None, stride, 0, d, x.shape[1]))
        return y + self.w[1] if c.get("use_bias", True) else y

    def SeparableConv2D(self, c, x):
        w = self.w
        self.w = w[:1]
        y = self.DepthwiseConv2D(dict(c, use_bias=False), x) @ w[1][0, 0]
        return y + w[2] if c.get("use_bias", True) else y

    def Conv2DTranspose(self, c, x):
        k, s = self.w[0], pair(c["strides"])
        if c.get("output_padding") or pair(c.get("dilation_rate", 1)) != [1, 1]:
            raise Unknown("output padding")
        y = F.conv_transpose2d(first(x), k.permute(3, 2, 0, 1), None, s)
        for a in (0, 1):
            n, kk, ss = x.shape[1 + a], k.shape[a], s[a]
            if c["padding"] == "same":
                before = max(kk - ss, 0) // 2
                size = n * ss
                y = F.pad(y, [0, 0] * (1 - a) + [0, max(before + size - y.shape[2 + a], 0)])
                y = y.narrow(2 + a, before, size)
            else:
                y = F.pad(y, [0, 0] * (1 - a) + [0, max(n * ss + max(kk - ss, 0) - y.shape[2 + a], 0)])
        return last(y) + (self.w[1] if c.get("use_bias", True) else 0)

    def pool(self, c, x, n, how):
        k = pair(c["pool_size"], n)
        s = pair(c.get("strides") or k, n)
        x, padding = first(x), c.get("padding", c.get("border_mode"))
        if how == "max":
            return last({1: F.max_pool1d, 2: F.max_pool2d}[n](padded(x, k, s, [1] * n, padding, -np.inf), k, s))
        f = {1: F.avg_pool1d, 2: F.avg_pool2d}[n]
        return last(f(padded(x, k, s, [1] * n, padding), k, s) /
                    f(padded(torch.ones_like(x), k, s, [1] * n, padding), k, s))

    def MaxPooling1D(self, c, x):
        return self.pool(c, x, 1, "max")

    def MaxPooling2D(self, c, x):
        return self.pool(c, x, 2, "max")

    def AveragePooling1D(self, c, x):
        return self.pool(c, x, 1, "mean")

    def AveragePooling2D(self, c, x):
        return self.pool(c, x, 2, "mean")

    def over(self, c, x, f):
        axes = tuple(range(1, x.dim() - 1))
        return f(x, dim=axes, keepdim=bool(c.get("keepdims")))

    def GlobalAveragePooling1D(self, c, x):
        return self.over(c, x, torch.mean)

    GlobalAveragePooling2D = GlobalAveragePooling1D

    def GlobalMaxPooling1D(self, c, x):
        return self.over(c, x, torch.amax)

    GlobalMaxPooling2D = GlobalMaxPooling1D

    def BatchNormalization(self, c, x):
        w = list(self.w)
        axis = c.get("axis", -1)
        axis = axis[0] if isinstance(axis, list) else axis
        shape = [1] * x.dim()
        shape[axis] = -1
        gamma = w.pop(0).reshape(shape) if c.get("scale", True) else 1
        beta = w.pop(0).reshape(shape) if c.get("center", True) else 0
        mean, var = (v.reshape(shape) for v in w)
        return (x - mean) / torch.sqrt(var + c.get("epsilon", 1e-3)) * gamma + beta

    def LayerNormalization(self, c, x):
        axis = c.get("axis", -1)
        axes = axis if isinstance(axis, list) else [axis]
        if len(axes) != 1:
            raise Unknown("a norm over several axes")
        w, shape = list(self.w), [1] * x.dim()
        shape[axes[0]] = -1
        y = (x - x.mean(axes, True)) / torch.sqrt(x.var(axes, unbiased=False, keepdim=True) + c.get("epsilon", 1e-3))
        y = y * w.pop(0).reshape(shape) if c.get("scale", True) else y
        return y + w.pop(0).reshape(shape) if c.get("center", True) else y

    def MultiHeadAttention(self, c, xs):
        q, k, v = xs[0], xs[2] if len(xs) > 2 else xs[1], xs[1]
        w, bias = list(self.w), c.get("use_bias", True)
        parts = []
        for x in (q, k, v):
            y = torch.einsum("ntd,dhe->nthe", x, w.pop(0))
            parts.append(y + w.pop(0) if bias else y)
        scores = torch.einsum("nqhe,nkhe->nhqk", parts[0], parts[1]) / np.sqrt(c["key_dim"])
        y = torch.einsum("nhqk,nkhe->nqhe", torch.softmax(scores, -1), parts[2])
        y = torch.einsum("nqhe,heo->nqo", y, w.pop(0))
        return y + w.pop(0) if bias else y

    def Activation(self, c, x):
        return activation(c["activation"], x, self.version)

    def Softmax(self, c, x):
        return torch.softmax(x, c.get("axis", -1))

    def ReLU(self, c, x):
        top, slope, at = c.get("max_value"), c.get("negative_slope") or 0.0, c.get("threshold") or 0.0
        top, slope, at = (v.get("value") if isinstance(v, dict) else v for v in (top, slope, at))
        y = torch.where(x >= at, x, slope * (x - at))
        return y if top is None else torch.where(x >= at, torch.clamp(y, max=float(top)), y)

    def LeakyReLU(self, c, x):
        a = c.get("alpha", c.get("negative_slope", 0.3))
        return F.leaky_relu(x, float(a["value"] if isinstance(a, dict) else a))

    def ELU(self, c, x):
        return F.elu(x, float(c.get("alpha", 1)))

    def PReLU(self, c, x):
        return torch.where(x > 0, x, self.w[0] * x)

    def Flatten(self, c, x):
        if c.get("data_format") == "channels_first" and x.dim() > 2:
            x = last(x)
        return x.reshape(x.shape[0], -1)

    def Reshape(self, c, x):
        return x.reshape(x.shape[0], *c["target_shape"])

    def Permute(self, c, x):
        return x.permute(0, *c["dims"])

    def RepeatVector(self, c, x):
        return x[:, None, :].repeat(1, c["n"], 1)

    def ZeroPadding2D(self, c, x):
        p = c["padding"]
        p = [[p, p]] * 2 if isinstance(p, int) else [pair(v) for v in p]
        return F.pad(x, [0, 0, *p[1], *p[0]])

    def ZeroPadding1D(self, c, x):
        return F.pad(x, [0, 0, *pair(c["padding"])])

    def Cropping2D(self, c, x):
        p = c["cropping"]
        p = [[p, p]] * 2 if isinstance(p, int) else [pair(v) for v in p]
        return x[:, p[0][0]:x.shape[1] - p[0][1], p[1][0]:x.shape[2] - p[1][1]]

    def UpSampling2D(self, c, x):
        s = pair(c["size"])
        if c.get("interpolation", "nearest") == "nearest":
            return x.repeat_interleave(s[0], 1).repeat_interleave(s[1], 2)
        return last(F.interpolate(first(x), scale_factor=tuple(map(float, s)), mode="bilinear"))

    def UpSampling1D(self, c, x):
        return x.repeat_interleave(c["size"], 1)

    def Rescaling(self, c, x):
        return x * torch.tensor(c["scale"], dtype=x.dtype) + torch.tensor(c["offset"], dtype=x.dtype)

    def Normalization(self, c, x):
        mean, var = self.w[0], self.w[1]
        return (x - mean) / torch.clamp(torch.sqrt(var), min=1e-7)

    def Resizing(self, c, x):
        if c.get("interpolation", "bilinear") != "bilinear" or c.get("crop_to_aspect_ratio"):
            raise Unknown("a resizing that is not bilinear")
        return last(F.interpolate(first(x), size=(c["height"], c["width"]), mode="bilinear", align_corners=False))

    def Add(self, c, xs):
        return sum(xs[1:], xs[0])

    def Subtract(self, c, xs):
        return xs[0] - xs[1]

    def Multiply(self, c, xs):
        y = xs[0]
        for x in xs[1:]:
            y = y * x
        return y

    def Average(self, c, xs):
        return sum(xs[1:], xs[0]) / len(xs)

    def Maximum(self, c, xs):
        y = xs[0]
        for x in xs[1:]:
            y = torch.maximum(y, x)
        return y

    def Concatenate(self, c, xs):
        return torch.cat(xs, c.get("axis", -1))


MERGES = ("Add", "Subtract", "Multiply", "Average", "Maximum", "Concatenate", "MultiHeadAttention")


class H5Weights:
    """Weights of a .h5 file, by the names of layers."""

    def __init__(self, group):
        self.group = group

    def of(self, name):
        if name not in self.group:
            return []
        g = self.group[name]
        names = [n.decode() if isinstance(n, bytes) else n for n in g.attrs.get("weight_names", [])]
        return [torch.from_numpy(np.asarray(g[n], np.float64)) for n in names]

    def inside(self, name, spec):
        """Weights of a model that is a layer lie in one group, in the order of its layers."""
        return Inside(self.of(name), self.group[name] if name in self.group else None)


class Inside:
    def __init__(self, _, group):
        self.group = group

    def of(self, name):
        if self.group is None:
            return []
        names = [n.decode() if isinstance(n, bytes) else n for n in self.group.attrs["weight_names"]]
        return [torch.from_numpy(np.asarray(self.group[n], np.float64)) for n in names if name in n.split("/")[:-1]]

    def inside(self, name, spec):
        return self


def snake(name):
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


class ArchiveWeights:
    """Weights of a .keras archive, by class and number or by name."""

    def __init__(self, group, spec):
        self.group, self.at = group, {}
        layers = group.get("layers", group.get("_layer_checkpoint_dependencies"))
        config = spec["config"]
        counts = {}
        for l in config if isinstance(config, list) else config["layers"]:
            name, cls = l["config"].get("name") or l.get("name"), snake(l["class_name"])
            n = counts.get(cls, 0)
            counts[cls] = n + 1
            numbered = cls if n == 0 else f"{cls}_{n}"
            if layers is not None:
                self.at[name] = layers.get(numbered, layers.get(name))
                if name in layers and not any(k == snake(k2["class_name"]) for k in layers for k2 in [l]):
                    self.at[name] = layers[name]

    def of(self, name):
        g = self.at.get(name)
        found = []

        def walk(g):
            if "vars" in g:
                v = g["vars"]
                found.extend(torch.from_numpy(np.asarray(v[k], np.float64)) for k in sorted(v, key=int))
            for k in ("query_dense", "_query_dense", "key_dense", "_key_dense", "value_dense", "_value_dense",
                      "output_dense", "_output_dense", "depthwise", "pointwise"):
                if k in g:
                    walk(g[k])
        if g is not None:
            walk(g)
        return found

    def inside(self, name, spec):
        g = self.at.get(name)
        return ArchiveWeights(g if g is not None else {}, spec)


class Keras:
    """The reference of survey.py."""

    version = "Keras' definitions, float64, PyTorch " + torch.__version__

    def load(self, path):
        with open(path, "rb") as f:
            head = f.read(4)
        if head == b"PK\x03\x04":
            z = zipfile.ZipFile(path)
            spec = json.loads(z.read("config.json"))
            self.file = h5py.File(io.BytesIO(z.read("model.weights.h5")), "r")
            version = int(json.loads(z.read("metadata.json"))["keras_version"].split(".")[0])
            return Network(spec, ArchiveWeights(self.file, spec), version)
        f = self.file = h5py.File(path, "r")
        if "model_config" not in f.attrs:
            raise Unknown("weights alone, or no model")
        text = f.attrs["model_config"]
        spec = json.loads(text)
        version = f.attrs.get("keras_version", f["model_weights"].attrs.get("keras_version", b"1"))
        version = version.decode() if isinstance(version, bytes) else version
        if spec["class_name"] not in ("Functional", "Model", "Sequential"):
            raise Unknown("a model of a class of its own")
        return Network(spec, H5Weights(f["model_weights"]), int(version.split(".")[0]))

    def excluded(self, path):
        try:
            self.net = self.load(path)
        except Unknown as e:
            return str(e)
        for cls in self.net.classes():
            if any(word in cls for word in NOT_SURVEYED):
                return "recurrence, embeddings, words or code"
        return None

    def sample(self, path, rng):
        return rng.standard_normal([2, *self.net.shape()]).astype(np.float32), []

    def outputs(self, path, x):
        with torch.no_grad():
            return [first(y).numpy() if y.dim() == 4 else y.numpy()
                    for y in self.net.call(torch.from_numpy(x.astype(np.float64)))]

    def fed(self, x):
        """bnctl takes pictures with the channels first."""
        return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if x.ndim == 4 else x
