"""randomrecipes.py BNCTL COUNT [SEED] [--keep DIR] [--json FILE], or randomrecipes.py --golden DIR: random training recipes in bnctl, beside PyTorch.

A recipe is a module of randommodules.py's statements and of those below, with parameters in the forms in which people
write them, an optimizer, a schedule, a loss and one to four steps. Compares every tensor of the state dict after the last
step, its name and shape, and whether load_state_dict(strict=True) accepts all. PyTorch trains in float32 and in float64:
a tensor is wrong where it is further from float64 than four times the distance of both (Adam: 16), and than 2e-3 of its value.
Elements that are NaN in float32 do not count in that distance; they may be NaN in bnctl too.
Prints what is wrong and counts refusals by reason; exits with 1 if something is wrong.
"""
import collections
import copy
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
if sys.path[0] == HERE:
    sys.path.pop(0)  # onnxruntime.py beside this file is no module for us
sys.path.append(HERE)

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import randommodules as rm
from randomgraphs import Runtime, apart

PARAMETERS = ["weight", "scale", "gamma", "alpha", "temperature", "pos_embed", "cls_token", "query_tokens", "gain", "bias", "beta", "latents", "prompt"]
BUFFERS = ["mean", "std", "grid", "mask", "anchors", "pixel_mean"]
SMOOTH = ["F.gelu({x})", "F.silu({x})", "torch.tanh({x})", "F.relu({x})", "F.softplus({x})", "F.elu({x})", "F.leaky_relu({x}, 0.2)", "F.mish({x})",
          "torch.sigmoid({x})", "F.hardswish({x})", "F.relu6({x})", "F.relu({x}) ** 2", "{x} * torch.sigmoid(1.702 * {x})", "F.selu({x})"]


class Recipe(rm.Draft):
    """Recipe is a draft whose parameters have names of modules."""

    def fresh(self, prefix="v"):
        name = super().fresh(prefix)
        return name if prefix == "v" else self.r.choice(["layer", "block", "stage", "enc"]) + name[1:]

    def layer(self, text):
        return super().layer(re.sub(r"nn\.utils\.spectral_norm\((.*)\)$", r"\1", text))  # moves its buffers in training

    def finish(self, outputs):
        """finish drops statements that no output needs, and modules that no statement names."""
        live, kept = {v.name for v in outputs}, []
        for line in reversed(self.lines):
            targets, value = line.split(" = ", 1)
            names = set(targets.split(", "))
            if live & names:
                live = live - names | set(re.findall(r"\b[a-z]\w*\b", value))
                kept.append(line)
        self.lines = kept[::-1]
        used = set(re.findall(r"self\.(\w+)", "\n".join(kept)))
        for group in (self.module._modules, self.module._parameters, self.module._buffers):
            for name in set(group) - used:
                del group[name]
        self.init = [line for line in self.init if re.search(r"self\.(\w+)", line)[1] in used]
        for m in self.module.modules():
            if isinstance(m, nn.modules.dropout._DropoutNd):
                m.p = 0.0
            elif isinstance(m, nn.MultiheadAttention):
                m.dropout = 0.0
        return super().finish(outputs)

    def parameter(self, *shape, spread=0.5):
        r = self.r
        text = f"{spread} * torch.randn({', '.join(map(str, shape))})" if shape else f"torch.tensor({r.uniform(0.3, 1.2):.3f})"
        self.count += 1
        if r.random() < 0.15 and shape:
            name = f"{r.choice(BUFFERS)}_{self.count}"  # beside it, names without numbers are not free
            self.pending.append(f"self.{name} = nn.Module()")
            kind = name.rsplit("_", 1)[0]
            self.pending.append(f"self.{name}.register_buffer('{kind}', {text})")
            return f"self.{name}.{kind}"
        name = f"own{self.count}"
        kind = r.choice(PARAMETERS)
        self.pending += [f"self.{name} = nn.Module()", f"self.{name}.{kind} = nn.Parameter({text})"]
        return f"self.{name}.{kind}"


def smooth(g, x):
    return g.r.choice(SMOOTH).format(x=x)


def prelu(g, x):
    r = g.r
    n = x.shape[0] if len(x.shape) > 1 or r.random() < 0.5 else x.shape[-1]
    return f"{g.layer(r.choice([f'nn.PReLU({n})', 'nn.PReLU()', 'nn.PReLU(init=0.1)']))}({x})"


def layer_scale(g, x):
    r = g.r
    n = x.shape[-1] if len(x.shape) < 3 else x.shape[0]
    inner = f"nn.Linear({n}, {n})" if len(x.shape) < 3 else f"nn.Conv2d({n}, {n}, 3, padding=1, groups={rm.near(r, n)})"
    if len(x.shape) not in (1, 2, 3):
        return None
    f = g.layer(inner)
    if len(x.shape) == 3:
        shape = r.choice([(n, 1, 1), (1, n, 1, 1), (n,), (1,), ()])
        p = g.parameter(*shape) if shape else g.layer("nn.Parameter(torch.tensor(0.4))")
        p += r.choice(["[:, None, None]", ".view(-1, 1, 1)", ".reshape(1, -1, 1, 1)", ".unsqueeze(-1).unsqueeze(-1)"]) if shape == (n,) else ""
    else:
        p = g.parameter(*r.choice([(n,), (1, n), (1,)]))
    return r.choice([f"{x} + {p} * {f}({x})", f"{x} + {f}({x}) * {p}", f"{p} * {f}({x}) + (1 - {p}) * {x}", f"{x}.mul({p}).add({f}({x}))"])


def tied(g, x):
    """tied uses a weight twice: a layer called again, its transpose, or a slice of it."""
    r, n = g.r, x.shape[-1]
    if len(x.shape) == 3 and r.random() < 0.6:
        c = x.shape[0]
        f = g.layer(f"nn.Conv2d({c}, {c}, 3, padding=1, bias={r.random() < 0.5})")
        return r.choice([f"{f}(F.relu({f}({x})))", f"F.conv_transpose2d(F.relu({f}({x})), {f}.weight, padding=1)", f"{f}({x}) + {f}({x}.flip(3))",
                         f"{f}({x}) + F.conv2d({x}, {f}.weight.mean((2, 3), keepdim=True))"])
    f = g.layer(f"nn.Linear({n}, {n}, bias={r.random() < 0.5})")
    return r.choice([f"{f}(torch.tanh({f}({x})))", f"F.linear(torch.tanh({f}({x})), {f}.weight.t())", f"torch.tanh({x} @ {f}.weight) @ {f}.weight.t()",
                     f"F.linear({x}, {f}.weight[:{max(n // 2, 1)}])", f"F.linear({x}, {f}.weight + torch.eye({n}))", f"{f}({x}) + F.linear({x}, {f}.weight * 0.5)"])


def derived(g, x):
    """derived computes a weight of parameters: standardised, normalised, of low rank, of a table, as a product."""
    r, n, to = g.r, x.shape[-1], g.r.choice([2, 3, 5])
    if len(x.shape) == 3 and r.random() < 0.6:
        c = x.shape[0]
        f = g.layer(f"nn.Conv2d({c}, {to}, 3, padding=1)")
        return r.choice([[f"w = {f}.weight", "w = w - w.mean((1, 2, 3), keepdim=True)", f"F.conv2d({x}, w, {f}.bias, padding=1)"],
                         [f"w = {f}.weight", "w = w / (w.pow(2).sum((1, 2, 3), keepdim=True).sqrt() + 1e-4)", f"F.conv2d({x}, w, {f}.bias, padding=1)"],
                         f"F.conv2d({x}, {f}.weight * {g.parameter(to, 1, 1, 1)}, padding=1)",
                         f"{g.layer(f'nn.utils.weight_norm(nn.Conv2d({c}, {to}, 3, padding=1))')}({x})"])
    if len(x.shape) == 3:
        return None
    f = g.layer(f"nn.Linear({n}, {to})")
    return r.choice([f"F.linear(F.normalize({x}, dim=-1), F.normalize({f}.weight, dim=-1)) * {g.layer('nn.Parameter(torch.tensor(2.5))')}",
                     f"{x} @ ({g.parameter(n, 2)} @ {g.parameter(2, to)})", f"{f}({x}) + {x} @ {g.parameter(n, 2)} @ {g.parameter(2, to)} * 0.5",
                     f"F.linear({x}, torch.sigmoid({f}.weight), {f}.bias)", f"F.linear({x}, F.softmax({f}.weight, -1))", f"F.linear({x}, {f}.weight.abs()) + {f}.bias",
                     f"{g.layer(f'nn.utils.weight_norm(nn.Linear({n}, {to}))')}({x})"])


def tokens(g, x):
    r = g.r
    if len(x.shape) == 3 and r.random() < 0.7:  # patches
        c, h, w = x.shape
        if h % 2 or w % 2:
            return None
        f = g.layer(f"nn.Conv2d({c}, 6, 2, stride=2)")
        return r.choice([f"{f}({x}).flatten(2).transpose(1, 2)", f"{f}({x}).flatten(2).permute(0, 2, 1)", f"{f}({x}).reshape({x}.shape[0], 6, {h * w // 4}).transpose(1, 2)"])
    if len(x.shape) != 2:
        return None
    t, c = x.shape
    p = lambda *shape: g.parameter(*shape)
    return r.choice([
        [f"t = torch.cat([{p(1, 1, c)}.expand({x}.shape[0], -1, -1), {x}], 1)", f"t + {p(1, t + 1, c)}"],
        [f"t = torch.cat((({p(1, 1, c)}).repeat({x}.size(0), 1, 1), {p(1, 1, c)}.expand({x}.size(0), 1, {c}), {x}), dim=1)", f"t + {p(t + 2, c)}"],
        f"torch.cat([{x} + {p(1, t, c)}, {p(1, 2, c)}.expand({x}.shape[0], -1, -1)], 1)", f"{x} + {p(t, c)}[None]", f"{x} + {p(t, c)}.unsqueeze(0)",
        f"{x} + {p(1, t + 3, c)}[:, :{t}]", f"{x} + {g.layer(f'nn.Embedding({t}, {c})')}.weight", f"{x} + {g.layer(f'nn.Embedding({t + 2}, {c})')}(torch.arange({t}))",
        [f"q = {p(1, 3, c)}.expand({x}.shape[0], -1, -1)", f"torch.softmax(q @ {x}.transpose(1, 2) * 0.4, -1) @ {x}"],
        f"torch.where((torch.arange({t}) % 2 == 0).view(1, -1, 1), {p(1, 1, c)}, {x})", f"{p(3, t)} @ {x}", f"torch.einsum('mt,btc->bmc', {p(3, t)}, {x})"])


def biased(g, x):
    """biased is attention with a bias of a table, a temperature per head, or normalised queries."""
    r = g.r
    if len(x.shape) != 2 or x.shape[1] % 2:
        return None
    t, c = x.shape
    qkv, out = g.layer(f"nn.Linear({c}, {3 * c}, bias={r.random() < 0.5})"), g.layer(f"nn.Linear({c}, {c})")
    lines = [f"q, k, v = {qkv}({x}).reshape({x}.shape[0], {t}, 3, 2, {c // 2}).permute(2, 0, 3, 1, 4).unbind(0)"]
    w = r.randrange(4)
    if w == 0:
        lines.append(f"a = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) * {g.parameter(2, 1, 1)}")
    elif w == 1:
        table = g.parameter(2 * t - 1, 2)
        lines += [f"i = (torch.arange({t})[:, None] - torch.arange({t})[None] + {t - 1}).view(-1)", f"a = q @ k.transpose(-2, -1) * 0.5 + {table}[i].view({t}, {t}, 2).permute(2, 0, 1).unsqueeze(0)"]
    elif w == 2:
        lines.append(f"a = q @ k.transpose(-2, -1) * 0.5 + {g.parameter(1, 2, t, t)}")
    else:
        lines.append(f"a = (q * {g.parameter(1)}) @ k.transpose(-2, -1)")
    return lines + [f"{x} + {out}((a.softmax(-1) @ v).transpose(1, 2).flatten(2))"]


def response(g, x):
    """response normalises: batch norms of lines and rows, global response, filter response, RMS norms, mixtures."""
    r, c = g.r, x.shape[0]
    affine = r.random() < 0.6
    kinds = [f"{g.layer(f'nn.BatchNorm1d({c}, affine={affine}, momentum={r.choice([0.1, 0.3])})')}({x})"] if len(x.shape) < 3 else [
        f"{g.layer(f'nn.BatchNorm2d({c}, affine={affine}, eps={r.choice([1e-5, 1e-3])})')}({x})", f"{g.layer(f'nn.GroupNorm({rm.near(r, c)}, {c}, affine={affine})')}({x})",
        [f"s = {x}.norm(p=2, dim=(2, 3), keepdim=True)", "s = s / (s.mean(1, keepdim=True) + 1e-4)", f"{g.parameter(1, c, 1, 1)} * ({x} * s) + {g.parameter(1, c, 1, 1)} + {x}"],
        [f"s = {x} * torch.rsqrt({x}.pow(2).mean((2, 3), keepdim=True) + 1e-3)", f"torch.maximum(s * {g.parameter(1, c, 1, 1)} + {g.parameter(1, c, 1, 1)}, {g.parameter(1, c, 1, 1)})"],
        f"{g.layer(f'nn.InstanceNorm2d({c}, affine={affine})')}({x})"]
    if len(x.shape) == 2:
        n = x.shape[1]
        kinds = [f"{g.layer(f'nn.LayerNorm({n}, elementwise_affine={affine})')}({x})", f"{x} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-4) * {g.parameter(n)}",
                 f"{x} / ({x}.pow(2).mean(-1, keepdim=True) + 1e-4).sqrt() * (1 + {g.parameter(n)})", kinds[0], f"{g.layer(f'nn.BatchNorm1d({n})')}({x}.transpose(1, 2)).transpose(1, 2)"]
    return r.choice(kinds)


def turned(g, x):
    """turned is a transposed convolution with groups, or an upsampling and a convolution."""
    r = g.r
    if len(x.shape) not in (2, 3):
        return None
    d, c = len(x.shape) - 1, x.shape[0]
    groups = rm.near(r, c)
    s = r.choice([1, 2])
    return r.choice([f"{g.layer(f'nn.ConvTranspose{d}d({c}, {groups * r.choice([1, 2])}, {r.choice([2, 3])}, stride={s}, padding={r.choice([0, 1])}, groups={groups}, bias={r.random() < 0.5})')}({x})",
                     f"{g.layer(f'nn.Conv{d}d({c}, {groups * 2}, 3, padding=1, groups={groups}, dilation={r.choice([1, 2])})')}(F.interpolate({x}, scale_factor=2, mode='nearest'))"])


RULES = [(rm.convolution, 4), (smooth, 3), (prelu, 2), (layer_scale, 3), (tied, 2), (derived, 2), (tokens, 4), (biased, 3), (response, 4), (turned, 1), (rm.gated, 2),
         (rm.linear, 3), (rm.block, 2), (rm.attention, 2), (rm.pair, 1), (rm.learned, 2), (rm.pool, 1)]


def draw(number):
    """draw returns a module, its rows, labels, settings of bnctl's command and the same for PyTorch."""
    r = random.Random(number)
    torch.manual_seed(number)
    shape = r.choice([(3, 8, 8), (1, 6, 6), (2, 8, 6), (6, 8), (9,), (3, 6, 6)])
    g = Recipe(r, shape)
    rules = [rule for rule, n in RULES for _ in range(n)]
    if len(shape) == 3:
        g.take(lambda g, x: f"{g.layer(f'nn.Conv2d({shape[0]}, 4, 3, padding=1, bias={r.random() < 0.5})')}({x})", g.values[0])
    wanted, tries = r.randint(3, 9), 0
    while len(g.values) <= wanted and tries < 120:
        tries += 1
        before = g.values[-1]
        if g.take(r.choice(rules), before) and before.name not in g.lines[-1].split(" = ", 1)[-1] and len(g.lines) < 2:
            break
    last = g.values[-1]
    classes = r.choice([2, 3, 5])
    pixels = len(last.shape) == 3 and r.random() < 0.25
    if pixels:
        g.take(lambda g, x: f"{g.layer(f'nn.Conv2d({x.shape[0]}, {classes}, 1)')}({x})", last)
    else:
        if len(last.shape) > 1:
            ways = {2: ["{x}.mean(1)", "{x}[:, 0]", "{x}.flatten(1)", "{x}.amax(1)"], 3: ["{x}.mean((2, 3))", "F.adaptive_avg_pool2d({x}, 1).flatten(1)", "{x}.flatten(1)", "{x}.amax((2, 3))"]}
            g.take(lambda g, x: r.choice(ways.get(len(x.shape), ["{x}.flatten(1)"])).format(x=x), last)
        if r.random() < 0.3:
            g.take(lambda g, x: f"{g.layer(f'nn.BatchNorm1d({x.shape[0]})')}({x})", g.values[-1])
        g.take(lambda g, x: f"{g.layer(f'nn.Linear({x.shape[0]}, {classes}, bias={r.random() < 0.8})')}({x})", g.values[-1])
    net, source, x = g.finish([g.values[-1]])
    shape = g.values[-1].shape
    rows = max(r.choice([4, 6, 9]), shape[0])
    x = torch.randn(rows, *x.shape[1:])
    y = torch.tensor(np.random.default_rng(number).integers(0, shape[0], (rows,) + tuple(shape[1:])))
    y.view(-1)[:shape[0]] = torch.arange(shape[0])[:y.numel()]
    return net, source, x, y, settings(r, shape[0])


def settings(r, classes):
    s = dict(steps=r.choice([1, 1, 1, 2, 3, 4]), optimizer=r.choice(["sgd", "sgd", "momentum", "nesterov", "adam", "adamw"]), decay=r.choice([0, 0, 0.05]),
             smoothing=r.choice([0, 0, 0.1]), weights=[round(r.uniform(0.3, 2), 2) for _ in range(classes)] if r.random() < 0.25 else None,
             clip=r.choice([0, 0, 0, 0.5]), schedule=r.choice(["constant", "constant", "cosine", "poly:0.9", "onecycle:0.5"]), replicas=r.choice([1, 1, 2, 3]))
    s["rate"] = r.choice([0.1, 0.05]) if s["optimizer"] not in ("adam", "adamw") else 0.01
    return s


def flags(s, rows):
    a = ["--steps", str(s["steps"]), "--batch", str(rows), "--replicas", str(s["replicas"]), "--lr", str(s["rate"]), "--schedule", s["schedule"],
         "--weight-decay", str(s["decay"]), "--decay-all", "--momentum", "0.9" if s["optimizer"] in ("momentum", "nesterov") else "0",
         "--optimizer", s["optimizer"] if s["optimizer"][:4] == "adam" else "sgd"]
    a += ["--nesterov"] if s["optimizer"] == "nesterov" else []
    a += ["--label-smoothing", str(s["smoothing"])] if s["smoothing"] else []
    a += ["--class-weights", ",".join(map(str, s["weights"]))] if s["weights"] else []
    return a + (["--clip-norm", str(s["clip"])] if s["clip"] else [])


def trained(net, x, y, s, dtype, constant=()):
    """trained returns the state dict after the steps of PyTorch, in which some parameters are constant."""
    for m in net.modules():
        if hasattr(m, "weight_g"):
            m.__dict__["weight"] = m.weight.detach()  # a product, which is computed again
    m = copy.deepcopy(net)
    forward = m.__dict__.pop("forward")
    m.forward = forward.__func__.__get__(m)
    m = m.to(dtype).train()
    p = [q for name, q in m.named_parameters() if name not in constant]
    o = {"adam": lambda: torch.optim.Adam(p, s["rate"], weight_decay=s["decay"]), "adamw": lambda: torch.optim.AdamW(p, s["rate"], weight_decay=s["decay"])}.get(
        s["optimizer"], lambda: torch.optim.SGD(p, s["rate"], momentum=0.9 if s["optimizer"] in ("momentum", "nesterov") else 0, nesterov=s["optimizer"] == "nesterov", weight_decay=s["decay"]))()
    n = s["steps"]
    curve = {"constant": lambda t: 1, "cosine": lambda t: 0.5 * (1 + math.cos(math.pi * t / n)), "poly:0.9": lambda t: (1 - t / n) ** 0.9}.get(s["schedule"])
    if curve:
        plan = torch.optim.lr_scheduler.LambdaLR(o, curve)
    else:
        plan = torch.optim.lr_scheduler.OneCycleLR(o, max_lr=s["rate"], total_steps=n, pct_start=0.5, cycle_momentum=False)
    loss = nn.CrossEntropyLoss(weight=torch.tensor(s["weights"], dtype=dtype) if s["weights"] else None, label_smoothing=s["smoothing"])
    old = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        for step in range(n):
            o.zero_grad()
            loss(m(x.to(dtype)), y).backward()
            if s["clip"]:
                nn.utils.clip_grad_norm_(p, s["clip"])
            o.step()
            if step + 1 < n:
                plan.step()
    finally:
        torch.set_default_dtype(old)
    return m.state_dict(), {name for name, q in m.named_parameters() if name not in constant and q.grad is None}


def compare(net, got, single, double, unused, times=4):
    """compare returns what is wrong with a state dict."""
    wrong = []
    for k, want in single.items():
        if k.endswith("num_batches_tracked") or k in unused:
            continue
        if k not in got:
            wrong.append(f"{k} is missing")
        elif got[k].shape != want.shape:
            wrong.append(f"{k} has the shape {list(got[k].shape)}, want {list(want.shape)}")
        elif want.is_floating_point():
            exact = double[k].double()
            d, single_d = (got[k].double() - exact).abs(), (want.double() - exact).abs()
            noise = float(single_d[torch.isfinite(single_d)].max()) if bool(torch.isfinite(single_d).any()) else 0.0
            near = d <= times * noise + 2e-5 + 2e-3 * exact.abs()
            if not bool((near | (got[k].isnan() & want.isnan())).all()):
                wrong.append(f"{k} differs by {float(d.max()):.3g} (PyTorch in float32: {noise:.3g})")
    wrong += [f"{k} is unexpected" for k in got if k not in single]
    if not wrong:
        keys = net.load_state_dict(got, strict=False)
        lost = [k for k in keys.missing_keys + keys.unexpected_keys if not k.endswith("num_batches_tracked") and k not in unused]
        wrong += ["strict: " + ", ".join(lost)] if lost else []
    return wrong


class Derived(nn.Module):
    """Derived computes its weights of parameters by operators that recipes found missing."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Parameter(torch.randn(5, 2)), nn.Parameter(torch.randn(2, 5))
        self.conv, self.mix = nn.Conv1d(4, 4, 3, padding=1), nn.Linear(5, 5)
        self.gain, self.head = nn.Parameter(torch.randn(5)), nn.Linear(20, 3)

    def forward(self, x):
        w = self.conv.weight
        x = F.conv1d(x, w / (w.pow(2).sum((1, 2), keepdim=True).sqrt() + 1e-3), self.conv.bias, padding=1)
        x = torch.tanh(x @ (self.left @ self.right)) * self.gain.abs()
        return self.head(F.linear(x, F.softmax(self.mix.weight, -1), self.mix.bias.clamp(-0.3, 0.3)).flatten(1))


class Block(nn.Module):
    """Block is a layer in a module that may share it."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return torch.tanh(self.layer(x))


class Shared(nn.Module):
    """Shared has parameters and a layer with two names."""

    def __init__(self):
        super().__init__()
        self.embed, self.decode = nn.Embedding(7, 5), nn.Linear(5, 7, bias=False)
        self.decode.weight = self.embed.weight
        self.register_buffer("position_ids", torch.arange(4))
        self.a, self.b, self.c = nn.Linear(5, 5), nn.Linear(5, 5), nn.Linear(5, 5, bias=False)
        self.b.weight = self.c.weight = self.a.weight
        layer = nn.Linear(7, 7)
        self.first, self.second = Block(layer), Block(layer)
        self.norm, self.then = nn.LayerNorm(7), nn.LayerNorm(7)
        nn.init.normal_(self.norm.weight, 1, 0.3)
        self.then.weight = self.norm.weight
        self.conv, self.again = nn.Conv1d(4, 4, 3, padding=1), nn.Conv1d(4, 4, 3, padding=1)
        self.again.weight = self.conv.weight
        self.head = nn.Linear(28, 3)

    def forward(self, x):
        x = x + self.embed(self.position_ids)
        x = self.decode(self.c(torch.tanh(self.b(torch.tanh(self.a(x))))))
        x = self.then(torch.tanh(self.norm(self.second(self.first(x)))))
        return self.head(self.again(torch.tanh(self.conv(x))).flatten(1))


class Buffered(nn.Module):
    """Buffered computes weights of buffers, which stay as they are."""

    def __init__(self):
        super().__init__()
        self.register_buffer("grid", torch.randn(5, 5))
        self.register_buffer("window", torch.randn(4, 4, 3))
        self.register_buffer("index", torch.arange(25).reshape(5, 5))
        self.mix, self.gain, self.head = nn.Linear(5, 5), nn.Parameter(torch.randn(5)), nn.Linear(20, 3)

    def forward(self, x):
        x = F.linear(x, self.grid.abs(), self.gain)
        x = F.conv1d(x, torch.sigmoid(self.window) / self.window.abs().sum((1, 2), keepdim=True), padding=1)
        return self.head((self.mix(x) @ (self.index.float() / 25)).flatten(1))


def golden(folder):
    """golden writes networks with a step of them, for go test -run TestStepAsPyTorch . and TestComputedWeightsInONNX."""
    for name, seed, make in (("derived", 5, Derived), ("shared", 6, Shared), ("buffered", 7, Buffered)):
        torch.manual_seed(seed)
        net, x, y = make(), torch.randn(6, 4, 5), torch.tensor([0, 1, 2, 0, 1, 2])
        path = lambda end: os.path.join(folder, f"{name}.{end}")
        torch.onnx.export(net.eval(), x[:2], path("onnx"), opset_version=17 if name == "shared" else 13, input_names=["x"], output_names=["logits"],
                          dynamic_axes={"x": {0: "n"}, "logits": {0: "n"}}, training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
        np.save(path("x.npy"), x.numpy()), np.save(path("y.npy"), y.numpy())
        F.cross_entropy(net(x), y).backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.25 * p.grad
            np.save(path("logits.npy"), net(x).numpy())
        torch.save({k: v.clone() for k, v in net.state_dict().items()}, path("pth"))


def main():
    if sys.argv[1] == "--golden":
        return golden(sys.argv[2])
    args = sys.argv[1:]
    option = lambda name: args[args.index(name) + 1] if name in args else None
    bnctl, count, seed = os.path.abspath(args[0]), int(args[1]), int(args[2]) if len(args) > 2 and args[2][0] != "-" else 0
    tally, refusals = collections.Counter(), collections.Counter()
    scratch = tempfile.TemporaryDirectory()
    runtime = Runtime(scratch.name)
    for number in range(seed, seed + count):
        with tempfile.TemporaryDirectory() as tmp:
            at = option("--keep") or tmp
            os.makedirs(at, exist_ok=True)
            path = lambda name: os.path.join(at, f"{number}.{name}")
            try:
                net, source, x, y, s = draw(number)
                double, _ = trained(net, x, y, s, torch.float64)
                net.eval()
                torch.onnx.export(net, x[:2], path("onnx"), opset_version=random.Random(number).choice([12, 13, 14, 16, 17]), input_names=["x"], output_names=["logits"],
                                  dynamic_axes={"x": {0: "n"}, "logits": {0: "n"}}, training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
            except Exception as e:
                tally["not exported"] += 1
                refusals["PyTorch: " + (str(e).strip().splitlines() or [""])[0][:100]] += 1
                continue
            if any(not bool(torch.isfinite(v).all()) for v in double.values()):
                tally["infinite"] += 1
                continue
            try:
                with torch.no_grad():
                    exported = apart(runtime(path("onnx"), x.numpy())["logits"], net(x).numpy())
            except RuntimeError:  # ONNX Runtime does not load it
                exported = None
            if exported is None or exported > 1e-4:
                tally["exported wrongly by PyTorch"] += 1
                continue
            np.save(path("x.npy"), x.numpy()), np.save(path("y.npy"), y.numpy())
            with open(path("py"), "w") as f:
                f.write(source + f"\n# {s}\n")
            run = subprocess.run([bnctl, "train", "--model", path("onnx"), "--data", f"npy:{path('x.npy')},{path('y.npy')}", *flags(s, len(x)), "--overwrite", "-o", path("bnm")],
                                 capture_output=True, text=True)
            said = run.stderr
            if run.returncode == 0:
                run = subprocess.run([bnctl, "export", path("bnm"), "-o", path("pth")], capture_output=True, text=True)
            if run.returncode:
                text = (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
                crash = run.returncode not in (1, 2) or "goroutine" in run.stderr
                tally["wrong" if crash else "refused"] += 1
                refusals[re.sub(r"'[^']*'|\"[^\"]*\"|\S*/[\w./:]+|\b\w*\d+\b", "*", text)[:170]] += 1
                print(f"{number}: {'crash' if crash else 'refused'}: {text[-300:]}", flush=True)
                continue
            constant = {name for name in re.findall(r"([\w.]+): stays constant", said)}
            single, unused = trained(net, x, y, s, torch.float32, constant)
            double, _ = trained(net, x, y, s, torch.float64, constant)
            wrong = compare(net, torch.load(path("pth")), single, double, unused,
                            16 if s["optimizer"][:4] == "adam" else 4)  # Adam divides by gradients that are almost 0
            named = constant & {name for name, _ in net.named_parameters()}
            tally["wrong" if wrong else "right, with a parameter that a line names as constant" if named else "right"] += 1
            if wrong:
                print(f"{number} {s}: " + "; ".join(wrong[:5]) + " | " + " ".join(l for l in said.splitlines() if "constant" in l)[:300], flush=True)
    for text, n in refusals.most_common():
        print(f"refused {n} times: {text}")
    print(f"seeds {seed} to {seed + count - 1}, PyTorch {torch.__version__}: " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())))
    if option("--json"):
        with open(option("--json"), "w") as f:
            json.dump({"tally": tally, "refusals": refusals}, f)
    runtime.node.stdin.close()
    sys.exit(1 if tally["wrong"] else 0)


if __name__ == "__main__":
    main()
