"""Activations and their derivatives."""
import math

import numpy as np

from . import device_pb2 as pb
from .operations import operation


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def hard(x, a):
    return np.clip(a["alpha"] * x + a["beta"], 0, 1)


erf = np.vectorize(math.erf, otypes=[float])


def phi(x):
    return (1 + erf(x / np.sqrt(2))) / 2


def near(x):
    """x, bounded: beyond, derivatives do not change any more."""
    return np.clip(x, -40, 40)


def inner(x):
    return np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)


def gelu_tanh_grad(x, _):
    x = near(x)
    t = np.tanh(inner(x))
    return (1 + t) / 2 + x / 2 * (1 - t * t) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x * x)


def mish_grad(x, _):
    x = near(x)
    t = np.tanh(np.logaddexp(0, x))
    return t + x * (1 - t * t) * sigmoid(x)


# By name: the operation, its function, and its derivative as a function of
# what is saved: the result for relu, relu6, sigmoid and tanh, else the operand.
FUNCTIONS = {
    "relu": (pb.OP_RELU, lambda x, a: np.maximum(x, 0), lambda y, a: np.where(y > 0, 1.0, 0.0)),
    "relu6": (pb.OP_RELU6, lambda x, a: np.clip(x, 0, 6), lambda y, a: np.where((y > 0) & (y < 6), 1.0, 0.0)),
    "leaky_relu": (pb.OP_LEAKY_RELU, lambda x, a: np.where(x >= 0, x, a["alpha"] * x),
                   lambda x, a: np.where(x >= 0, 1.0, a["alpha"])),
    "elu": (pb.OP_ELU, lambda x, a: np.where(x > 0, x, a["alpha"] * np.expm1(x)),
            lambda x, a: np.where(x >= 0, 1.0, a["alpha"] * np.exp(x))),
    "sigmoid": (pb.OP_SIGMOID, lambda x, a: sigmoid(x), lambda y, a: y * (1 - y)),
    "hard_sigmoid": (pb.OP_HARD_SIGMOID, hard,
                     lambda x, a: np.where((a["alpha"] * x + a["beta"] >= 0) & (a["alpha"] * x + a["beta"] < 1),
                                           a["alpha"], 0.0)),
    "silu": (pb.OP_SILU, lambda x, a: x * sigmoid(x), lambda x, a: sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
    "hard_swish": (pb.OP_HARD_SWISH, lambda x, a: x * np.clip(x + 3, 0, 6) / 6,
                   lambda x, a: np.where(x < -3, 0.0, np.where(x >= 3, 1.0, (2 * x + 3) / 6))),
    "tanh": (pb.OP_TANH, lambda x, a: np.tanh(x), lambda y, a: 1 - y * y),
    "softplus": (pb.OP_SOFTPLUS, lambda x, a: np.logaddexp(0, x), lambda x, a: sigmoid(x)),
    "erf": (pb.OP_ERF, lambda x, a: erf(x), lambda x, a: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
    "gelu": (pb.OP_GELU, lambda x, a: x * phi(x), lambda x, a: phi(x) + near(x) * np.exp(-near(x) ** 2 / 2) / np.sqrt(2 * np.pi)),
    "gelu_tanh": (pb.OP_GELU_TANH, lambda x, a: x * (1 + np.tanh(inner(x))) / 2, gelu_tanh_grad),
    "mish": (pb.OP_MISH, lambda x, a: x * np.tanh(np.logaddexp(0, x)), mish_grad),
    "clip": (pb.OP_CLIP, lambda x, a: np.clip(x, a["min"], a["max"]),
             lambda x, a: np.where((x >= a["min"]) & (x < a["max"]), 1.0, 0.0)),
}

PARAMETERS = {"gelu": ("halve_last",), "gelu_tanh": ("halve_last",), "leaky_relu": ("alpha",), "elu": ("alpha",), "hard_sigmoid": ("alpha", "beta"), "clip": ("min", "max")}

for _name, (_op, _f, _) in FUNCTIONS.items():
    operation(_op, *PARAMETERS.get(_name, ()))(lambda frame, n, f=_f: f(n.get(0), n.attr))


@operation(pb.OP_ACTIVATION_GRAD, "of", "alpha", "beta", "min", "max")
def activation_grad(frame, n):
    saved, dy = n.get(0), n.get(1)
    d = FUNCTIONS[n.attr["of"]][2](saved, n.attr)
    return np.where(np.isnan(saved), np.nan, d * dy)
