"""randomnodes.py: random ONNX graphs, node by node, with the operators and odd attributes that exporters seldom write.

ONNX Runtime runs the graph after each node on three rows and on the first two of them. The node is taken back where the
runtime refuses it, where numbers leave a range, or, but for graphs of a fixed batch, where rows mix.
"""
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

OPSETS = [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]
LARGEST = 4096


class Graph:
    """Graph is a graph that is being built; run is a function of ONNX Runtime: (bytes, x) to arrays by name."""

    def __init__(self, r, run):
        self.r, self.run, self.opset = r, run, r.choice(OPSETS)
        self.rng = np.random.default_rng(r.getrandbits(32))
        self.fixed = r.choice([1, 2, 3]) if r.random() < 0.15 else 0
        shape = r.choice([(3, 8, 8), (1, 7, 9), (4, 6, 6), (2, 10, 12), (6, 5), (4, 12), (10,), (7,), (2, 3, 4, 5), (8, 4, 4), (5,), (6, 1, 8)])
        self.x = self.rng.standard_normal((self.fixed or 3,) + shape).astype(np.float32)
        self.nodes, self.initializers, self.count, self.names = [], [], 0, r.random() < 0.3
        self.known = {"x": self.x}
        self.order = ["x"]

    def fresh(self, prefix="v"):
        self.count += 1
        return f"/model/{prefix}.{self.count}" if self.names else f"{prefix}{self.count}"

    def constant(self, array):
        """constant adds a constant in one of the forms of ONNX."""
        r, array, name = self.r, np.asarray(array), self.fresh("c")
        way = r.random()
        if way < 0.25:
            self.pending.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        elif way < 0.35 and self.opset >= 12 and array.dtype in (np.float32, np.int64) and array.ndim < 2:
            kind = "float" if array.dtype == np.float32 else "int"
            value = {f"value_{kind}s": array.tolist()} if array.ndim and array.size else {f"value_{kind}": array.item()} if array.size else None
            if value is None:
                self.fixtures.append(numpy_helper.from_array(array, name))
            else:
                self.pending.append(helper.make_node("Constant", [], [name], **value))
        elif way < 0.45 and array.dtype == np.float32:
            self.fixtures.append(numpy_helper.from_array(array.astype(np.float16), name + "h"))
            self.pending.append(helper.make_node("Cast", [name + "h"], [name], to=T.FLOAT))
        elif way < 0.55 and array.dtype == np.int64:
            self.fixtures.append(numpy_helper.from_array(array.astype(np.int32), name + "i"))
            self.pending.append(helper.make_node("Cast", [name + "i"], [name], to=T.INT64))
        elif way < 0.7 and array.dtype in (np.float32, np.int64):  # numbers in fields of their own
            self.fixtures.append(helper.make_tensor(name, T.FLOAT if array.dtype == np.float32 else T.INT64, array.shape, array.ravel().tolist()))
        else:
            self.fixtures.append(numpy_helper.from_array(array, name))
        return name

    def floats(self, *shape, spread=0.5):
        return self.constant((spread * self.rng.standard_normal(shape)).astype(np.float32))

    def integers(self, values):
        return self.constant(np.array(values, np.int64))

    def node(self, op, inputs, outputs=1, **attributes):
        """node adds a node and returns the names of its results."""
        names = [self.fresh() for _ in range(outputs)]
        while inputs and inputs[-1] == "":
            inputs = inputs[:-1]
        self.pending.append(helper.make_node(op, inputs, names, **{k: v for k, v in attributes.items() if v is not None}))
        return names

    def pick(self, test=lambda a: a.dtype == np.float32):
        names = [n for n in self.order if test(self.known[n])]
        if not names:
            return None
        return names[-1] if self.r.random() < 0.65 else self.r.choice(names)

    def axes(self, how_many, rank, first=1):
        """axes draws different axes behind the batch, at times from the end."""
        if rank <= first:
            return []
        picks = self.r.sample(range(first, rank), min(how_many, rank - first))
        return [a if self.r.random() < 0.6 else a - rank for a in picks]

    def model(self, outputs, fixed=False):
        rows = self.fixed or ("n" if not fixed else 3)
        graph = helper.make_graph(
            self.nodes, "random", [helper.make_tensor_value_info("x", T.FLOAT, [rows, *self.x.shape[1:]])],
            [helper.make_tensor_value_info(o, helper.np_dtype_to_tensor_dtype(self.known[o].dtype) if hasattr(helper, "np_dtype_to_tensor_dtype")
             else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[self.known[o].dtype], None) if o in self.known else onnx.ValueInfoProto(name=o) for o in outputs],
            self.initializers)
        m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        m.ir_version = 8 if self.opset < 18 else 9
        return m

    def take(self, rule):
        """take adds the nodes of a rule and reports whether they stay."""
        self.pending, self.fixtures = [], []
        before = len(self.nodes), len(self.initializers)
        try:
            names = rule(self)
        except (ValueError, IndexError, ZeroDivisionError):
            return False
        if not names:
            return False
        names = names if isinstance(names, list) else [names]
        self.nodes += self.pending
        self.initializers += self.fixtures
        made = self.tried(names)
        if made is None:
            del self.nodes[before[0]:], self.initializers[before[1]:]
            return False
        self.known.update(made)
        self.order += names
        return True

    def tried(self, names):
        m = self.model(names).SerializeToString()
        try:
            made = self.run(m, self.x)
            for a in made.values():
                if a.size == 0 or a.size > LARGEST * len(self.x) or a.ndim > 6 or (a.dtype == np.float32 and not moderate(a)):
                    return None
            if not self.fixed:
                few = self.run(m, self.x[:2])
                for n, a in made.items():
                    b = few[n]
                    if not a.ndim or a.shape[0] != 3 or b.shape[:1] != (2,) or a.shape[1:] != b.shape[1:] or not np.allclose(a[:2], b, rtol=1e-4, atol=1e-5):
                        return None
        except Exception:
            return None
        return made


def moderate(a):
    return np.isfinite(a).all() and 1e-4 < np.abs(a).max() < 1e4


def window(g, axes, size):
    """window draws the attributes of a window."""
    r, a = g.r, {}
    if r.random() < 0.5:
        a["strides"] = [r.choice([1, 2, 3]) for _ in range(axes)]
    if r.random() < 0.3:
        a["dilations"] = [r.choice([1, 2]) for _ in range(axes)]
    w = r.random()
    if w < 0.35:
        a["pads"] = [r.randint(0, max(size - 1, 0)) for _ in range(2 * axes)]
    elif w < 0.6:
        a["auto_pad"] = r.choice(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
    return a


def conv(g):
    r, x = g.r, g.pick(lambda a: a.dtype == np.float32 and 3 <= a.ndim <= 5)
    if not x:
        return None
    c, axes = g.known[x].shape[1], g.known[x].ndim - 2
    group = r.choice([1, 1, c, r.choice([d for d in range(1, c + 1) if c % d == 0])])
    k = [r.choice([1, 2, 3, 4]) for _ in range(axes)]
    a = window(g, axes, min(k))
    if r.random() < 0.5:
        a["kernel_shape"] = k
    if group > 1 or r.random() < 0.2:
        a["group"] = group
    if r.random() < 0.3:
        each = r.choice([1, 2, 3])
        if r.random() < 0.3:
            a["output_padding"] = [r.randint(0, s - 1) for s in a.get("strides", [1] * axes)]
        if r.random() < 0.2:
            a.pop("output_padding", None), a.pop("pads", None)
            a["output_shape"] = [r.randint(4, 12) for _ in range(axes)]
        bias = g.floats(each * group) if r.random() < 0.5 else ""
        return g.node("ConvTranspose", [x, g.floats(c, each, *k), bias], **a)
    to = group * r.choice([1, 2, 3])
    return g.node("Conv", [x, g.floats(to, c // group, *k), g.floats(to) if r.random() < 0.5 else ""], **a)


def pool(g):
    r, x = g.r, g.pick(lambda a: a.dtype == np.float32 and 3 <= a.ndim <= 5)
    if not x:
        return None
    axes = g.known[x].ndim - 2
    kind = r.choice(["MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
    if kind.startswith("Global"):
        return g.node(kind, [x], p=r.choice([1, 2, 3]) if kind == "GlobalLpPool" else None)
    k = [r.choice([1, 2, 3]) for _ in range(axes)]
    a = window(g, axes, min(k))
    a["kernel_shape"] = k
    if g.opset >= 10 and (kind != "LpPool" or g.opset >= 18) and r.random() < 0.5:
        a["ceil_mode"] = 1
    if kind != "MaxPool" and not (kind == "AveragePool" and g.opset >= 19 or kind == "LpPool" and g.opset >= 18):
        a.pop("dilations", None)
    if kind == "AveragePool" and r.random() < 0.5:
        a["count_include_pad"] = 1
    if kind == "LpPool":
        a["p"] = r.choice([1, 2, 3])
    return g.node(kind, [x], **a)


def matrices(g):
    r, w = g.r, g.r.random()
    if w < 0.35:
        x = g.pick(lambda a: a.dtype == np.float32 and a.ndim == 2)
        if not x:
            return None
        n, to, turned = g.known[x].shape[1], r.choice([1, 2, 4, 7]), r.random() < 0.5
        c = r.choice(["", g.floats(to), g.floats(1), g.floats(), g.floats(1, to), g.floats(1, 1)])
        return g.node("Gemm", [x, g.floats(to, n) if turned else g.floats(n, to), c if c or g.opset >= 11 else g.floats(to)],
                      transB=1 if turned else None, alpha=r.choice([None, 0.5, 2.0]), beta=r.choice([None, 0.25, 0.0, -1.0]))
    x = g.pick(lambda a: a.dtype == np.float32 and a.ndim >= 2)
    if not x:
        return None
    s = g.known[x].shape
    if w < 0.7:
        w = r.randrange(4)
        if w == 0:
            return g.node("MatMul", [x, g.floats(s[-1], r.choice([1, 2, 5]))])
        if w == 1:
            return g.node("MatMul", [x, g.floats(s[-1])])
        if w == 2 and len(s) > 2:
            return g.node("MatMul", [g.floats(*r.choice([(3, s[-2]), (1, 3, s[-2]), (s[-2],)])), x])
        return g.node("MatMul", [x, g.floats(*s[1:-2], s[-1], 3)]) if len(s) > 2 else None
    y = g.pick(lambda a: a.dtype == np.float32 and a.ndim == len(s) and a.shape[-2] == s[-1] and a.shape[:-2] == s[:-2] and a.ndim > 2)
    if y:
        return g.node("MatMul", [x, y])
    if g.opset < 12:
        return None
    forms = {2: ["ni,ij->nj", "ni,ji->nj", "ni,i->n", "ni,ij->nij"], 3: ["nij,jk->nik", "nij,ik->nkj", "nij,kji->nk", "nij,j->ni", "nij,ij->n"],
             4: ["nchw,cd->ndhw", "nchw,hk->nckw", "nchw,dc->nhwd", "...hw,wk->...hk"]}
    if len(s) not in forms:
        return None
    form = r.choice(forms[len(s)])
    left, right = form.split("->")[0].split(",")
    sizes = dict(zip(left.replace("...", "nc"), s))
    return g.node("Einsum", [x, g.floats(*(sizes.get(letter, 3) for letter in right))], equation=form.replace(",", ", ") if r.random() < 0.3 else form)


UNARY = ["Abs", "Neg", "Exp", "Log", "Sqrt", "Reciprocal", "Relu", "Sigmoid", "Tanh", "Softplus", "Softsign", "Erf", "Sin", "Cos", "Tan", "Atan", "Asin",
         "Acos", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Sign", "Floor", "Ceil", "Identity", "Round", "HardSwish", "Mish", "Gelu", "Elu", "Selu",
         "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Celu", "Shrink", "Clip", "Dropout", "Hardmax"]


def unary(g):
    r, x, op = g.r, g.pick(), g.r.choice(UNARY)
    number = lambda *of: r.choice([None, *of])
    a = {"Elu": dict(alpha=number(0.5, 2.0)), "Selu": dict(alpha=number(1.5), gamma=number(0.7)), "LeakyRelu": dict(alpha=number(0.3, 1.5, 0.0)),
         "HardSigmoid": dict(alpha=number(0.3, 1.0), beta=number(0.1, 0.7)), "ThresholdedRelu": dict(alpha=number(0.2, -0.5)), "Celu": dict(alpha=number(0.5, 3.0)),
         "Shrink": dict(bias=number(0.2), lambd=number(0.1)), "Gelu": dict(approximate=number("tanh", "none")), "Hardmax": dict(axis=number(1, -1))}.get(op, {})
    if op == "Clip":
        if g.opset < 11:
            return g.node("Clip", [x], min=number(-0.5), max=number(0.5, 1.0))
        return g.node("Clip", [x, g.constant(np.float32(-0.4)) if r.random() < 0.6 else "", g.constant(np.float32(0.7)) if r.random() < 0.6 else ""])
    if op == "Dropout":
        if g.opset >= 12:
            return g.node(op, [x, g.constant(np.float32(0.4)) if r.random() < 0.5 else "", g.constant(np.array(False)) if r.random() < 0.3 else ""])
        return g.node(op, [x], ratio=0.4)
    return g.node(op, [x], **a)


def binary(g):
    r, x = g.r, g.pick()
    s = g.known[x].shape
    op = r.choice(["Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mean", "Sum", "PRelu", "Mod", "Where"])
    y = g.pick(lambda a: a.dtype == np.float32 and a.ndim == len(s) and all(p == q or 1 in (p, q) for p, q in zip(a.shape, s)))
    shape = [n if r.random() < 0.6 else 1 for n in s[1:]]
    while r.random() < 0.4 and shape:
        shape = shape[1:]
    if r.random() < 0.15 and len(shape) == len(s) - 1:
        shape = [1] + shape
    if r.random() < 0.1 and op not in ("PRelu",):
        shape = [1] * (len(s) + 1 - len(shape)) + shape if g.fixed else shape
    if op == "Pow":
        return g.node("Pow", g.node("Abs", [x]) + [g.constant(np.array(r.choice([0.5, 2, 3, 1.5, -0.5]), r.choice([np.float32, np.int64]) if g.opset >= 12 else np.float32))])
    if op == "PRelu":
        return g.node(op, [x, g.floats(*shape)])
    if op == "Mod":
        return g.node("Mod", [x, g.constant(np.float32(r.choice([0.7, 1.0, 2.5])))], fmod=1) if g.opset >= 10 else None
    if op == "Where":
        mask = g.constant(g.rng.random(shape) < 0.5)
        return g.node(op, [mask, x, y if y and r.random() < 0.5 else g.constant(np.float32(0.3))])
    if op in ("Max", "Min", "Mean", "Sum"):
        more = [g.floats(*shape) for _ in range(r.randint(0, 2))]
        return g.node(op, [x] + more + ([y] if y and r.random() < 0.4 else []))
    other = y if y and r.random() < 0.5 else g.floats(*shape, spread=1.5)
    return g.node(op, [other, x] if r.random() < 0.4 else [x, other])


def norm(g):
    r, x = g.r, g.pick(lambda a: a.dtype == np.float32 and a.ndim >= 2)
    if not x:
        return None
    s = g.known[x].shape
    c = s[1]
    op = r.choice(["BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization", "LRN", "LpNormalization", "MeanVarianceNormalization", "RMS"])
    positive = lambda n: g.constant((0.5 + g.rng.random(n)).astype(np.float32))
    if op == "BatchNormalization":
        return g.node(op, [x, g.floats(c), g.floats(c), g.floats(c), positive(c)], epsilon=r.choice([None, 1e-3, 0.1]), momentum=r.choice([None, 0.99]))
    if op == "InstanceNormalization":
        return g.node(op, [x, g.floats(c), g.floats(c)], epsilon=r.choice([None, 1e-2])) if len(s) > 2 else None
    if op == "LayerNormalization" and g.opset >= 17:
        axis = r.randint(1, len(s) - 1)
        return g.node(op, [x, g.floats(*s[axis:]), g.floats(*s[axis:]) if r.random() < 0.6 else ""], axis=axis if r.random() < 0.5 else axis - len(s), epsilon=r.choice([None, 1e-2]))
    if op == "GroupNormalization" and g.opset >= 18 and len(s) > 2:
        groups = r.choice([d for d in range(1, c + 1) if c % d == 0])
        n = groups if g.opset < 21 else c
        return g.node(op, [x, g.floats(n), g.floats(n)], num_groups=groups)
    if op == "LRN":
        return g.node(op, [x], size=r.choice([1, 2, 3, 5]), alpha=r.choice([None, 0.3]), beta=r.choice([None, 0.5]), bias=r.choice([None, 2.0])) if len(s) > 2 else None
    if op == "LpNormalization":
        return g.node(op, [x], axis=r.choice([None, *range(1, len(s))]), p=r.choice([None, 1, 2]))
    if op == "MeanVarianceNormalization":
        return g.node(op, [x], axes=g.axes(2, len(s))) if len(s) == 4 else None
    a = [len(s) - 1]
    mean = reduction(g, "ReduceMean", g.node("Mul", [x, x])[0], a, 1)
    root = g.node("Sqrt", g.node("Add", mean + [g.constant(np.float32(1e-5))]))
    return g.node("Mul", g.node("Div", [x] + root) + [g.floats(s[-1])])


def reduction(g, op, x, axes, keep):
    since = 13 if op == "ReduceSum" else 18
    a = {} if keep is None else {"keepdims": keep}
    if g.opset >= since:
        return g.node(op, [x, g.integers(axes)], **a)
    return g.node(op, [x], axes=axes, **a)


def reduce(g):
    r, x = g.r, g.pick(lambda a: a.dtype == np.float32 and a.ndim >= 2)
    if not x:
        return None
    s = g.known[x].shape
    op = r.choice(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum", "ReduceProd"])
    if op == "ReduceLogSum":
        x = g.node("Add", g.node("Abs", [x]) + [g.constant(np.float32(0.5))])[0]
    if r.random() < 0.1 and g.opset >= 18:
        return g.node(op, [x], noop_with_empty_axes=1)
    return reduction(g, op, x, g.axes(r.choice([1, 1, 2, 3]), len(s)), r.choice([None, 0, 0, 1]))


def along(g):
    r, x = g.r, g.pick(lambda a: a.dtype == np.float32 and a.ndim >= 2)
    if not x:
        return None
    s = g.known[x].shape
    axis = r.choice([None, *range(1, len(s)), -1])
    op = r.choice(["Softmax", "Softmax", "LogSoftmax", "CumSum", "TopK", "ArgMax", "Trilu", "ReverseSequence"])
    if op in ("Softmax", "LogSoftmax"):
        return g.node(op, [x], axis=axis)
    axis = axis if axis is not None else len(s) - 1
    if op == "CumSum" and g.opset >= 11:
        return g.node(op, [x, g.constant(np.array(axis, r.choice([np.int64, np.int32])))], exclusive=r.choice([None, 0, 1]), reverse=r.choice([None, 1]))
    if op == "TopK" and g.opset >= 10:
        k = r.randint(1, s[axis])
        a = dict(largest=r.choice([None, 0]), sorted=None) if g.opset >= 11 else {}
        return g.node(op, [x, g.integers([k])], 2, axis=axis, **a)[:r.choice([1, 2])]
    if op == "ArgMax":
        return g.node(r.choice(["ArgMax", "ArgMin"]), [x], axis=axis, keepdims=r.choice([None, 0]), select_last_index=r.choice([None, 1]) if g.opset >= 12 else None)
    if op == "Trilu" and g.opset >= 14 and len(s) > 2:
        return g.node(op, [x, g.constant(np.int64(r.choice([-1, 0, 1]))) if r.random() < 0.6 else ""], upper=r.choice([None, 0, 1]))
    return None


def dims(g, x, target):
    """dims gives a shape as a constant, or computes it from the shape of x."""
    r, way = g.r, g.r.random()
    if way < 0.5 or g.opset < 11:
        return g.integers(target)
    rows = g.node("Gather", g.node("Shape", [x]) + [g.constant(np.int64(0))], axis=0)
    rows = g.node("Unsqueeze", rows + [g.integers([0])]) if g.opset >= 13 else g.node("Unsqueeze", rows, axes=[0])
    return g.node("Concat", rows + [g.integers(target[1:])], axis=0)[0]


def shaped(g):
    r, x = g.r, g.pick()
    s = g.known[x].shape
    rest, n = list(s[1:]), len(s)
    op = r.choice(["Reshape", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Expand", "Tile", "DepthToSpace", "SpaceToDepth", "Concat"])
    if op == "Reshape":
        total = int(np.prod(rest))
        f = r.choice([d for d in range(1, total + 1) if total % d == 0])
        first = g.fixed or r.choice([0, 0, -1])
        forms = [[first, total], [first, f, total // f], [first, *rest[::-1]], [first, 1, *rest], [0, f, -1], [0, -1], [0, *([0] * (n - 1)), 1]]
        target = r.choice(forms)
        return g.node(op, [x, dims(g, x, target)], allowzero=0 if g.opset >= 14 and r.random() < 0.2 else None)
    if op == "Flatten":
        return g.node(op, [x], axis=r.choice([None, 1, 1 - n if g.opset >= 11 and n > 1 else 1]))
    if op == "Transpose":
        order = list(range(1, n))
        r.shuffle(order)
        return g.node(op, [x], perm=[0] + order)
    if op in ("Squeeze", "Unsqueeze"):
        axes = [i for i in range(1, n) if s[i] == 1] if op == "Squeeze" else sorted(r.sample(range(1, n + 2), r.choice([1, 2])))
        if not axes:
            return None
        axes = axes[:r.choice([1, 2])]
        if r.random() < 0.4 and g.opset >= 11:
            axes = [a - (n if op == "Squeeze" else n + len(axes)) for a in axes]
        return g.node(op, [x, g.integers(axes)]) if g.opset >= 13 else g.node(op, [x], axes=axes)
    if op == "Expand":
        to = [1] + [r.choice([2, 3]) if q == 1 else r.choice([1, q]) for q in rest]
        return g.node(op, [x, g.integers(to)])
    if op == "Tile":
        return g.node(op, [x, g.integers([1] + [r.choice([1, 1, 2, 3]) for _ in rest])])
    if op == "DepthToSpace":
        return g.node(op, [x], blocksize=2, mode=r.choice([None, "CRD", "DCR"]) if g.opset >= 11 else None) if n == 4 and s[1] % 4 == 0 else None
    if op == "SpaceToDepth":
        return g.node(op, [x], blocksize=2) if n == 4 and s[2] % 2 == s[3] % 2 == 0 else None
    axis = r.choice(g.axes(1, n) or [0])
    a = axis % n
    y = g.pick(lambda v: v.dtype == np.float32 and v.ndim == n and v.shape[:a] + v.shape[a + 1:] == s[:a] + s[a + 1:])
    more = [y, x, y][:r.randint(1, 3)]
    return g.node(op, [x] + more, axis=axis if g.opset >= 11 else a)


def picked(g):
    r, x = g.r, g.pick(lambda a: a.dtype == np.float32 and a.ndim >= 2)
    if not x:
        return None
    s = g.known[x].shape
    n = len(s)
    axis = r.choice(g.axes(1, n))
    size = s[axis]
    op = r.choice(["Slice", "Slice", "Gather", "Gather", "GatherElements", "GatherND", "Split", "Split", "ScatterND", "ScatterElements", "Compress", "OneHot"])
    if op == "Slice":
        axes = g.axes(r.choice([1, 2]), n)
        starts, ends, steps = [], [], []
        for a in axes:
            back = g.opset >= 10 and r.random() < 0.3
            starts.append(r.choice([-1, s[a] - 1, 2**31]) if back else r.choice([0, 0, 1, -s[a], -max(s[a] // 2, 1)]))
            ends.append(r.choice([-2**31, -s[a] - 1]) if back else r.choice([s[a], 2**31 - 1, -1, max(s[a] // 2, 1), 2**63 - 1]))
            steps.append(-r.choice([1, 2]) if back else r.choice([1, 1, 2, 3]))
        if g.opset < 10:
            return g.node(op, [x], axes=[a % n for a in axes], starts=starts, ends=ends)
        return g.node(op, [x, g.integers(starts), g.integers(ends), g.integers(axes), g.integers(steps) if steps != [1] * len(steps) else ""])
    if op == "Gather":
        at = g.rng.integers(-size if g.opset >= 11 else 0, size, r.choice([(), (1,), (3,), (2, 2)]))
        return g.node(op, [x, g.constant(at.astype(r.choice([np.int64, np.int32])))], axis=axis)
    if op == "GatherElements" and g.opset >= 11 and g.fixed:
        shape = list(s)
        shape[axis] = r.randint(1, 4)
        return g.node(op, [x, g.constant(g.rng.integers(-size, size, shape))], axis=axis)
    if op == "GatherND" and g.opset >= 12:
        if not g.fixed:
            return None
        return g.node(op, [x, g.constant(g.rng.integers(0, s[1], (s[0], 3, 1)))], batch_dims=1)
    if op == "Split":
        cuts = sorted(r.sample(range(1, size), r.randint(1, min(2, size - 1))))
        parts = [b - a for a, b in zip([0] + cuts, cuts + [size])]
        axis = axis if g.opset >= 11 else axis % n
        if g.opset >= 18 and r.random() < 0.4:
            return r.choice([lambda o: o, lambda o: o[-1:]])(g.node(op, [x], 2, axis=axis, num_outputs=2))
        if g.opset >= 13:
            return g.node(op, [x, g.integers(parts)], len(parts), axis=axis)[:r.randint(1, len(parts))]
        return g.node(op, [x], len(parts), axis=axis, split=parts)[:r.randint(1, len(parts))]
    if op == "Compress":
        return g.node(op, [x, g.constant(g.rng.random(size) < 0.6)], axis=axis if g.opset >= 11 else axis % n)
    if op == "OneHot":
        i = g.pick(lambda a: a.dtype == np.int64 and a.ndim >= 1)
        return g.node(op, [i, g.integers([r.randint(2, 9)]) if r.random() < 0.5 else g.constant(np.int64(5)), g.constant(np.array([0, 1], np.float32))], axis=r.choice([None, -1, 1])) if i else None
    if op == "ScatterND" and g.opset >= 11 and g.fixed:
        return g.node(op, [x, g.constant(np.array([[i] for i in range(g.fixed)][:1])), g.floats(1, *s[1:])], reduction=r.choice([None, "add", "mul"]) if g.opset >= 16 else None)
    if op == "ScatterElements" and g.opset >= 11 and g.fixed:
        shape = [max(q - 1, 1) for q in s]
        return g.node(op, [x, g.constant(np.argsort(g.rng.random(shape), axis)), g.floats(*shape)], axis=axis)
    return None


def resized(g):
    r, x = g.r, g.pick(lambda a: a.dtype == np.float32 and 3 <= a.ndim <= 4)
    if not x:
        return None
    s, axes = g.known[x].shape, g.known[x].ndim - 2
    op = r.choice(["Resize", "Resize", "Pad", "Pad", "GridSample", "Upsample"])
    if op == "Pad":
        n = len(s)
        before, after = [[0] + [r.choice([0, 0, 1, 2, -1 if g.opset >= 11 else 0]) for _ in range(n - 1)] for _ in range(2)]
        mode = r.choice(["constant", "reflect", "edge"] + (["wrap"] if g.opset >= 19 else []))
        if g.opset < 11:
            return g.node(op, [x], pads=before + after, mode=mode, value=r.choice([None, 0.5]))
        value = g.constant(np.float32(r.choice([0.3, -1]))) if mode == "constant" and r.random() < 0.5 else ""
        if g.opset >= 18 and r.random() < 0.5:
            on = g.axes(2, n)
            return g.node(op, [x, g.integers([before[a % n] for a in on] + [after[a % n] for a in on]), value, g.integers(on)], mode=mode)
        return g.node(op, [x, g.integers(before + after), value], mode=mode)
    if op == "GridSample" and g.opset >= 16 and axes == 2 and g.fixed:
        modes = ["bilinear", "nearest", "bicubic"] if g.opset < 20 else ["linear", "nearest", "cubic"]
        return g.node(op, [x, g.floats(s[0], 3, 4, 2)], align_corners=r.choice([None, 0, 1]), mode=r.choice(modes), padding_mode=r.choice([None, "border", "zeros", "reflection"]))
    # ONNX Runtime copies where scales keep the size, against the formula: such scales are not drawn.
    free = lambda n: [q for q in (1, 2, 0.5, 1.5, 3, 0.7, 1.3) if q == 1 or int(n * q) != n]
    scales = np.array([1, 1] + [r.choice(free(n)) for n in s[2:]], np.float32)
    if op == "Upsample" or g.opset == 9:
        return g.node("Upsample", [x, g.constant(scales)], mode=r.choice([None, "nearest", "linear"])) if g.opset == 9 else None
    if g.opset == 10:
        return g.node("Resize", [x, g.constant(scales)], mode=r.choice([None, "nearest", "linear"]))
    a = dict(mode=r.choice(["nearest", "linear", "cubic"]), coordinate_transformation_mode=r.choice([None, "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]))
    if a["mode"] == "nearest":
        a["nearest_mode"] = r.choice([None, "floor", "ceil", "round_prefer_ceil", "round_prefer_floor"])
    if a["mode"] == "cubic":
        a.update(cubic_coeff_a=r.choice([None, -0.5]), exclude_outside=r.choice([None, 1]))
    empty = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else ""
    sizes = r.random() < 0.4
    if g.opset >= 18:
        a["antialias"] = r.choice([None, None, 1]) if a["mode"] != "nearest" else None
        if r.random() < 0.4:
            a["axes"] = list(range(2, axes + 2))
            a["keep_aspect_ratio_policy"] = r.choice([None, "stretch", "not_larger", "not_smaller"]) if sizes else None
    skip = 2 if "axes" in a else 0
    target = [*s[:2], *(r.randint(2, 10) for _ in range(axes))]
    if sizes and skip == 0 and not g.fixed:
        return g.node("Resize", [x, empty, "", dims(g, x, target)] if g.opset >= 13 else [x, empty, g.constant(np.zeros(0, np.float32)), dims(g, x, target)], **a)
    if sizes:
        return g.node("Resize", [x, empty, empty, g.integers(target[skip:])], **a)
    return g.node("Resize", [x, empty, g.constant(scales[skip:])], **a)


def logical(g):
    r, x = g.r, g.pick()
    s = g.known[x].shape
    level = g.constant(np.float32(r.choice([0.1, -0.3, 0.7])))
    op = r.choice(["Greater", "Less"] + (["GreaterOrEqual", "LessOrEqual"] if g.opset >= 12 else []))
    mask = g.node(op, [x, level])
    if r.random() < 0.4:
        other = g.node("Less", [x, g.constant(np.float32(0.9))])
        mask = g.node(r.choice(["And", "Or", "Xor"]), mask + other)
    if r.random() < 0.3:
        mask = g.node("Not", mask)
    w = r.random()
    if w < 0.4:
        return g.node("Where", mask + [x, r.choice([g.constant(np.float32(0.2)), g.node("Neg", [x])[0]])])
    if w < 0.8:
        return g.node("Mul", g.node("Cast", mask, to=T.FLOAT) + [x])
    if w < 0.9 and g.opset >= 13:
        return g.node("Cast", g.node("Cast", g.node("Mul", [x, g.constant(np.float32(3.3))]), to=r.choice([T.INT32, T.INT64])), to=T.FLOAT)
    return g.node("Cast", g.node("Cast", [x], to=r.choice([T.DOUBLE, T.FLOAT])), to=T.FLOAT)


def filled(g):
    """filled makes a constant from the shape of a value and adds it."""
    r, x = g.r, g.pick(lambda a: a.dtype == np.float32 and a.ndim >= 2)
    if not x:
        return None
    s = g.known[x].shape
    shape = g.node("Shape", [x])
    w = r.randrange(4)
    if w == 0:
        return g.node("Add", [x] + g.node("ConstantOfShape", shape, value=numpy_helper.from_array(np.array([0.7], np.float32))))
    if w == 1 and g.opset >= 11:
        last = g.node("Gather", shape + [g.constant(np.int64(len(s) - 1))], axis=0)
        line = g.node("Range", [g.constant(np.int64(0))] + last + [g.constant(np.int64(1))])
        return g.node("Add", [x] + g.node("Mul", g.node("Cast", line, to=T.FLOAT) + [g.constant(np.float32(0.1))]))
    if w == 2 and g.opset >= 15:
        some = g.node("Shape", [x], start=1) if r.random() < 0.5 else g.node("Shape", [x], start=-1, end=len(s))
        size = g.node("ReduceProd", some, keepdims=0)
        return g.node("Div", [x] + g.node("Cast", size, to=T.FLOAT))
    return g.node("Div", [x] + g.node("Sqrt", g.node("Cast", g.node("Size", [g.floats(r.choice([2, 3]), 4)]), to=T.FLOAT)))


def quantised(g):
    r, x = g.r, g.pick()
    if g.opset < 10:
        return None
    kind = r.choice([np.uint8, np.int8])
    scale, zero = g.constant(np.float32(r.choice([0.05, 0.1, 0.02]))), g.constant(kind(r.choice([0, 3, 100])))
    y = g.node("QuantizeLinear", [x, scale, zero])
    return g.node("DequantizeLinear", y + [scale, zero])


def branch(g):
    """branch puts nodes in a branch of an If whose condition is constant, or in a Loop that counts."""
    r, x = g.r, g.pick()
    if g.opset < 11:
        return None
    out = [helper.make_tensor_value_info(n, T.FLOAT, None) for n in ("yes", "no")]
    one = helper.make_graph([helper.make_node("Tanh", [x], ["yes"])], "then", [], out[:1])
    two = helper.make_graph([helper.make_node("Neg", [x], ["no"])], "else", [], out[1:])
    return g.node("If", [g.constant(np.array(r.random() < 0.5))], then_branch=one, else_branch=two)


RULES = [(conv, 5), (pool, 3), (matrices, 4), (unary, 5), (binary, 6), (norm, 3), (reduce, 4), (along, 3), (shaped, 6), (picked, 4), (resized, 4),
         (logical, 2), (filled, 1), (quantised, 1), (branch, 0.3)]


def draw(r, run):
    """draw returns a model in bytes, its rows, and the names of its outputs."""
    g = Graph(r, run)
    rules, weights = zip(*RULES)
    wanted, tries = r.randint(2, 12), 0
    while len(g.order) <= wanted and tries < 120:
        tries += 1
        g.take(r.choices(rules, weights)[0])
    if len(g.order) == 1:
        return None
    outputs = [g.order[-1]]
    if r.random() < 0.3:
        outputs += [n for n in r.sample(g.order[1:], min(2, len(g.order) - 1)) if n not in outputs]
    m = g.model(outputs)
    if r.random() < 0.7:
        prune(m)
    return m.SerializeToString(), g.x, outputs


def prune(m):
    """prune drops nodes and initializers that no output needs, as exporters do."""
    need, kept = {o.name for o in m.graph.output}, []
    for n in reversed(m.graph.node):
        if need & set(n.output):
            kept.append(n)
            need |= set(n.input) | {i for a in n.attribute for inner in a.g.node for i in inner.input}
    del m.graph.node[:]
    m.graph.node.extend(reversed(kept))
    left = [t for t in m.graph.initializer if t.name in need]
    del m.graph.initializer[:]
    m.graph.initializer.extend(left)
