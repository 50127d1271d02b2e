"""Writes bfloat16.json: what operations yield at precision bf16.

    python3 bfloat16.py > bfloat16.json

PyTorch's bfloat16 rounds: the operands of products, and rows of two axes or
more, inputs among them. It multiplies and sums in float64. Lines are those of
golden.json.
"""
import json

import torch
import torch.nn.functional as F

torch.manual_seed(3)


def values(*shape):
    """Normal values of very different sizes, as float32 has them."""
    return (torch.randn(shape) * 2.0 ** torch.randint(-6, 7, shape)).double()


def half(t):
    return t.float().bfloat16().double()


def stored(t):
    """Return t as rows are stored. Its first axis is the rows."""
    return half(t) if t.dim() > 2 else t.float().double()


def operand(kind, t):
    return t if t is None else {"kind": kind, "dtype": "f32", "shape": list(t.shape), "data": t.flatten().tolist()}


def case(op, name, attrs, operands, *results):
    print(json.dumps({"op": op, "name": name, "attrs": attrs, "in": [operand(*o) for o in operands],
                      "out": [r.detach().flatten().tolist() for r in results]}, separators=(",", ":")))


def conv(name, x, w, dy, **attrs):
    x, w, bias, dy = values(*x), values(*w), values(w[0]), values(*dy)
    pad = attrs.get("padding", 0)
    size, kernel = x.shape[2:], w.shape[2:]
    attrs["pad"] = [attrs.pop("padding", 0)] * 4
    attrs["stride"] = [attrs["stride"]] * 2
    rounded, weight = half(x).requires_grad_(), half(w).requires_grad_()
    y = F.conv2d(rounded, weight, None, attrs["stride"][0], pad)
    dx, dw = torch.autograd.grad(y, (rounded, weight), half(dy))
    case("conv", name, attrs, [("rows", x), ("whole", w), ("whole", bias)], stored(y + bias.reshape(1, -1, 1, 1)))
    case("conv_grad_input", name, {**attrs, "size": size}, [("rows", dy), ("whole", w)], stored(dx))
    case("conv_grad_weight", name, {**attrs, "kernel": kernel}, [("rows", x), ("rows", dy)], dw)


conv("3x3", (2, 3, 5, 4), (4, 3, 3, 3), (2, 4, 5, 4), padding=1, stride=1)
conv("1x1 stride 2", (3, 5, 4, 5), (2, 5, 1, 1), (3, 2, 2, 3), stride=2)

x, w = values(2, 3, 3, 2), values(3, 2, 2, 2)
case("conv_transpose", "2x2", {"stride": [2, 2]}, [("rows", x), ("whole", w)],
     stored(F.conv_transpose2d(half(x), half(w), None, 2)))

x, w, b, dy = values(3, 7), values(4, 7), values(4), values(3, 4)
case("dense", "bias", {}, [("rows", x), ("whole", w), ("whole", b)], half(x) @ half(w).T + b)
case("dense_grad_input", "", {}, [("rows", dy), ("whole", w)], half(dy) @ half(w))
case("dense_grad_weight", "", {}, [("rows", x), ("rows", dy)], half(dy).T @ half(x))

x, gamma, beta, mean, var = values(4, 3, 2, 2), values(3), values(3), values(3), values(3).abs() + 0.1
case("batch_norm", "eval", {"eps": 1e-3},
     [("rows", x), ("whole", gamma), ("whole", beta), ("whole", mean), ("whole", var)],
     stored(F.batch_norm(half(x), mean, var, gamma, beta, False, 0, 1e-3)))
x, ones, zeros = values(4, 6), torch.ones(6).double(), torch.zeros(6).double()
case("batch_norm", "one axis", {"eps": 1e-3},
     [("rows", x), ("whole", ones), ("whole", zeros), ("whole", zeros), ("whole", ones)],
     stored(F.batch_norm(x, zeros, ones, ones, zeros, False, 0, 1e-3)))

a, b = values(2, 3, 4), values(2, 3, 4)
case("add", "maps", {}, [("rows", a), ("rows", b)], stored(half(a) + half(b)))
case("relu", "maps", {}, [("rows", a)], half(a).relu())
x = values(3, 5, 2, 2)
case("global_avg_pool", "", {}, [("rows", x)], stored(half(x).mean((2, 3), keepdim=True)))
