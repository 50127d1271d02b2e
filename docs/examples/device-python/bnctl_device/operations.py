"""The definitions of the operations, which device.proto describes in words.

Values are arrays in the types of the program. Inside, everything is float64
and rounded once when it is stored; updates are float32 throughout. A row is
computed by itself and a replica by itself, so that no result depends on what
else the device holds.
"""
import numpy as np

from . import device_pb2 as pb
from .errors import invalid
from .messages import DTYPES

TABLE = {}  # operation: function(frame, node) -> result or list of results
ATTRIBUTES = {pb.OP_ALL_REDUCE: {"of"}}  # operation: the attributes that it reads


def operation(number, *attributes):
    def add(function):
        TABLE[number] = function
        ATTRIBUTES[number] = set(attributes)
        return function
    return add


def refusal(node):
    """Why this device cannot run a node of the program; empty if it can."""
    if node.op not in ATTRIBUTES:
        return "this device does not have the operation"
    unknown = sorted({a.key for a in node.attributes} - ATTRIBUTES[node.op])
    return "this device does not know the attribute %s" % ", ".join(unknown) if unknown else ""


class Frame:
    """One run of a function: its values, and the rows of the replicas."""

    def __init__(self, f, rows, state):
        self.f = f
        self.rows = rows
        self.first = np.concatenate([[0], np.cumsum(rows)]).astype(int)
        self.owner = np.repeat(np.arange(len(rows)), rows)  # the replica of each row
        self.values = [state[v.state] if v.state else None for v in f.values]
        self.sequence = {pb.LANE_MOMENTS: 0, pb.LANE_GRADIENTS: 0}

    def shape(self, v):
        t = self.f.values[v]
        lead = {pb.RELATION_ROWS: [sum(self.rows)], pb.RELATION_REPLICA: [len(self.rows)]}
        return tuple(lead.get(t.relation, []) + list(t.type.shape))

    def dtype(self, v):
        return DTYPES[self.f.values[v].type.dtype]

    def set(self, v, value):
        with np.errstate(over="ignore", invalid="ignore"):
            self.values[v] = np.asarray(value, self.dtype(v)).reshape(self.shape(v))

    def take(self, inputs, tensors):
        if len(inputs) != len(tensors):
            raise invalid("%d inputs, want %d" % (len(tensors), len(inputs)))
        for v, t in zip(inputs, tensors):
            if t.shape != self.shape(v) or t.dtype != self.dtype(v):
                raise invalid("input %s is %s%s, want %s%s" % (
                    self.f.values[v].name, t.dtype, t.shape, self.dtype(v), self.shape(v)))
            self.values[v] = t

    def run(self, session, step):
        """Runs all nodes. Consecutive all-reduces are one exchange."""
        nodes, at = self.f.nodes, 0
        while at < len(nodes):
            if session is not None:
                session.check()
            end = at
            while end < len(nodes) and nodes[end].op == pb.OP_ALL_REDUCE:
                end += 1
            if end > at:
                yield from self.all_reduce(session, step, nodes[at:end])
                at = end
                continue
            n = nodes[at]
            with np.errstate(all="ignore"):
                results = TABLE[n.op](self, Node(self, n))
            for v, r in zip(n.out, results if isinstance(results, (list, tuple)) else [results]):
                self.set(v, r)
            at += 1

    def all_reduce(self, session, step, nodes):
        values = []
        for n in nodes:
            moments = attributes(n)["of"] == "moments"
            x = self.values[getattr(n, "in")[0]]
            like = np.zeros(self.shape(n.out[0]), x.dtype)
            leaves = [x[r] if self.rows[r] else None for r in range(len(self.rows))]
            values.append((pb.REDUCTION_MERGE_MOMENTS if moments else pb.REDUCTION_SUM, leaves, like))
        group = session.device.group
        results = {v for n in nodes for v in n.out}
        read = any(v in results for n in self.f.nodes for v in getattr(n, "in"))
        lane = pb.LANE_MOMENTS if read else pb.LANE_GRADIENTS
        tag = pb.Tag(generation=group.generation if group else 0, step=step, lane=lane,
                     sequence=self.sequence[lane], name=self.f.values[getattr(nodes[0], "in")[0]].name)
        self.sequence[lane] += 1
        results = yield from session.all_reduce(tag, values)
        for n, r in zip(nodes, results):
            self.set(n.out[0], r)


def attributes(n):
    out = {}
    for a in n.attributes:
        kind = a.WhichOneof("value")
        value = getattr(a, kind)
        out[a.key] = list(value.values) if kind in ("ints", "floats") else value
    return out


class Node:
    """A node with its operands at hand."""

    def __init__(self, frame, n):
        self.frame = frame
        self.n = n
        self.operands = getattr(n, "in")
        self.attr = attributes(n)

    def exact(self, i):
        """Operand i as it is; None if it is absent."""
        if i >= len(self.operands) or self.operands[i] < 0:
            return None
        return self.frame.values[self.operands[i]]

    def get(self, i):
        """Operand i in float64; None if it is absent."""
        x = self.exact(i)
        return None if x is None else x.astype(np.float64)

    def relation(self, i):
        return self.frame.f.values[self.operands[i]].relation

    def by_row(self, i):
        """Operand i with one element per row."""
        x, rows = self.get(i), len(self.frame.owner)
        if self.relation(i) == pb.RELATION_REPLICA:
            return x[self.frame.owner]
        if self.relation(i) == pb.RELATION_WHOLE:
            return np.broadcast_to(x, (rows,) + x.shape)
        return x

    def out_shape(self, i=0):
        return self.frame.shape(self.n.out[i])

    def replicas(self, *arrays):
        """Visits the rows of each replica of all arrays."""
        f = self.frame
        for r in range(len(f.rows)):
            yield (r,) + tuple(a[f.first[r]:f.first[r + 1]] for a in arrays)


def channels(x, like):
    """Per-channel values (C) or (rows, C) shaped to broadcast over rows (C, ...)."""
    return x.reshape(x.shape + (1,) * (like.ndim - 2))


def sum_channels(x):
    return x.sum(axis=(0,) + tuple(range(2, x.ndim)))


@operation(pb.OP_IMAGE, "scale", "mean", "std", "bgr")
def image(frame, n):
    x = n.get(0).transpose(0, 3, 1, 2)
    if n.attr["bgr"]:
        x = x[:, ::-1]
    c = x.shape[1]
    mean = np.array(n.attr["mean"] or [0] * c).reshape(c, 1, 1)
    std = np.array(n.attr["std"] or [1] * c).reshape(c, 1, 1)
    return (x * n.attr["scale"] - mean) / std


@operation(pb.OP_RESHAPE, "shape")
def reshape(frame, n):
    return n.exact(0)


@operation(pb.OP_CHANNEL_SUM)
def channel_sum(frame, n):
    return [[sum_channels(x) for _, x in n.replicas(n.get(0))]]


def binary(number, function):
    def compute(frame, n):
        rank = max(len(frame.f.values[v].type.shape) for v in n.operands)
        relation = max(n.relation(0), n.relation(1))
        return function(spread(n, 0, rank, relation), spread(n, 1, rank, relation))
    operation(number)(compute)


def spread(n, i, rank, relation):
    """Operand i shaped so that it broadcasts to rank axes after the leading one."""
    x = n.get(i)
    if relation == pb.RELATION_WHOLE:
        return x
    if n.relation(i) == pb.RELATION_WHOLE:
        x = x[np.newaxis]
    elif n.relation(i) != relation:
        x = x[n.frame.owner]
    return x.reshape(x.shape[:1] + (1,) * (rank + 1 - x.ndim) + x.shape[1:])


binary(pb.OP_ADD, np.add)
binary(pb.OP_SUB, np.subtract)
binary(pb.OP_MUL, np.multiply)


@operation(pb.OP_SGD, "momentum", "weight_decay", "nesterov")
def sgd(frame, n):
    """Exact: every operation is rounded to float32."""
    w, g, v, lr = (n.exact(i) for i in range(4))
    momentum, decay = np.float32(n.attr["momentum"]), np.float32(n.attr["weight_decay"])
    d = g + decay * w if decay != 0 else g
    v = momentum * v + d
    u = d + momentum * v if n.attr["nesterov"] else v
    return w - lr * u, v


from . import activations, losses, norms, pools, products  # noqa: E402,F401  (they add to TABLE)
