"""Max pooling."""
import numpy as np

from . import device_pb2 as pb
from .operations import operation


def windows(n, size):
    """For every output pixel, the pixels of the padded image that it sees:
    (H' * W', kh * kw), and which of them are real."""
    (kh, kw), (sh, sw) = n.attr["kernel"], n.attr["stride"]
    top, left, bottom, right = n.attr["pad"]
    h, w = size
    index = np.pad(np.arange(h * w).reshape(h, w), ((top, bottom), (left, right)), constant_values=-1)
    v = np.lib.stride_tricks.sliding_window_view(index, (kh, kw))[::sh, ::sw]
    return v.reshape(-1, kh * kw)


def largest(x, index):
    """The pixel of the first maximum, or of the first NaN, of every window of
    planes (..., H * W)."""
    v = np.where(index >= 0, x[..., np.maximum(index, 0)], -np.inf)
    real = np.where(index >= 0, np.where(np.isnan(v), np.inf, v), -np.inf)
    first = np.where(np.isnan(v).any(-1), np.isnan(v).argmax(-1), first_maximum(real, index))
    return np.take_along_axis(np.broadcast_to(index, v.shape), first[..., None], -1)[..., 0]


def first_maximum(v, index):
    """Like argmax, but padding never wins over a real element of -inf."""
    best = v.max(-1, keepdims=True)
    return ((v == best) & (index >= 0)).argmax(-1)


@operation(pb.OP_MAX_POOL, "kernel", "stride", "pad")
def max_pool(frame, n):
    x = n.get(0)
    planes = x.reshape(x.shape[0], x.shape[1], x.shape[2] * x.shape[3])
    return np.take_along_axis(planes, largest(planes, windows(n, x.shape[2:])), -1)


@operation(pb.OP_MAX_POOL_GRAD, "kernel", "stride", "pad")
def max_pool_grad(frame, n):
    x, dy = n.get(0), n.get(1)
    planes = x.reshape(x.shape[0] * x.shape[1], x.shape[2] * x.shape[3])
    at = largest(planes, windows(n, x.shape[2:]))
    dx = np.zeros(planes.shape)
    np.add.at(dx, (np.arange(len(planes))[:, None], at), dy.reshape(at.shape))
    return dx
