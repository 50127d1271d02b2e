"""Writes golden.json: what PyTorch computes for the operations of package graph.

    python3 golden.py > golden.json

Operands are multiples of 1/64, exact in float32; PyTorch computes in float64.
One case to a line: operation, attributes, operands, results. Shapes have the
axis of rows or replicas in front; null is an absent operand.
"""
import json

import torch
import torch.nn.functional as F

torch.manual_seed(1)


def values(*shape, low=-128, high=128):
    return torch.randint(low, high, shape).double() / 64


def operand(kind, t, dtype="f32"):
    if t is None:
        return None
    return {"kind": kind, "dtype": dtype, "shape": list(t.shape), "data": t.flatten().tolist()}


def rows(t, dtype="f32"):
    return operand("rows", t, dtype)


def whole(t, dtype="f32"):
    return operand("whole", t, dtype)


def case(op, name, attrs, operands, *results):
    print(json.dumps({"op": op, "name": name, "attrs": attrs, "in": operands,
                      "out": [r.detach().flatten().tolist() for r in results]}, separators=(",", ":")))


def grads(y, *leaves):
    """A random gradient of y and what it becomes at the leaves."""
    dy = values(*y.shape)
    return (dy, *torch.autograd.grad(y, leaves, dy))


def leaf(*shape, **bounds):
    return values(*shape, **bounds).requires_grad_()


def conv(name, x, w, bias, stride=(1, 1), pad=(0, 0, 0, 0), dilation=(1, 1), groups=1):
    x, w = leaf(*x), leaf(*w)
    b = values(w.shape[0]) if bias else None
    top, left, bottom, right = pad
    y = F.conv2d(F.pad(x, (left, right, top, bottom)), w, b, stride, 0, dilation, groups)
    attrs = {"stride": stride, "pad": pad, "dilation": dilation, "groups": groups}
    case("conv", name, attrs, [rows(x), whole(w), whole(b)], y)
    dy, dx, dw = grads(y, x, w)
    case("conv_grad_input", name, {**attrs, "size": x.shape[2:]}, [rows(dy), whole(w)], dx)
    case("conv_grad_weight", name, {**attrs, "kernel": w.shape[2:]}, [rows(x), rows(dy)], dw)


conv("3x3", (2, 3, 5, 4), (4, 3, 3, 3), True, pad=(1, 1, 1, 1))
conv("stride 2", (2, 2, 6, 7), (3, 2, 3, 3), False, stride=(2, 2), pad=(1, 1, 1, 1))
conv("uneven padding, stride 1,3", (1, 2, 5, 6), (2, 2, 2, 4), False, stride=(1, 3), pad=(0, 3, 1, 0))
conv("dilation", (2, 2, 7, 6), (3, 2, 3, 2), False, pad=(2, 1, 2, 1), dilation=(2, 3))
conv("groups", (1, 4, 4, 4), (6, 2, 3, 3), True, pad=(1, 1, 1, 1), groups=2)
conv("depthwise", (2, 3, 5, 5), (3, 1, 3, 3), False, stride=(2, 2), pad=(1, 1, 1, 1), groups=3)


def conv_transpose(name, x, w, bias, stride, pad, extra, groups, dilation):
    x, w = values(*x), values(*w)
    b = values(w.shape[1] * groups) if bias else None
    y = F.conv_transpose2d(x, w, b, stride, pad, extra, groups, dilation)
    attrs = {"stride": stride, "pad": (*pad, *pad), "output_pad": extra, "groups": groups, "dilation": dilation}
    case("conv_transpose", name, attrs, [rows(x), whole(w), whole(b)], y)


conv_transpose("2x2", (2, 3, 3, 2), (3, 2, 2, 2), True, (2, 2), (0, 0), (0, 0), 1, (1, 1))
conv_transpose("output padding", (1, 2, 4, 3), (2, 3, 3, 3), False, (2, 2), (1, 1), (1, 0), 1, (1, 1))
conv_transpose("groups, dilation", (1, 4, 3, 4), (4, 2, 3, 2), True, (1, 3), (1, 0), (0, 1), 2, (2, 1))

x, w, b = leaf(3, 5), leaf(4, 5), leaf(4)
y = F.linear(x, w, b)
case("dense", "bias", {}, [rows(x), whole(w), whole(b)], y)
dy, dx, dw, db = grads(y, x, w, b)
case("dense_grad_input", "", {}, [rows(dy), whole(w)], dx)
case("dense_grad_weight", "", {}, [rows(x), rows(dy)], dw)
case("channel_sum", "bias", {}, [rows(dy)], db)

x, gamma, beta = values(4, 3, 2, 2), values(3), values(3)
mean, var = values(3), values(3, low=8)
case("batch_norm", "eval", {"eps": 1e-3}, [rows(x), whole(gamma), whole(beta), whole(mean), whole(var)],
     F.batch_norm(x, mean, var, gamma, beta, False, 0, 1e-3))


def activation(op, f, result, **attrs):
    x = torch.cat([values(40), torch.tensor([-7, -5, -3.5, 3.5, 5, 7]).double()]).reshape(2, -1).requires_grad_()
    with torch.no_grad():  # PyTorch has other ideas of the derivative at kinks
        for kink in (-3, -1, 0, 1, 3, 6):
            x[x == kink] += 1 / 64
    y = f(x)
    case(op, "", attrs, [rows(x)], y)
    dy, dx = grads(y, x)
    if not result:
        case("activation_grad", op, {"of": op, **attrs}, [rows(x), rows(dy)], dx)
    return x, y, dy, dx


for op, f in [("relu", F.relu), ("relu6", F.relu6), ("sigmoid", torch.sigmoid), ("tanh", torch.tanh)]:
    x, y, dy, dx = activation(op, f, True)
    case("activation_grad", op, {"of": op}, [rows(y), rows(dy)], dx)
activation("leaky_relu", lambda x: F.leaky_relu(x, 0.125), False, alpha=0.125)
activation("elu", lambda x: F.elu(x, 1.5), False, alpha=1.5)
activation("silu", F.silu, False)
activation("hard_swish", F.hardswish, False)
activation("softplus", F.softplus, False)
activation("clip", lambda x: F.hardtanh(x, -1, 1), False, min=-1.0, max=1.0)
x, y, dy, dx = activation("hard_sigmoid", F.hardsigmoid, False, alpha=1 / 6, beta=0.5)

x, slope = leaf(2, 3, 2, 2), leaf(3)
y = F.prelu(x, slope)
case("prelu", "", {}, [rows(x), whole(slope)], y)
dy, dx, ds = grads(y, x, slope)
case("prelu_grad_input", "", {}, [rows(x), whole(slope), rows(dy)], dx)
case("prelu_grad_slope", "", {}, [rows(x), rows(dy)], ds)

for op, f in [("softmax", F.softmax), ("log_softmax", F.log_softmax)]:
    for axis, shape in [(0, (2, 7)), (0, (2, 3, 2, 2)), (2, (1, 2, 2, 4))]:
        x = leaf(*shape)
        y = f(x, axis + 1)
        case(op, f"axis {axis}", {"axis": axis}, [rows(x)], y)
        dy, dx = grads(y, x)
        case(op + "_grad", f"axis {axis}", {"axis": axis}, [rows(y), rows(dy)], dx)

for k, s, p in [((2, 2), (2, 2), (0, 0)), ((3, 2), (2, 1), (1, 1))]:
    x = torch.randperm(2 * 3 * 5 * 6).reshape(2, 3, 5, 6).double().div(64).requires_grad_()
    attrs = {"kernel": k, "stride": s, "pad": (*p, *p)}
    y = F.max_pool2d(x, k, s, p)
    case("max_pool", str(k), attrs, [rows(x)], y)
    dy, dx = grads(y, x)
    case("max_pool_grad", str(k), attrs, [rows(x), rows(dy)], dx)
    for count in (False, True):
        y = F.avg_pool2d(x, k, s, p, count_include_pad=count)
        case("avg_pool", f"{k}, {count}", {**attrs, "count_pad": count}, [rows(x)], y)
        dy, dx = grads(y, x)
        case("avg_pool_grad", f"{k}, {count}", {**attrs, "count_pad": count, "size": (5, 6)}, [rows(dy)], dx)

x = leaf(2, 3, 3, 4)
y = F.adaptive_avg_pool2d(x, 1)
case("global_avg_pool", "", {}, [rows(x)], y)
dy, dx = grads(y, x)
case("global_avg_pool_grad", "", {"size": (3, 4)}, [rows(dy)], dx)

for mode, corners in [("nearest", None), ("bilinear", False), ("bilinear", True)]:
    for size in [(6, 8), (5, 3), (2, 7), (1, 1)]:
        x = leaf(1, 2, 3, 4)
        y = F.interpolate(x, size, mode=mode, align_corners=corners)
        name, attrs = f"{mode} {corners} {size}", {"mode": mode, "align_corners": bool(corners)}
        case("upsample", name, {**attrs, "size": size}, [rows(x)], y)
        dy, dx = grads(y, x)
        case("upsample_grad", name, {**attrs, "from": (3, 4)}, [rows(dy)], dx)

for name, shape, smoothing, ignore in [("classes", (5, 4), 0.0, -1), ("smoothed", (5, 4), 0.1, -1),
                                       ("pixels", (2, 3, 2, 2), 0.0, 255), ("pixels, smoothed", (2, 3, 2, 2), 0.2, 255)]:
    for weighted in (False, True):
        x = leaf(*shape)
        labels = torch.randint(0, shape[1], (shape[0], *shape[2:]))
        labels.view(-1)[1] = ignore
        weight = values(shape[0], low=1) if weighted else None
        loss = F.cross_entropy(x, labels, reduction="none", ignore_index=ignore, label_smoothing=smoothing)
        if weighted:
            loss = loss * weight.reshape(-1, *[1] * (loss.dim() - 1))
        (dx,) = torch.autograd.grad(loss.sum(), x)
        attrs = {"ignore": ignore, "smoothing": smoothing}
        title = name + (", weighted" if weighted else "")
        labels = rows(labels, "i32")
        case("softmax_xent", title, attrs, [rows(x), labels, rows(weight)], loss.sum())
        case("softmax_xent_grad", title, attrs,
             [rows(x), labels, whole(torch.tensor(0.125).double()), rows(weight)], dx / 8)


def optimizer(make, w, g, steps, **options):
    """The tensors before the last of some steps, and w after it."""
    w = w.clone().requires_grad_()
    o = make([w], **options)
    for _ in range(steps):
        before = w.detach().clone(), {k: v.clone() for k, v in o.state[w].items() if torch.is_tensor(v)}
        w.grad = g.clone()
        o.step()
        g = g * 0.75
    return *before, g / 0.75, o.state[w], w


for nesterov in (False, True):
    w, state, g, after, last = optimizer(torch.optim.SGD, values(7), values(7), 3, lr=0.125, momentum=0.75,
                                         weight_decay=0.0625, nesterov=nesterov)
    case("sgd", f"nesterov {nesterov}", {"momentum": 0.75, "weight_decay": 0.0625, "nesterov": nesterov},
         [whole(w), whole(g), whole(state["momentum_buffer"]), whole(torch.tensor(0.125).double())],
         last, after["momentum_buffer"])

lr, t = 2.0**-6, 3
w, state, g, after, last = optimizer(torch.optim.AdamW, values(7), values(7), t, lr=lr, betas=(0.9, 0.999),
                                     eps=1e-6, weight_decay=0.0625)
case("adamw", "", {"beta1": 0.9, "beta2": 0.999, "eps": 1e-6, "weight_decay": 0.0625},
     [whole(w), whole(g), whole(state["exp_avg"]), whole(state["exp_avg_sq"]), whole(torch.tensor(lr).double()),
      whole(torch.tensor(lr / (1 - 0.9**t)).double()), whole(torch.tensor((1 - 0.999**t) ** -0.5).double())],
     last, after["exp_avg"], after["exp_avg_sq"])

g = leaf(5)
g.grad = values(5)
norm = torch.nn.utils.clip_grad_norm_([g], 0.5)
case("clip_factor", "", {"max": 0.5}, [whole(norm**2, "f64")], 0.5 / (norm + 1e-6))

# Weights of classes: PyTorch weighs each class's target with smoothing, each label's loss without.
for name, shape, smoothing in [("class weights", (6, 4), 0.0), ("class weights, smoothed", (6, 4), 0.2),
                               ("class weights of pixels, smoothed", (2, 3, 2, 2), 0.1)]:
    x = leaf(*shape)
    labels = torch.randint(0, shape[1], (shape[0], *shape[2:]))
    labels.view(-1)[1] = -1
    weights = torch.tensor([0.5, 3.0, 0.0, 1.25][: shape[1]]).double()
    loss = F.cross_entropy(x, labels, weight=weights, reduction="sum", ignore_index=-1, label_smoothing=smoothing)
    (dx,) = torch.autograd.grad(loss, x)
    attrs = {"ignore": -1, "smoothing": smoothing, "weighted_targets": smoothing > 0, "weights": weights.tolist()}
    labels = rows(labels, "i32")
    case("softmax_xent", name, attrs, [rows(x), labels, rows(None)], loss)
    case("softmax_xent_grad", name, attrs, [rows(x), labels, whole(torch.tensor(0.125).double()), rows(None)], dx / 8)

for name, shape, axis, index in [("channels, some twice", (2, 5, 3), 0, (4, 0, 0, 2)),
                                 ("last axis, mirrored", (2, 3, 4), 1, (2, 1, 0, 1, 2, 3, 2))]:
    x = leaf(*shape)
    y = x.index_select(axis + 1, torch.tensor(index))
    case("take", name, {"axis": axis, "index": index}, [rows(x)], y)
    dy, dx = grads(y, x)
    case("take_grad", name, {"axis": axis, "index": index, "size": shape[1:]}, [rows(dy)], dx)

activation("erf", torch.erf, False)
activation("gelu", F.gelu, False)
activation("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), False)
activation("mish", F.mish, False)
