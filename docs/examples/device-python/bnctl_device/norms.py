"""Batch norm. Moments are (n, means, sums of squared deviations)."""
import numpy as np

from . import device_pb2 as pb
from .operations import channels, operation, sum_channels


class Stats:
    """Moments (..., 1 + 2C) taken apart."""

    def __init__(self, m, eps=0.0):
        c = m.shape[-1] // 2
        n = m[..., :1]
        self.constant = n < 0
        self.count = n
        self.mean = m[..., 1:c + 1]
        variance = np.where(n == 0, 0, m[..., c + 1:] / np.abs(n))  # the variance of no elements is 0
        self.inverse = 1 / np.sqrt(variance + eps)


@operation(pb.OP_MOMENTS)
def moments(frame, n):
    out = np.zeros(n.out_shape())
    for r, x in n.replicas(n.get(0)):
        if len(x) == 0:
            continue
        c, count = x.shape[1], x.size // x.shape[1]
        mean = sum_channels(x) / count
        d = x - channels(mean, x)
        out[r] = np.concatenate([[count], mean, sum_channels(d * d)]) if c else [count]
    return out


@operation(pb.OP_RUNNING_MOMENTS)
def running_moments(frame, n):
    return np.concatenate([[-1.0], n.get(0), n.get(1)])


@operation(pb.OP_SELECT_MOMENTS, "min")
def select_moments(frame, n):
    m = n.get(0)
    return np.where(m[:, :1] >= n.attr["min"], m, n.get(1))


@operation(pb.OP_NORMALISE, "eps", "over")
def normalise(frame, n):
    x, s = n.get(0), Stats(n.by_row(1), n.attr["eps"])
    gamma, beta = channels(n.get(2), x), channels(n.get(3), x)
    return gamma * (x - channels(s.mean, x)) * channels(s.inverse, x) + beta


@operation(pb.OP_BATCH_NORM, "eps", "decay", "cumulative", "variance")
def batch_norm(frame, n):
    x = n.get(0)
    gamma, beta, mean, variance = (channels(n.get(i), x) for i in range(1, 5))
    return gamma * (x - mean) * (1 / np.sqrt(variance + n.attr["eps"])) + beta


@operation(pb.OP_NORMALISE_GRAD_SUMS, "over")
def normalise_grad_sums(frame, n):
    x, dy, mean = n.get(0), n.get(1), Stats(n.by_row(2)).mean
    out = np.zeros(n.out_shape())
    for r, x, dy, mean in n.replicas(x, dy, mean):
        out[r] = np.concatenate([sum_channels(dy), sum_channels(dy * (x - channels(mean, x)))])
    return out


@operation(pb.OP_NORMALISE_GRAD_INPUT, "eps", "over")
def normalise_grad_input(frame, n):
    x, dy, s, sums = n.get(0), n.get(1), Stats(n.by_row(2), n.attr["eps"]), n.by_row(3)
    c = x.shape[1]
    inverse, mean = channels(s.inverse, x), channels(s.mean, x)
    s1, s2 = channels(sums[:, :c] / s.count, x), channels(sums[:, c:] / s.count, x)
    g = dy - np.where(channels(s.constant, x), 0, s1 + (x - mean) * inverse * inverse * s2)
    return channels(n.get(4), x) * inverse * g


@operation(pb.OP_NORMALISE_GRAD_PARAMS, "eps")
def normalise_grad_params(frame, n):
    s, sums = Stats(n.get(0), n.attr["eps"]), n.get(1)
    c = sums.shape[-1] // 2
    gamma = s.inverse * sums[..., c:]
    return [gamma, sums[..., :c]]
