"""The canonical tree, along which everything is added."""
import numpy as np

from . import device_pb2 as pb


def combine(op, a, b):
    """Combines two nodes; None is a node without rows."""
    if a is None or b is None:
        return b if a is None else a
    return merge(a, b) if op == pb.REDUCTION_MERGE_MOMENTS else a + b


def merge(a, b):
    """Moments of the union (Chan, Golub, LeVeque 1979, eq. 1.5)."""
    na, nb = a[0], b[0]
    if na == 0 or nb == 0:
        return b if na == 0 else a
    c, n = len(a) // 2, na + nb
    d = b[1:c + 1] - a[1:c + 1]
    out = np.empty_like(a)
    out[0] = n
    out[1:c + 1] = a[1:c + 1] + d * nb / n
    out[c + 1:] = a[c + 1:] + b[c + 1:] + d * d * na * nb / n
    return out


def halves(first, last):
    """The node [first, last) splits at the largest power of two below its length."""
    m = first + (1 << ((last - first - 1).bit_length() - 1))
    return (first, m), (m, last)


def reduce(op, first, last, leaf):
    if last - first == 1:
        return leaf(first)
    left, right = halves(first, last)
    return combine(op, reduce(op, *left, leaf), reduce(op, *right, leaf))


def cover(first, last, held):
    """The largest nodes all of whose leaves are held, from left to right."""
    count = sum(first <= r < last for r in held)
    if count == 0:
        return []
    if count == last - first:
        return [(first, last)]
    left, right = halves(first, last)
    return cover(*left, held) + cover(*right, held)


def parts(op, leaves, held, values):
    """Return the contribution of a member: (from, to, value) for each node that it holds."""
    of = dict(zip(held, values))
    nodes = cover(0, leaves, held) if leaves else []
    return [(a, b, reduce(op, a, b, of.__getitem__)) for a, b in nodes]
