"""Makes the files of this folder: models as Keras writes them, and their outputs.

    /usr/bin/python3 make.py

Keras itself is not needed: the files are written with h5py in the layout that
Keras 1 to 3 use, and the outputs (NAME.npy) are computed with NumPy and PyTorch
from Keras's own definitions, channels last. The input is
x[i] = -1 + 2*((i*2654435761 mod 2^32)/2^32), two rows.

layers.h5, lines.h5   every layer that is supported
flat.h5, square.h5, sequence.h5, box.h5
                      samples of two and four axes
first.h5              a model that keeps its channels first
base.h5 and same-*    one small model in every form in which Keras has written it:
                      all files must be read as the same model
inside*.h5            the same model inside others
turned*.h5            a depthwise and a transposed convolution, as stored by Keras on
                      TensorFlow, by Keras 2 on Theano and by Keras 1
"""
import io
import json
import os
import re
import zipfile

import h5py
import numpy as np
import torch
import torch.nn.functional as F

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.RandomState(3)
path = lambda name: os.path.join(here, name)
f32 = lambda *s: rng.uniform(-0.5, 0.5, s).astype(np.float32)


def ramp(shape):
    i = np.arange(int(np.prod(shape)), dtype=np.uint64)
    return (-1 + 2 * ((i * 2654435761) % 2**32).astype(np.float64) / 2**32).reshape(shape)


# The functions of Keras, in float64, with the channels last.

def first(x): return torch.from_numpy(np.moveaxis(np.asarray(x, np.float64), -1, 1).copy())
def last(t): return np.moveaxis(t.numpy(), 1, -1)


def same(x, kernel, stride, dilation, value=0.0):
    """Pads x, which has its channels first, like TensorFlow's SAME."""
    pads = []
    for n, k, s, d in reversed(list(zip(x.shape[2:], kernel, stride, dilation))):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)


def act(x, name):
    t = torch.from_numpy(np.asarray(x, np.float64))
    return {"linear": lambda: t, "relu": lambda: t.clamp(min=0), "tanh": t.tanh, "sigmoid": t.sigmoid, "elu": lambda: F.elu(t),
            "selu": lambda: F.selu(t), "softplus": lambda: F.softplus(t), "softsign": lambda: F.softsign(t), "exponential": t.exp,
            "swish": lambda: F.silu(t), "hard_sigmoid": lambda: (0.2 * t + 0.5).clamp(0, 1), "relu6": lambda: t.clamp(0, 6),
            "softmax": lambda: t.softmax(-1), "log_softmax": lambda: t.log_softmax(-1),
            "leaky_relu": lambda: F.leaky_relu(t, 0.2)}[name]().numpy()


class Model:
    """A chain of layers: its description, its stored weights and its outputs."""

    def __init__(self, name, shape):
        self.name, self.layers, self.weights, self.count = name, [], [], {}
        self.x = ramp((2,) + shape)
        self.add("InputLayer", "input_1", {"batch_input_shape": (None,) + shape, "dtype": "float32"}, [], None)

    def add(self, cls, name, config, weights, x, inputs=None):
        if name is None:
            base = {"Conv2D": "conv2d", "BatchNormalization": "batch_normalization"}.get(cls, cls.lower())
            self.count[base] = self.count.get(base, 0) + 1
            name = "%s_%d" % (base, self.count[base])
        prev = inputs or ([self.at] if self.layers else [])
        node = [[[p, 0, 0, {}] for p in prev]] if prev else []
        config = dict(config, name=name)
        self.layers.append({"class_name": cls, "name": name, "config": config, "inbound_nodes": node})
        self.weights.append((name, [("%s/%s:0" % (name, n), np.asarray(w, np.float32)) for n, w in weights]))
        self.at = name
        if x is not None:
            self.x = x
        return name

    def layer(self, cls, x, config={}, weights=[], name=None, inputs=None):
        return self.add(cls, name, config, weights, x, inputs)

    def conv2d(self, out, kernel, stride=(1, 1), dilation=(1, 1), padding="valid", groups=1, bias=True, activation="linear", name=None):
        w, b = f32(*kernel, self.x.shape[-1] // groups, out), f32(out)
        x = first(self.x)
        if padding == "same":
            x = same(x, kernel, stride, dilation)
        k = torch.from_numpy(w.transpose(3, 2, 0, 1).astype(np.float64))
        y = last(F.conv2d(x, k, None, stride, 0, dilation, groups)) + (b.astype(np.float64) if bias else 0)
        self.layer("Conv2D", act(y, activation), dict(filters=out, kernel_size=kernel, strides=stride, dilation_rate=dilation, padding=padding,
                   groups=groups, use_bias=bias, activation=activation, data_format="channels_last", trainable=True),
                   [("kernel", w)] + ([("bias", b)] if bias else []), name)

    def depthwise(self, kernel, multiplier, stride=(1, 1), padding="same"):
        c = self.x.shape[-1]
        w, b = f32(*kernel, c, multiplier), f32(c * multiplier)
        x = same(first(self.x), kernel, stride, (1, 1)) if padding == "same" else first(self.x)
        k = torch.from_numpy(w.transpose(2, 3, 0, 1).reshape(c * multiplier, 1, *kernel).astype(np.float64))
        self.layer("DepthwiseConv2D", last(F.conv2d(x, k, None, stride, 0, 1, c)) + b, dict(kernel_size=kernel, strides=stride, padding=padding,
                   depth_multiplier=multiplier, use_bias=True, activation="linear"), [("depthwise_kernel", w), ("bias", b)])

    def separable(self, out, kernel, stride=(1, 1), padding="same"):
        c = self.x.shape[-1]
        d, p, b = f32(*kernel, c, 1), f32(1, 1, c, out), f32(out)
        x = same(first(self.x), kernel, stride, (1, 1)) if padding == "same" else first(self.x)
        x = F.conv2d(x, torch.from_numpy(d.transpose(2, 3, 0, 1).astype(np.float64)), None, stride, 0, 1, c)
        y = last(F.conv2d(x, torch.from_numpy(p.transpose(3, 2, 0, 1).astype(np.float64)))) + b
        self.layer("SeparableConv2D", y, dict(filters=out, kernel_size=kernel, strides=stride, padding=padding, depth_multiplier=1, use_bias=True,
                   activation="linear"), [("depthwise_kernel", d), ("pointwise_kernel", p), ("bias", b)])

    def transpose(self, out, kernel, stride, padding):
        w, b = f32(*kernel, out, self.x.shape[-1]), f32(out)
        full = F.conv_transpose2d(first(self.x), torch.from_numpy(w.transpose(3, 2, 0, 1).astype(np.float64)), None, stride)
        for a, (n, k, s) in enumerate(zip(self.x.shape[1:3], kernel, stride)):
            want = n * s if padding == "same" else n * s + max(k - s, 0)
            begin = max(k - s, 0) // 2 if padding == "same" else 0
            full = F.pad(full, [0, 0, 0, max(want - full.shape[2], 0)] if a == 0 else [0, max(want - full.shape[3], 0)])
            full = full.narrow(2 + a, begin, want)
        self.layer("Conv2DTranspose", last(full) + b, dict(filters=out, kernel_size=kernel, strides=stride, padding=padding, use_bias=True,
                   activation="linear"), [("kernel", w), ("bias", b)])

    def conv1d(self, out, kernel, stride=1, dilation=1, padding="valid"):
        w, b = f32(kernel, self.x.shape[-1], out), f32(out)
        x = first(self.x)
        if padding == "same":
            x = same(x, (kernel,), (stride,), (dilation,))
        if padding == "causal":
            x = F.pad(x, [(kernel - 1) * dilation, 0])
        y = last(F.conv1d(x, torch.from_numpy(w.transpose(2, 1, 0).astype(np.float64)), None, stride, 0, dilation)) + b
        self.layer("Conv1D", y, dict(filters=out, kernel_size=[kernel], strides=[stride], dilation_rate=[dilation], padding=padding,
                   use_bias=True, activation="linear"), [("kernel", w), ("bias", b)])

    def dense(self, out, activation="linear", bias=True, name=None):
        w, b = f32(self.x.shape[-1], out), f32(out)
        y = self.x @ w.astype(np.float64) + (b if bias else 0)
        self.layer("Dense", act(y, activation), dict(units=out, use_bias=bias, activation=activation, trainable=True),
                   [("kernel", w)] + ([("bias", b)] if bias else []), name)

    def bn(self, scale=True, center=True, axis=-1, eps=1e-3, name=None):
        c = self.x.shape[-1]
        g, b, m, v = f32(c) + 1, f32(c), f32(c), f32(c) + 1
        y = (self.x - m) / np.sqrt(v.astype(np.float64) + eps) * (g if scale else 1) + (b if center else 0)
        self.layer("BatchNormalization", y, dict(axis=axis, scale=int(scale), center=center, epsilon=eps, momentum=0.99, trainable=True),
                   ([("gamma", g)] if scale else []) + ([("beta", b)] if center else []) + [("moving_mean", m), ("moving_variance", v)], name)

    def pool(self, kind, size, stride=None, padding="valid"):
        stride = stride or size
        x, n = first(self.x), len(size)
        ones = (1,) * n
        if kind == "Max":
            x = same(x, size, stride, ones, -np.inf) if padding == "same" else x
            y = (F.max_pool2d if n == 2 else F.max_pool1d)(x, size, stride)
        else:
            avg = F.avg_pool2d if n == 2 else F.avg_pool1d
            one = torch.ones_like(x)
            if padding == "same":
                x, one = same(x, size, stride, ones), same(one, size, stride, ones)
            y = avg(x, size, stride) / avg(one, size, stride)
        self.layer("%sPooling%dD" % ({"Max": "Max", "Avg": "Average"}[kind], n), last(y), dict(pool_size=size, strides=stride, padding=padding))

    def prelu(self, shared):
        shape = [1 if a in shared else n for a, n in enumerate(self.x.shape)][1:]
        a = f32(*shape)
        self.layer("PReLU", np.where(self.x >= 0, self.x, a * self.x), dict(shared_axes=shared or None), [("alpha", a)])

    def describe(self):
        return {"class_name": "Model", "config": {"name": self.name, "layers": self.layers,
                "input_layers": [["input_1", 0, 0]], "output_layers": [[self.at, 0, 0]]}}


# The form in which Keras stores a model.

def store(group, weights, many=None):
    names = np.array([n.encode() for n, _ in weights])
    if many:  # Keras splits an attribute of more than 64,512 bytes
        for i, part in enumerate(np.array_split(names, many)):
            group.attrs["layer_names%d" % i] = part
    else:
        group.attrs["layer_names"] = names
    for name, arrays in weights:
        g = group.create_group(name)
        g.attrs["weight_names"] = np.array([n.encode() for n, _ in arrays]) if arrays else np.zeros((0,))
        for n, a in arrays:
            g.create_dataset(n, data=a)


def save(name, describe, weights, version="2.2.4", backend="tensorflow", many=None, config=True):
    with h5py.File(path(name), "w") as f:
        f.attrs["keras_version"] = np.bytes_(version)
        if backend:
            f.attrs["backend"] = np.bytes_(backend)
        if config:
            f.attrs["model_config"] = np.bytes_(json.dumps(describe))
        store(f.create_group("model_weights") if config else f, weights, many)


def finish(m, name):
    save(name + ".h5", m.describe(), m.weights, "2.15.0")
    np.save(path(name), m.x.astype(np.float32))


AUGMENTATIONS = """AugMix CutMix MixUp RandAugment RandomBrightness RandomColorDegeneration RandomColorJitter RandomContrast
    RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHeight RandomWidth RandomHue RandomInvert
    RandomPerspective RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom RandomCrop"""


def layers():
    m = Model("layers", (13, 11, 3))
    for name in AUGMENTATIONS.split():
        m.layer(name, m.x, dict(height=13, width=11, seed=3) if name == "RandomCrop" else dict(seed=3))
    m.conv2d(4, (3, 3), stride=(2, 2), padding="same", activation="relu")
    m.bn(axis=[3])
    start = m.at, m.x
    m.depthwise((3, 2), 2)
    m.separable(4, (3, 3))
    m.layer("Activation", act(m.x, "tanh"), dict(activation="tanh"))
    side = m.at, m.x
    m.layer("Add", start[1] + side[1], inputs=[start[0], side[0]])
    m.layer("Multiply", m.x * side[1], inputs=[m.at, side[0]])
    m.layer("Subtract", m.x - start[1], inputs=[m.at, start[0]])
    m.layer("Average", (m.x + start[1] + side[1]) / 3, inputs=[m.at, start[0], side[0]])
    m.layer("Concatenate", np.concatenate([m.x, start[1]], -1), dict(axis=-1), inputs=[m.at, start[0]])
    m.layer("LeakyReLU", np.where(m.x >= 0, m.x, np.float64(np.float32(0.1)) * m.x), dict(alpha={"type": "ndarray", "value": 0.1}))
    m.conv2d(6, (2, 3), dilation=(2, 1), padding="same", groups=2, bias=False)
    m.prelu([1, 2])
    m.prelu([])
    m.pool("Max", (3, 2), (2, 2), "same")
    m.transpose(5, (3, 2), (2, 3), "same")
    m.transpose(4, (2, 3), (3, 2), "valid")
    m.pool("Avg", (3, 3), (2, 2), "same")
    m.layer("ZeroPadding2D", np.pad(m.x, [(0, 0), (1, 2), (0, 1), (0, 0)]), dict(padding=[[1, 2], [0, 1]]))
    m.layer("Cropping2D", m.x[:, 1:-1, 2:-1], dict(cropping=[[1, 1], [2, 1]]))
    for name in "elu selu softplus softsign exponential swish hard_sigmoid relu6 leaky_relu sigmoid".split():
        m.layer("Activation", act(m.x, name), dict(activation=name))
    m.layer("Softmax", act(m.x, "softmax"), dict(axis=-1))
    m.layer("Rescaling", m.x * 3.0 - 0.5, dict(scale=3.0, offset=-0.5))
    m.layer("Rescaling", m.x * np.float32([0.5, 2, 1, -1]).astype(np.float64) + np.float32([0, 0.25, 0, 1]).astype(np.float64),
            dict(scale=[0.5, 2, 1, -1], offset=[0, 0.25, 0, 1]))
    m.layer("Rescaling", m.x * 2 + np.float64([0.5, 0, 1, 0]), dict(scale=2, offset=[0.5, 0, 1, 0]))
    for name, config in (("SpatialDropout2D", dict(rate=0.2, data_format="channels_last")), ("AlphaDropout", dict(rate=0.2, noise_shape=None)),
                         ("GaussianDropout", dict(rate=0.2, seed=7)), ("GaussianNoise", dict(stddev=0.2)), ("ActivityRegularization", dict(l1=0.1, l2=0))):
        m.layer(name, m.x, config)
    m.layer("ReLU", np.clip(m.x, 0, 0.6), dict(max_value=0.6, negative_slope=0.0, threshold=0.0))
    m.layer("ELU", act(m.x, "elu"), dict(alpha=1.0))
    big = F.interpolate(first(m.x), scale_factor=(2, 3), mode="bilinear", align_corners=False)
    m.layer("UpSampling2D", last(big), dict(size=[2, 3], interpolation="bilinear"))
    m.pool("Avg", (2, 3))
    m.layer("UpSampling2D", m.x.repeat(2, 1).repeat(3, 2), dict(size=[2, 3], interpolation="nearest"))
    m.layer("Permute", m.x.transpose(0, 3, 1, 2), dict(dims=[3, 1, 2]))
    shape = m.x.shape
    m.layer("Reshape", m.x.reshape(2, shape[2], -1, 2), dict(target_shape=[shape[2], -1, 2]))
    m.layer("Dropout", m.x, dict(rate=0.3))
    m.dense(3, "tanh")
    gap = m.at, m.x
    m.layer("GlobalAveragePooling2D", m.x.mean((1, 2)))
    mean = m.at, m.x
    m.layer("GlobalMaxPooling2D", gap[1].max((1, 2)), inputs=[gap[0]])
    m.layer("Multiply", gap[1] * m.x[:, None, None], inputs=[gap[0], m.at])
    m.layer("Multiply", m.x * mean[1][:, None, None], inputs=[m.at, mean[0]])
    m.layer("Flatten", m.x.reshape(2, -1))
    m.bn(scale=False, axis=1)
    m.bn(center=False, eps=0.01)
    m.layer("Activation", act(m.x, "relu"), dict(activation="relu"))
    m.dense(7, "softmax")
    finish(m, "layers")


def lines():
    m = Model("lines", (12, 5))
    m.conv1d(6, 3, padding="causal", dilation=2)
    m.bn()
    m.conv1d(4, 4, stride=2, padding="same")
    m.pool("Max", (2,), (1,), "same")
    m.pool("Avg", (3,), (2,), "valid")
    m.layer("UpSampling1D", m.x.repeat(3, 1), dict(size=3))
    m.layer("SpatialDropout1D", m.x, dict(rate=0.2))
    m.layer("ZeroPadding1D", np.pad(m.x, [(0, 0), (1, 2), (0, 0)]), dict(padding=[1, 2]))
    m.dense(3)
    line = m.at, m.x
    m.layer("GlobalAveragePooling1D", m.x.mean(1))
    mean = m.at, m.x
    m.layer("GlobalMaxPooling1D", line[1].max(1), inputs=[line[0]])
    m.layer("Concatenate", np.concatenate([m.x, mean[1]], -1), dict(axis=1), inputs=[m.at, mean[0]])
    m.layer("Reshape", m.x.reshape(2, 3, 2), dict(target_shape=[3, 2]))
    m.layer("Flatten", m.x.reshape(2, -1))
    finish(m, "lines")
    archive("lines.keras", "layers", "2.15.0", m.describe(), m)
    archive("lines-2.13.keras", "_layer_checkpoint_dependencies", "2.13.1", m.describe(), m)


def channels_first():
    """A model with samples (C, H, W). Its kernels are still (h, w, in, out)."""
    m = Model("first", (2, 8, 7))
    w, b, g, v, k = f32(3, 3, 2, 4), f32(4), f32(4), f32(4) + 1, f32(8 * 4 * 3, 5)
    t = torch.from_numpy(m.x)
    t = F.conv2d(F.pad(t, [1, 1, 0, 1]), torch.from_numpy(w.transpose(3, 2, 0, 1).astype(np.float64)), torch.from_numpy(b.astype(np.float64)), 2)
    m.layer("Conv2D", t.numpy(), dict(filters=4, kernel_size=[3, 3], strides=[2, 2], padding="same", data_format="channels_first",
            use_bias=True, activation="linear"), [("kernel", w), ("bias", b)])
    c = lambda a: a.astype(np.float64)[:, None, None]
    m.layer("BatchNormalization", (m.x - c(b)) / np.sqrt(c(v) + 1e-3) * c(g) + c(b), dict(axis=1, epsilon=1e-3, momentum=0.99),
            [("gamma", g), ("beta", b), ("moving_mean", b), ("moving_variance", v)])
    m.layer("MaxPooling2D", F.max_pool2d(torch.from_numpy(m.x), (1, 2), (1, 1)).numpy(), dict(pool_size=[1, 2], strides=[1, 1], data_format="channels_first"))
    m.layer("Concatenate", np.concatenate([m.x, m.x], 1), dict(axis=1), inputs=[m.at, m.at])
    m.layer("Flatten", m.x.reshape(2, -1), dict(data_format="channels_last"))
    m.layer("Dense", act(m.x @ k.astype(np.float64), "softmax"), dict(units=5, use_bias=False, activation="softmax"), [("kernel", k)])
    finish(m, "first")


def turned():
    """The numbers of channels in and out are equal, so that the shape of a kernel does not show its order. Keras on
    Theano stores kernels rotated by 180 degrees, except for depthwise ones. A Deconvolution2D of Keras 1 has the
    kernel of a convolution: (h, w, in, out)."""
    m = Model("turned", (5, 4, 3))
    m.transpose(3, (3, 2), (2, 2), "same")
    alone = m.weights[:], m.describe(), m.x
    m.depthwise((3, 3), 1)
    finish(m, "turned")
    theano = [(n, [(a, w[::-1, ::-1] if "transpose" in a and "kernel" in a else w) for a, w in ws]) for n, ws in m.weights]
    save("turned-theano.h5", m.describe(), theano, "2.2.4", "theano")
    weights, old, x = alone
    config = old["config"]["layers"][1]["config"]
    old["config"]["layers"][1] = dict(old["config"]["layers"][1], class_name="Deconvolution2D", config={"name": config["name"], "nb_filter": 3,
        "nb_row": 3, "nb_col": 2, "subsample": [2, 2], "border_mode": "same", "dim_ordering": "tf", "bias": True, "activation": "linear",
        "output_shape": [None, 10, 8, 3]})
    weights = [(n, [(a, w.transpose(0, 1, 3, 2) if "kernel" in a else w) for a, w in ws]) for n, ws in weights]
    save("turned-keras1.h5", old, weights, "1.2.2", None)
    np.save(path("turned-keras1"), x.astype(np.float32))


def mirrored():
    """The layers of keras#14372, smaller, as tf.keras 2.3 saves them under MirroredStrategy. The running statistics
    are the means over the two replicas; nothing else in the file shows that there were replicas."""
    m = Model("sequential", (28, 28, 1))
    m.conv2d(4, (3, 3), activation="relu", name="conv2d")
    m.pool("Max", (2, 2))
    m.bn(name="batch_normalization")
    m.layer("Flatten", m.x.reshape(2, -1), name="flatten")
    m.dense(8, "relu", name="dense")
    m.dense(10, name="dense_1")
    layers = [{"class_name": l["class_name"], "config": dict(l["config"], dtype="float32")} for l in m.layers[1:]]
    layers = [{"class_name": "InputLayer", "config": {"name": "conv2d_input", "batch_input_shape": [None, 28, 28, 1],
              "dtype": "float32", "sparse": False, "ragged": False}}] + layers
    save("mirrored.h5", {"class_name": "Sequential", "config": {"name": "sequential", "layers": layers}}, m.weights[1:], "2.4.0")
    np.save(path("mirrored.input"), np.moveaxis(ramp((2, 28, 28, 1)), -1, 1).astype(np.float32))
    np.save(path("mirrored"), m.x.astype(np.float32))
    print(m.x[0])


def unbuilt():
    """Write the file of save_weights for a model without a known input, and HDF5 files of other programs."""
    with h5py.File(path("unbuilt.h5"), "w") as f:
        store(f, [("dense", [])])
    with h5py.File(path("other.h5"), "w") as f:  # a file of another program
        for name in "images labels means stds train".split():
            f.create_dataset(name, data=np.zeros(2, "f4"))


def samples():
    """Samples that are not pictures: the samples and the outputs have the file's order of axes."""
    m = Model("flat", (6, 5))  # TensorFlow's first tutorial
    m.layer("Flatten", m.x.reshape(2, -1), name="flatten")
    m.dense(3, name="dense")
    finish(m, "flat")
    m = Model("square", (4, 4))  # the shape does not show that it was transposed
    m.layer("Rescaling", m.x / 4, dict(scale=0.25, offset=0.0))
    start = m.at, m.x
    m.layer("Flatten", m.x.reshape(2, -1), name="flatten")
    m.dense(16, "relu", name="dense")
    m.layer("Reshape", m.x.reshape(2, 4, 4), dict(target_shape=[4, 4]))
    m.layer("Concatenate", np.concatenate([m.x, start[1]], 1), dict(axis=1), inputs=[m.at, start[0]])
    finish(m, "square")
    m = Model("sequence", (7, 3))
    m.conv1d(4, 3, padding="same")
    m.bn()
    m.layer("Activation", act(m.x, "softmax"), dict(activation="softmax"), name="labels")
    finish(m, "sequence")
    m = Model("box", (2, 3, 4, 5))
    m.layer("Permute", m.x.transpose(0, 3, 1, 4, 2), dict(dims=[3, 1, 4, 2]))
    m.layer("Flatten", m.x.reshape(2, -1), name="flatten")
    m.dense(3, name="dense")
    finish(m, "box")


def recurrent():
    """A batch norm without gamma, in a model that is not built."""
    m = Model("recurrent", (6, 5))
    m.bn(scale=False, eps=0.01, name="batch_normalization")
    m.layer("LSTM", m.x[:, -1, :1], dict(units=1), [("kernel", f32(5, 4)), ("recurrent_kernel", f32(1, 4)), ("bias", f32(4))])
    archive("recurrent.keras", "layers", "2.15.0", m.describe(), m)


def base():
    m = Model("model", (8, 8, 2))
    m.conv2d(3, (3, 3), padding="same", bias=False, name="conv2d_1")
    m.bn(name="batch_normalization_1")
    m.layer("Activation", act(m.x, "relu"), dict(activation="relu"), name="activation_1")
    m.pool("Max", (2, 2))
    m.layer("Flatten", m.x.reshape(2, -1), name="flatten_1")
    m.dense(4, "softmax", name="dense_1")
    finish(m, "base")
    json.dump(m.describe(), open(path("base.json"), "w"))  # the result of to_json()
    return m


def merged(m):
    """The weights of a nested model: all trained ones, then the others."""
    flat = [w for _, ws in m.weights for w in ws]
    moving = [w for w in flat if "moving" in w[0]]
    return [w for w in flat if "moving" not in w[0]] + moving


def variants(m):
    d = m.describe()
    sequential = [{"class_name": l["class_name"], "config": l["config"]} for l in m.layers[1:]]
    sequential[0] = dict(sequential[0], config=dict(sequential[0]["config"], batch_input_shape=[None, 8, 8, 2]))
    save("same-sequential-list.h5", {"class_name": "Sequential", "config": sequential}, m.weights[1:], "2.1.6")
    save("same-sequential.h5", {"class_name": "Sequential", "config": {"name": "model", "layers": [
        {"class_name": "InputLayer", "config": m.layers[0]["config"]}] + sequential}}, m.weights[1:], "2.4.0")
    save("same-functional.h5", dict(d, class_name="Functional"), m.weights, "2.15.0")
    save("same-split-names.h5", d, m.weights, many=3)
    renamed = [(n, [(a.replace("/", "_1/", 1), w) for a, w in ws]) for n, ws in m.weights]
    save("same-renamed-weights.h5", d, renamed)

    # Keras 3 writes calls with arguments at any depth, and types of its own.
    three = json.loads(json.dumps(d))
    for l in three["config"]["layers"]:
        l.update(module="keras.layers", registered_name=None, build_config={"input_shape": [None]})
        l["config"]["dtype"] = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None}
        if "batch_input_shape" in l["config"]:
            l["config"]["batch_shape"] = l["config"].pop("batch_input_shape")
        l["inbound_nodes"] = [{"args": [{"class_name": "__keras_tensor__", "config": {"shape": [None], "dtype": "float32",
                               "keras_history": c[0][:3]}}], "kwargs": {}} for c in l["inbound_nodes"]]
    three["class_name"], three["config"]["input_layers"], three["config"]["output_layers"] = "Functional", ["input_1", 0, 0], ["dense_1", 0, 0]
    save("same-keras3.h5", three, m.weights, "3.3.3")
    for name, container, version in ("same-archive.keras", "layers", "3.3.3"), ("same-archive-2.13.keras", "_layer_checkpoint_dependencies", "2.13.1"):
        archive(name, container, version, three, m)
        archive(name.replace(".keras", "-windows.keras"), container, "2.13.1", three, m, "\\")

    # Keras 1: other names of layers, fields and weights.
    old = json.loads(json.dumps(d))
    for l in old["config"]["layers"]:
        c = l["config"]
        if l["class_name"] == "Conv2D":
            l["class_name"] = "Convolution2D"
            l["config"] = {"name": c["name"], "nb_filter": 3, "nb_row": 3, "nb_col": 3, "border_mode": "same", "subsample": [1, 1],
                           "dim_ordering": "tf", "bias": False, "activation": "linear", "trainable": True}
        if l["class_name"] == "Dense":
            l["config"] = {"name": c["name"], "output_dim": 4, "bias": True, "activation": "softmax", "input_dim": None}
        if l["class_name"] == "BatchNormalization":
            l["config"] = {"name": c["name"], "mode": 0, "axis": -1, "epsilon": 1e-3, "momentum": 0.99}
        if l["class_name"] == "MaxPooling2D":
            l["config"] = {"name": c["name"], "pool_size": [2, 2], "border_mode": "valid", "strides": [2, 2], "dim_ordering": "tf"}
    ends = {"kernel": "W", "bias": "b", "gamma": "gamma", "beta": "beta", "moving_mean": "running_mean", "moving_variance": "running_std"}
    weights = [(n, [("%s_%s:0" % (n, ends[a.split("/")[1][:-2]]), w) for a, w in ws]) for n, ws in m.weights]
    save("same-keras1.h5", old, weights, "1.2.2", None)
    theano = [(n, [(a[:-2], w[::-1, ::-1] if "conv" in n else w) for a, w in ws]) for n, ws in weights]
    save("same-keras1-theano.h5", old, theano, "1.2.2", None)

    save("weights.h5", None, m.weights, config=False)


def members(m, twice):
    """The group of every layer, named by Keras after its class and a number. Keras 2.13 visits a layer with weights
    twice, and counts it each time."""
    used, out = {}, {}
    for layer, (name, arrays) in zip(m.layers, m.weights):
        base = re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", layer["class_name"])).lower()
        for _ in range(2 if twice and arrays else 1):
            used[base] = used.get(base, -1) + 1
            out.setdefault(name, base + ("_%d" % used[base] if used[base] else ""))
    return out


def archive(name, container, version, describe, m, joint="/", above=""):
    """On Windows, Keras 2.12 to 2.15 joins the names of groups by joint, so that HDF5 stores all groups in the root."""
    h5 = io.BytesIO()
    with h5py.File(h5, "w") as f:
        f.create_group("optimizer/vars").create_dataset("0", data=np.float32(1))
        if joint != "/":
            f.create_group(joint.join((container, "model"))).create_group("vars")
        f.create_group(joint.join((container, "dropout", "seed_generator"))).create_group("vars").create_dataset("0", data=np.zeros(2, "u4"))
        names = members(m, container != "layers")
        for layer, arrays in m.weights:
            if arrays:
                g = f.create_group(above + joint.join((container, names[layer]))).create_group("vars")
                for i, (_, a) in enumerate(arrays):
                    g.create_dataset(str(i), data=a)
    with zipfile.ZipFile(path(name), "w") as z:
        for member, data in (("metadata.json", json.dumps({"keras_version": version, "date_saved": "2024-01-01@00:00:00"})),
                             ("config.json", json.dumps(describe)), ("model.weights.h5", h5.getvalue())):
            z.writestr(zipfile.ZipInfo(member), data)


def lambdas(n, key="i"):
    return [{"class_name": "Lambda", "name": "lambda_%d" % (i + 1), "inbound_nodes": [[["input_1", 0, 0, {}]]], "config": {
        "name": "lambda_%d" % (i + 1), "trainable": True, "function": ["4wEAAAA=\n", None, None], "function_type": "lambda",
        "output_shape": [8, 8, 2], "output_shape_type": "raw", "arguments": {key: i, "parts": n}}} for i in range(n)]


def parallel(m, n, key, join):
    inner = {"class_name": "Model", "name": "model", "config": m.describe()["config"],
             "inbound_nodes": [[["lambda_%d" % (i + 1), 0, 0, {}]] for i in range(n)]}
    join["inbound_nodes"] = [[["model", i + 1, 0, {}] for i in range(n)]]
    return {"class_name": "Model", "config": {"name": "model_2", "layers": [m.layers[0]] + lambdas(n, key) + [inner, join],
            "input_layers": [["input_1", 0, 0]], "output_layers": [[join["name"], 0, 0]]}}


def multi_gpu(m):
    concatenate = lambda name: {"class_name": "Concatenate", "name": name, "config": {"name": name, "trainable": True, "axis": 0}}
    weights = lambda n, last: [("input_1", [])] + [("lambda_%d" % (i + 1), []) for i in range(n)] + [("model", merged(m)), (last, [])]
    save("same-multi-gpu-2.h5", parallel(m, 2, "i", concatenate("dense_1")), weights(2, "dense_1"))
    save("same-multi-gpu-8.h5", parallel(m, 8, "i", concatenate("concatenate_1")), weights(8, "concatenate_1"), "2.1.1")
    merge = {"class_name": "Merge", "name": "merge_1", "config": {"name": "merge_1", "mode": "concat", "concat_axis": 0, "mode_type": "raw"}}
    save("same-make-parallel.h5", parallel(m, 4, "idx", merge), weights(4, "merge_1"), "1.2.2", None)
    save("multi-gpu-weights.h5", None, weights(2, "dense_1"), "2.1.6", config=False)


def inside(m):
    """A model that calls the nested model twice, with the same weights."""
    inner = {"class_name": "Model", "name": "model", "config": m.describe()["config"],
             "inbound_nodes": [[["input_2", 0, 0, {}]], [["lr", 0, 0, {}]]]}
    layer = lambda cls, name, prev, **c: {"class_name": cls, "name": name, "config": dict(c, name=name), "inbound_nodes": [[[p, i, 0, {}] for p, i in prev]]}
    outer = [{"class_name": "InputLayer", "name": "input_2", "config": m.layers[0]["config"], "inbound_nodes": []},
             layer("LeakyReLU", "lr", [("input_2", 0)], alpha=0.5), inner, layer("Add", "add_1", [("model", 1), ("model", 2)])]
    d = {"class_name": "Model", "config": {"name": "outer", "layers": outer, "input_layers": [["input_2", 0, 0]], "output_layers": [["add_1", 0, 0]]}}
    save("inside-twice.h5", d, [("input_2", []), ("lr", []), ("model", merged(m)), ("add_1", [])])
    sequential = {"class_name": "Sequential", "config": {"name": "outer", "layers": [
        {"class_name": "Model", "config": m.describe()["config"]}, {"class_name": "Reshape", "config": {"name": "r", "target_shape": [2, 2]}}]}}
    save("inside-sequential.h5", sequential, [("model", merged(m)), ("r", [])])
    sequential["config"]["layers"][0]["class_name"] = "Functional"
    archive("inside-windows.keras", "layers", "2.15.0", sequential, m, "\\", "layers\\functional\\")


layers()
lines()
m = base()
channels_first()
variants(m)
multi_gpu(m)
inside(m)
turned()
unbuilt()
mirrored()
samples()
recurrent()
