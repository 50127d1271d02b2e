"""randommodules.py: random torch.nn modules, written statement by statement as their users write them.

A module is Python text: lines of __init__ and lines of forward. Each statement is run when it is drawn, on real rows, so
that the next one knows the shapes; it is taken back where PyTorch refuses it, values leave a range, or rows mix.
"""
import copy
import types
import warnings

import torch

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

HEAD = """import math
import torch
from torch import nn
from torch.nn import functional as F
"""
BATCHES = (3, 2)
LARGEST = 4096  # elements of a value in a row


class Value:
    """Value is a variable of forward and its shape without the batch."""

    def __init__(self, name, shape):
        self.name, self.shape = name, tuple(shape)

    def __str__(self):
        return self.name


class Draft:
    """Draft is a module that is being written."""

    def __init__(self, r, shape):
        self.r, self.module, self.init, self.lines = r, torch.nn.Module(), [], []
        self.scope = {}
        exec(HEAD, self.scope)
        x = torch.randn(BATCHES[0], *shape)
        self.rows = [{"x": x[:n].clone(), "self": self.module} for n in BATCHES]
        self.values, self.count = [Value("x", shape)], 0

    def fresh(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def layer(self, text):
        """layer adds a module or parameter to __init__ and returns its name."""
        name = self.fresh("l")
        self.pending.append(f"self.{name} = {text}")
        return "self." + name

    def parameter(self, *shape, spread=0.5):
        r = self.r
        text = f"{spread} * torch.randn({', '.join(map(str, shape))})" if shape else f"torch.tensor({r.uniform(0.3, 1.2):.3f})"
        if r.random() < 0.25:
            name = self.fresh("b")
            self.pending.append(f"self.register_buffer('{name}', {text})")
            return "self." + name
        return self.layer(f"nn.Parameter({text})")

    def take(self, rule, x):
        """take adds what a rule makes of x; it reports whether the statement stays."""
        self.pending = []
        made = rule(self, x) if x.shape else None
        if not made:
            return False
        lines = made if isinstance(made, list) else [made]
        name = self.fresh()
        lines[-1] = f"{name} = {lines[-1]}"
        before = dict(self.module._modules), dict(self.module._parameters), dict(self.module._buffers)
        try:
            with torch.no_grad():
                exec("\n".join(self.pending), self.scope, {"self": self.module})
                stir(self.module, before[0])
                self.module.eval()
                scopes = [dict(rows) for rows in self.rows]
                for scope in scopes:
                    exec("\n".join(lines), self.scope, scope)
                fine = self.fits(*[scope[name] for scope in scopes])
        except Exception:
            fine = False
        if not fine:
            self.module._modules.clear(), self.module._parameters.clear(), self.module._buffers.clear()
            for mine, old in zip((self.module._modules, self.module._parameters, self.module._buffers), before):
                mine.update(old)
            return False
        self.rows, self.init, self.lines = scopes, self.init + self.pending, self.lines + lines
        self.values.append(Value(name, scopes[0][name].shape[1:]))
        return True

    @staticmethod
    def fits(y, z):
        """fits reports whether a value has one row for each row of x, and moderate numbers."""
        if not isinstance(y, torch.Tensor) or y.dtype != torch.float32 or y.dim() < 1 or y.dim() > 6:
            return False
        if y.shape[0] != BATCHES[0] or z.shape[0] != BATCHES[1] or y.numel() > LARGEST * BATCHES[0] or y.numel() == 0:
            return False
        if not torch.isfinite(y).all() or y.abs().max() > 1e4 or y.abs().max() < 1e-4:
            return False
        return y.shape[1:] == z.shape[1:] and torch.allclose(y[:BATCHES[1]], z, rtol=1e-4, atol=1e-5)

    def finish(self, outputs):
        """finish returns the module, its source, and its input."""
        names = ", ".join(str(v) for v in outputs)
        body = "\n".join("    " + line for text in self.lines for line in text.split("\n"))
        forward = f"def forward(self, x):\n{body}\n    return {names}\n"
        exec(forward, self.scope)
        self.module.forward = types.MethodType(self.scope["forward"], self.module)
        init = "\n".join("        " + line for line in self.init)
        inner = forward.replace("\n", "\n    ")
        source = f"{HEAD}\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{init}\n\n    {inner}"
        return self.module, source, self.rows[0]["x"]


def stir(module, old):
    """stir gives new norms statistics and factors that are not 0 and 1."""
    for name, child in module._modules.items():
        if name in old:
            continue
        for m in child.modules():
            if isinstance(m, torch.nn.modules.batchnorm._NormBase) and m.running_mean is not None:
                m.running_mean.normal_(0, 0.5), m.running_var.uniform_(0.5, 2)
            for key, p in m.named_parameters(recurse=False):
                if p.dim() < 2 and not isinstance(m, torch.nn.PReLU):
                    p.normal_(1 if key == "weight" else 0, 0.3)


def near(r, n):
    """near returns a divisor of n."""
    return r.choice([d for d in range(1, n + 1) if n % d == 0])


# Rules: each returns the last expression, or lines of which the last is an expression. x.shape is without the batch.

def convolution(g, x):
    r, d = g.r, len(x.shape) - 1
    if not 1 <= d <= 3:
        return None
    c, to = x.shape[0], r.choice([2, 3, 4, 6, 8])
    groups = r.choice([1, 1, 1, near(r, c), c])
    to = max(to // groups, 1) * groups
    many = lambda *of: r.choice(of) if r.random() < 0.5 else tuple(r.choice(of) for _ in range(d))
    k = many(1, 2, 3, 3, 5)
    if r.random() < 0.2:
        stride = r.choice([1, 2, 3])
        return g.layer(f"nn.ConvTranspose{d}d({c}, {to}, {k}, stride={stride}, padding={r.choice([0, 0, 1])}, "
                       f"output_padding={r.randrange(stride)}, groups={groups}, bias={r.random() < 0.6}, "
                       f"dilation={r.choice([1, 1, 2])})") + f"({x})"
    if r.random() < 0.03:  # PyTorch 1.13 does not export it
        layer = g.layer(f"nn.Conv{d}d({c}, {to}, {k}, padding='{r.choice(['same', 'valid'])}', groups={groups}, dilation={many(1, 2)})")
        return f"{layer}({x})"
    mode = r.choice(["zeros"] * 4 + ["reflect", "replicate", "circular"])
    text = (f"nn.Conv{d}d({c}, {to}, {k}, stride={many(1, 1, 2, 3)}, padding={many(0, 1, 1, 2)}, dilation={many(1, 1, 2)}, "
            f"groups={groups}, bias={r.random() < 0.6}, padding_mode='{mode}')")
    if r.random() < 0.1:
        text = f"nn.utils.{r.choice(['weight_norm', 'spectral_norm'])}({text})"
    layer = g.layer(text)
    if r.random() < 0.15:
        return [f"{layer[5:]} = F.relu({layer}({x}))", f"{layer[5:]} + {layer[5:]}.flip({r.randint(1, d)})"]
    return f"{layer}({x})"


def functional(g, x):
    r, d = g.r, len(x.shape) - 1
    if d != 2:
        return None
    w = g.parameter(r.choice([2, 4]), x.shape[0], 3, 3)
    if r.random() < 0.4:  # standardised weights
        return [f"w = {w}", "w = (w - w.mean((1, 2, 3), keepdim=True)) / (w.std((1, 2, 3), keepdim=True) + 1e-5)",
                f"F.conv2d({x}, w, padding=1)"]
    return f"F.conv2d({x}, {w} * {r.uniform(0.2, 2):.2f}, stride={r.choice([1, 2])})"


def pool(g, x):
    r, d = g.r, len(x.shape) - 1
    if not 1 <= d <= 3:
        return None
    k, s = r.choice([2, 3]), r.choice([1, 2, 3])
    p, ceil = r.randint(0, k // 2), r.random() < 0.4
    kinds = [f"F.max_pool{d}d({x}, {k}, {s}, padding={p}, ceil_mode={ceil}, dilation={r.choice([1, 1, 2])})",
             f"F.avg_pool{d}d({x}, {k}, {s}, padding={p}, ceil_mode={ceil}, count_include_pad={r.random() < 0.5})",
             f"F.adaptive_avg_pool{d}d({x}, {near(r, min(x.shape[1:]))})",
             f"F.adaptive_max_pool{d}d({x}, 1)"]
    if d == 2:
        kinds += [f"F.lp_pool2d({x}, {r.choice([1, 2])}, {k}, {s})",
                  f"F.adaptive_avg_pool2d({x}, (1, None))", f"F.max_pool2d({x}, ({k}, 1), (1, {s}))",
                  f"F.adaptive_avg_pool2d({x}, 1) + F.adaptive_max_pool2d({x}, 1)"]
    return r.choice(kinds)


def norm(g, x):
    r, c, d = g.r, x.shape[0], len(x.shape) - 1
    affine = r.random() < 0.7
    kinds = [f"nn.LayerNorm({list(x.shape[-r.randint(1, len(x.shape)):])}, elementwise_affine={affine}, eps={r.choice([1e-5, 1e-6, 0.1])})"]
    if d == 0:
        kinds.append(f"nn.BatchNorm1d({c}, affine={affine})")
    if 1 <= d <= 3:
        kinds += [f"nn.BatchNorm{d}d({c}, affine={affine}, eps={r.choice([1e-5, 1e-3])})",
                  f"nn.InstanceNorm{d}d({c}, affine={affine})", f"nn.GroupNorm({near(r, c)}, {c}, affine={affine})",
                  f"nn.InstanceNorm{d}d({c}, affine={affine}, track_running_stats=True)"]
    if d == 2:
        kinds.append(f"nn.LocalResponseNorm({r.choice([2, 3, 5])}, alpha={r.choice([1e-4, 0.5])}, beta=0.75, k=1.5)")
    if r.random() < 0.3:
        a = axis(r, x)
        return r.choice([
            f"F.normalize({x}, p={r.choice([1, 2])}, dim={a})",
            f"{x} * torch.rsqrt({x}.pow(2).mean({a}, keepdim=True) + 1e-6) * {g.parameter(*([1] * (len(x.shape) - 1)), x.shape[-1])}",
            f"({x} - {x}.mean({a}, keepdim=True)) / torch.sqrt({x}.var({a}, keepdim=True, unbiased=False) + 1e-5)",
            f"({x} - {x}.mean({a}, keepdim=True)) / ({x}.std({a}, keepdim=True) + 1e-3)",
            f"{x} / ({x}.norm(p=2, dim={a}, keepdim=True) * {x.shape[0] ** -0.5:.4f} + 1e-6)",
            f"{x} - torch.logsumexp({x}, dim={a}, keepdim=True)",
            f"{x} / {x}.abs().amax({a}, keepdim=True).clamp(min=1e-6)"])
    return f"{g.layer(r.choice(kinds))}({x})"


def axis(r, x):
    """axis draws an axis behind the batch, at times from the end."""
    n = len(x.shape)
    i = r.randint(1, n)
    return i if r.random() < 0.5 else i - n - 1


POINTWISE = [
    "F.relu({x})", "F.relu6({x})", "F.gelu({x})", "F.silu({x})", "F.mish({x})", "F.elu({x}, {a})", "F.selu({x})",
    "F.celu({x}, {a})", "F.leaky_relu({x}, {a})", "F.softplus({x}, beta={a})", "F.hardswish({x})", "F.hardsigmoid({x})",
    "F.hardtanh({x}, -{a}, {a})", "F.logsigmoid({x})", "F.softsign({x})", "F.tanhshrink({x})", "F.softshrink({x}, {a})",
    "F.hardshrink({x}, {a})", "F.threshold({x}, {a}, 0.1)", "torch.tanh({x})", "torch.sigmoid({x})", "torch.sin({x})",
    "torch.cos({x})", "torch.atan({x})", "torch.erf({x})", "torch.exp(-{x}.abs())", "torch.log({x}.abs() + {a})",
    "torch.log1p({x}.abs())", "torch.sqrt({x}.abs() + {a})", "torch.rsqrt({x}.abs() + {a})", "{x} ** 2", "{x}.pow(3)",
    "{x}.abs().pow({a})", "{x}.clamp(-{a}, 1)", "{x}.clamp(min=-{a})", "{x}.clamp(max={a})", "{x}.neg()", "1 / ({x}.abs() + {a})",
    "{x} * torch.sigmoid({a} * {x})", "{x} * 0.5 * (1.0 + torch.tanh(0.7978845608 * ({x} + 0.044715 * {x} ** 3)))",
    "torch.where({x} > {a}, {x}, {x} * 0.1)", "{x}.masked_fill({x} < -{a}, -{a})", "torch.maximum({x}, {x} * {a})",
    "torch.minimum({x}, torch.full_like({x}, {a}))", "torch.where({x}.abs() < {a}, {x} * {x}, torch.ones_like({x}))",
    "{x} + torch.zeros_like({x})", "{x} * ({x} > {a}).float()", "F.relu({x}) ** 2", "{x}.sub({a}).div(0.5)", "{a} - {x}",
    "torch.addcmul({x}, {x}, {x}, value={a})", "torch.lerp({x}, {x} * 2, {a})", "({x} > {a}).to({x}.dtype) - {x}",
    "torch.log(torch.cosh({x}.clamp(-5, 5)))", "torch.stack([{x}, -{x}]).amax(0)", "torch.where(({x} > 0) & ({x} < {a}), {x}, -{x})",
    "torch.asin({x}.clamp(-0.9, 0.9))", "{x} * {x}.sign()", "F.gelu({x}, approximate='tanh')", "torch.logaddexp({x}, -{x})",
    "torch.nan_to_num({x})", "{x}.expm1().clamp(max=5)", "torch.sinc({x})", "torch.square({x})", "torch.xlogy({x}.abs(), {x}.abs() + {a})",
    "{x}.type_as({x}).contiguous()", "torch.atan2({x}, {x}.abs() + {a})", "torch.hypot({x}, {x} + {a})", "{x}.reciprocal().clamp(-2, 2)"]


def pointwise(g, x):
    return g.r.choice(POINTWISE).format(x=x, a=round(g.r.uniform(0.1, 1.3), 2))


def learned(g, x):
    r, n = g.r, len(x.shape)
    shape = [s if r.random() < 0.5 else 1 for s in x.shape]
    while r.random() < 0.4 and shape:
        shape = shape[1:]
    if r.random() < 0.1 and len(x.shape) > 1:
        return f"{g.layer(f'nn.PReLU({x.shape[0]})')}({x})"
    p = g.parameter(*shape)
    if len(shape) == n and r.random() < 0.4:
        p = f"{p}.unsqueeze(0)" if r.random() < 0.5 else f"{p}[None]"
    return r.choice([f"{x} + {p}", f"{x} * {p}", f"{p} * {x}", f"{x} - {p}", f"{p} - {x}", f"{x} / ({p}.abs() + 0.5)",
                     f"torch.where({p} > 0, {x}, -{x})", f"torch.maximum({x}, {p})", f"{x} * torch.sigmoid({p})",
                     f"torch.cat([{x}, {p}.expand_as({x})], {axis(r, x)})"])


def linear(g, x):
    r, n = g.r, x.shape[-1]
    to = r.choice([2, 3, 5, 8])
    w = r.random()
    if w < 0.5:
        return f"{g.layer(f'nn.Linear({n}, {to}, bias={r.random() < 0.6})')}({x})"
    if w < 0.6:
        return f"{x} @ {g.parameter(n, to)}"
    if w < 0.7:
        return f"F.linear({x}, {g.parameter(to, n)}.abs(), {g.parameter(to)})"
    if w < 0.8 and len(x.shape) > 1:
        return f"{g.parameter(to, x.shape[-2])} @ {x}"
    if w < 0.9 and len(x.shape) == 2:
        return r.choice([f"torch.einsum('bij,jk->bki', {x}, {g.parameter(n, to)})", f"torch.einsum('bij,ik->bkj', {x}, {g.parameter(x.shape[0], to)})",
                         f"torch.einsum('bij,ijk->bk', {x}, {g.parameter(*x.shape, to, spread=0.2)})",
                         f"torch.einsum('bij,bkj->bik', {x}, {x}) * 0.2"])
    if len(x.shape) == 1:
        return f"{g.layer(f'nn.Bilinear({n}, {n}, {to})')}({x}, {x} * 0.5)"
    if len(x.shape) == 3:
        return f"torch.tensordot({x}, {g.parameter(n, to)}, dims=([3], [0]))" if r.random() < 0.5 else \
            f"torch.einsum('bchw,cd->bdhw', {x}, {g.parameter(x.shape[0], to)})"
    return None


def reduced(g, x):
    r, a = g.r, axis(g.r, x)
    keep = r.random() < 0.5
    if r.random() < 0.2 and len(x.shape) > 1:
        both = r.sample(range(1, len(x.shape) + 1), 2)
        return r.choice([f"{x}.mean({tuple(both)}, keepdim={keep})", f"{x}.sum({both}, keepdim={keep}) * 0.1",
                         f"{x}.amax({tuple(both)}, keepdim={keep})", f"torch.var({x}, dim={both}, keepdim={keep})",
                         f"{x}.norm(dim={tuple(both)}, keepdim={keep})"])
    return r.choice([f"{x}.mean({a}, keepdim={keep})", f"{x}.sum({a}, keepdim={keep})", f"{x}.amax({a}, keepdim={keep})",
                     f"{x}.max({a}, keepdim={keep})[0]", f"{x}.min({a}, keepdim={keep}).values", f"{x}.cumsum({a})",
                     f"{x}.amin({a}, keepdim={keep})", f"{x}.logsumexp({a}, keepdim={keep})", f"{x}.std({a}, keepdim={keep})",
                     f"{x}.norm(p={r.choice([1, 2])}, dim={a}, keepdim={keep})", f"{x}.clamp(-1.2, 1.2).prod({a}, keepdim={keep})",
                     f"F.softmax({x}, {a})", f"F.log_softmax({x}, dim={a})", f"F.softmin({x}, dim={a})",
                     f"torch.softmax({x} * {r.uniform(0.2, 3):.2f}, {a})", f"{x} - {x}.mean({a}, keepdim=True)",
                     f"{x} * F.softmax({x}, {a})", f"{x}.topk({r.randint(1, 3)}, dim={a})[0]", f"{x}.sort({a})[0]",
                     f"{x}.median({a}, keepdim={keep})[0]", f"{x}.diff(dim={a})"])


def shaped(g, x):
    r, n = g.r, len(x.shape)
    a, b = axis(r, x), axis(r, x)
    order = list(range(1, n + 1))
    r.shuffle(order)
    total = 1
    for s in x.shape:
        total *= s
    f = near(r, x.shape[0])
    kinds = [f"{x}.flatten(1)", f"{x}.view({x}.size(0), -1)", f"{x}.reshape({x}.shape[0], {near(r, total)}, -1)",
             f"{x}.permute(0, {', '.join(map(str, order))})", f"{x}.transpose({a}, {b})", f"{x}.unsqueeze({a})", f"{x}.squeeze({a})",
             f"{x}.reshape({x}.size(0), {f}, {x.shape[0] // f}, *{x}.shape[2:])", f"{x}.flip({a})", f"{x}.roll({r.choice([1, 2, -1])}, {a})",
             f"torch.stack([{x}, {x} * 2], {a})", f"{x}.repeat(1, {', '.join(str(r.choice([1, 1, 2])) for _ in range(n))})",
             f"{x}.repeat_interleave(2, {a})", f"torch.cat([{x}, {x}.flip({a})], {b})", f"{x}.movedim({a}, {b})",
             f"{x}.unflatten(1, ({f}, {x.shape[0] // f}))", f"torch.tile({x}, (1,{' 1,' * (n - 1)} 2))",
             f"torch.cat({x}.chunk({r.choice([2, 3])}, {a})[::-1], {a})"]
    if n > 1:
        kinds += [f"{x}.flatten(-2)", f"{x}.flatten(1, 2)", f"{x}.swapaxes(1, 2)", f"{x}.reshape(-1, {x.shape[0] * x.shape[1]}{''.join(f', {s}' for s in x.shape[2:])})",
                  f"torch.triu({x}, diagonal={r.choice([-1, 0, 1])})", f"torch.tril({x})"]
    if n >= 3 and f > 1:
        kinds.append(f"{x}.view({x}.size(0), {f}, {x.shape[0] // f}, *{x}.shape[2:]).transpose(1, 2).contiguous().view({x}.size(0), -1, *{x}.shape[2:])")
    return r.choice(kinds)


def sliced(g, x):
    r, n = g.r, len(x.shape)
    index = [":"]
    for s in x.shape:
        i, j = sorted([r.randint(0, s), r.randint(0, s)])
        index.append(r.choice([":", ":", "::2", "1:", ":-1", f"{i}:{max(j, i + 1)}", f"-{max(s // 2, 1)}:", "1::3", str(r.randrange(s)), "-1", "None"]))
    a = axis(r, x)
    size = x.shape[a - 1 if a > 0 else a + n]
    picks = [r.randrange(size) for _ in range(r.randint(1, 4))]
    i = r.randrange(size)
    return r.choice([f"{x}[{', '.join(index)}]", f"{x}[{', '.join(index)}]", f"{x}[..., {r.choice(['0', '-1', '1:', '::2', ':-1'])}]",
                     f"{x}.narrow({a}, {i}, {r.randint(1, size - i)})", f"{x}.select({a}, {i})",
                     f"{x}.index_select({a}, torch.tensor({picks}))", f"{x}.unbind({a})[{r.choice([0, -1])}]",
                     f"{x}[:, {picks}]", f"{x}.split({r.randint(1, size)}, {a})[-1]", f"torch.gather({x}, {a}, {x}.argsort({a}))",
                     f"{x}[:, {x}.shape[1] // 2:]", f"torch.cat([{x}[:, ::2], {x}[:, 1::2]], 1)", f"{x}.take_along_dim({x}.argmax({a}, keepdim=True), {a})"])


def gated(g, x):
    r, c, d = g.r, x.shape[0], len(x.shape) - 1
    a = axis(r, x)
    kinds = [[f"a, b = {x}.chunk(2, {a})", f"a * {r.choice(['torch.sigmoid', 'F.silu', 'torch.tanh', 'F.gelu'])}(b)"], f"F.glu({x}, {a})"]
    if d == 2:
        m = max(c // 2, 1)
        kinds += [
            [f"s = {r.choice([f'F.adaptive_avg_pool2d({x}, 1)', f'{x}.mean((2, 3), keepdim=True)', f'{x}.mean([-2, -1], True)'])}",
             f"s = F.relu({g.layer(f'nn.Conv2d({c}, {m}, 1)')}(s))", f"{x} * {r.choice(['torch.sigmoid', 'F.hardsigmoid'])}({g.layer(f'nn.Conv2d({m}, {c}, 1)')}(s))"],
            [f"s = {x}.mean((2, 3))", f"s = torch.sigmoid({g.layer(f'nn.Linear({c}, {c})')}(s))", f"{x} * {r.choice([f's.view({x}.size(0), {c}, 1, 1)', 's[:, :, None, None]', 's.unsqueeze(-1).unsqueeze(-1)', f's.reshape(-1, {c}, 1, 1).expand_as({x})'])}"],
            [f"s = torch.cat([{x}.mean(1, keepdim=True), {x}.max(1, keepdim=True)[0]], 1)", f"{x} * torch.sigmoid({g.layer('nn.Conv2d(2, 1, 3, padding=1)')}(s))"],
            [f"s = F.adaptive_avg_pool2d({x}, 1).squeeze(-1).transpose(-1, -2)", f"s = {g.layer('nn.Conv1d(1, 1, 3, padding=1, bias=False)')}(s)", f"{x} * s.transpose(-1, -2).unsqueeze(-1).sigmoid()"],
            [f"h = {x}.mean(3, keepdim=True)", f"w = {x}.mean(2, keepdim=True)", f"{x} * torch.sigmoid(h) * torch.sigmoid(w)"],
            [f"h = {x}.mean(3)", f"w = {x}.mean(2)", f"s = torch.cat([h, w], 2)", f"h, w = torch.split(s, [{x}.size(2), {x}.size(3)], 2)", "h.unsqueeze(3) * w.unsqueeze(2)"],
            [f"s = ({x} - {x}.mean((2, 3), keepdim=True)).pow(2)", f"{x} * torch.sigmoid(s / (4 * (s.sum((2, 3), keepdim=True) / {max(x.shape[1] * x.shape[2] - 1, 1)} + 1e-4)) + 0.5)"],
            [f"s = F.softmax({x}.flatten(2), -1)", f"torch.bmm(s, {x}.flatten(2).transpose(1, 2))"]]
    return r.choice(kinds)


def attention(g, x):
    r = g.r
    if len(x.shape) == 3 and r.random() < 0.6:
        c, h, w = x.shape
        k = next((k for k in (2, 4, 3) if h % k == 0 and w % k == 0), 0)
        if k and r.random() < 0.5:  # windows: the batch is part of an axis meanwhile
            lines = [f"t = {x}.permute(0, 2, 3, 1).view(-1, {h // k}, {k}, {w // k}, {k}, {c})", f"t = t.permute(0, 1, 3, 2, 4, 5).reshape(-1, {k * k}, {c})",
                     f"q, k, v = {g.layer(f'nn.Linear({c}, {3 * c})')}(t).chunk(3, -1)", f"a = (q @ k.transpose(-2, -1)) * {c ** -0.5:.4f}"]
            if r.random() < 0.5:
                lines.append(f"a = a + {g.parameter(k * k, k * k)}")
            return lines + [f"t = (a.softmax(-1) @ v).view(-1, {h // k}, {w // k}, {k}, {k}, {c})", f"t.permute(0, 5, 1, 3, 2, 4).reshape(-1, {c}, {h}, {w})"]
        if r.random() < 0.4:  # along an axis: rows of pictures are rows of a batch
            return [f"n, c, h, w = {x}.shape", f"t = {x}.permute(0, 2, 3, 1).reshape(n * h, w, c)", f"q, k, v = {g.layer(f'nn.Linear({c}, {3 * c}, bias=False)')}(t).split({c}, -1)",
                    "t = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(c), -1) @ v", "t.reshape(n, h, w, c).permute(0, 3, 1, 2)"]
        q, k, v = (g.layer(f"nn.Conv2d({c}, {n}, 1)") for n in (max(c // 2, 1), max(c // 2, 1), c))
        return [f"n, c, h, w = {x}.size()", f"q = {q}({x}).view(n, -1, h * w).permute(0, 2, 1)", f"k = {k}({x}).view(n, -1, h * w)", "a = torch.softmax(torch.bmm(q, k), dim=-1)",
                f"t = torch.bmm({v}({x}).view(n, -1, h * w), a.permute(0, 2, 1)).view(n, c, h, w)", f"{g.layer('nn.Parameter(torch.full((1,), 0.7))')} * t + {x}"]
    if len(x.shape) != 2:
        return None
    t, c = x.shape
    heads = near(r, c)
    kind = r.randrange(7)
    if kind == 0:
        return [f"q, k, v = {g.layer(f'nn.Linear({c}, {3 * c})')}({x}).reshape({x}.shape[0], -1, 3, {heads}, {c // heads}).permute(2, 0, 3, 1, 4)",
                f"a = (q @ k.transpose(-2, -1)) * {(c // heads) ** -0.5:.4f}", "a = a.masked_fill(torch.triu(torch.ones(a.shape[-1], a.shape[-1]), 1).bool(), float('-inf'))" if r.random() < 0.5 else "a = a * 1.0",
                f"{x} + (a.softmax(-1) @ v).transpose(1, 2).reshape({x}.shape)"]
    if kind == 1:
        m = g.layer(f"nn.MultiheadAttention({c}, {heads}, batch_first={r.random() < 0.5})")
        return [f"t = {x} if {m}.batch_first else {x}.transpose(0, 1)", f"t, w = {m}(t, t, t, need_weights={r.random() < 0.3})", f"t if {m}.batch_first else t.transpose(0, 1)"]
    if kind == 2:  # learned queries
        n = r.randint(1, 3)
        return [f"q = {g.layer(f'nn.Parameter(torch.randn(1, {n}, {c}))')}.expand({x}.shape[0], -1, -1)", f"torch.softmax(torch.bmm(q, {x}.transpose(1, 2)), 2) @ {x}"]
    if kind == 3:
        return f"{g.layer(f'nn.TransformerEncoderLayer({c}, {heads}, {2 * c}, batch_first=True, norm_first={r.random() < 0.5}, activation={chr(39)}gelu{chr(39)})')}({x})"
    if kind == 4:  # linear attention
        return [f"q, k = F.elu({g.layer(f'nn.Linear({c}, {c})')}({x})) + 1, F.elu({g.layer(f'nn.Linear({c}, {c})')}({x})) + 1", f"s = torch.einsum('bnd,bne->bde', k, {x})",
                "torch.einsum('bnd,bde->bne', q, s) / (torch.einsum('bnd,bd->bn', q, k.sum(1)) + 1e-6).unsqueeze(-1)"]
    if kind == 5:  # pooled by learned weights
        return [f"a = F.softmax({g.layer(f'nn.Linear({c}, 1)')}({x}), dim=1)", f"(a * {x}).sum(dim=1)" if r.random() < 0.5 else f"torch.matmul(a.transpose(1, 2), {x}).squeeze(1)"]
    return [f"t = torch.cat([{g.layer(f'nn.Parameter(torch.randn(1, 1, {c}))')}.{r.choice(['expand', 'repeat'])}({x}.shape[0], {r.choice(['1, 1', '1, 1'])}), {x}], dim=1)",
            f"t + {g.layer(f'nn.Parameter(torch.randn(1, {t + 1}, {c}))')}[:, :t.size(1)]"]


def resampled(g, x):
    r, d = g.r, len(x.shape) - 1
    if d == 1:
        return f"F.interpolate({x}, scale_factor=2, mode='{r.choice(['nearest', 'linear'])}')"
    if d != 2:
        return None
    c, h, w = x.shape
    mode = r.choice(["nearest", "bilinear", "bicubic"])
    more = "" if mode == "nearest" else f", align_corners={r.random() < 0.5}"
    size = r.choice([f"size=({r.randint(1, 9)}, {r.randint(1, 9)})", f"scale_factor={r.choice([2, 0.5, 1.5, 3])}", f"size=(2 * {x}.shape[2], {x}.shape[3] + 1)"])
    kinds = [f"F.interpolate({x}, {size}, mode='{mode}'{more})", f"F.interpolate({x}, {size}, mode='{mode}'{more})",
             f"F.pad({x}, ({r.randint(-1, 2)}, {r.randint(0, 2)}, {r.randint(0, 2)}, {r.randint(-1, 2)}), value={r.choice([0, 0.5, -1])})",
             f"F.pad({x}, (1, {r.randint(0, 2)}, {r.randint(0, 1)}, 1), mode='{r.choice(['reflect', 'replicate', 'circular'])}')",
             f"F.pad({x}, (0, 0, 0, 0, {r.randint(0, 2)}, {r.randint(0, 2)}))", f"F.pixel_unshuffle({x}, 2)", f"F.pixel_shuffle({x}.repeat(1, 4, 1, 1), 2)",
             f"F.unfold({x}, {r.choice([2, 3])}, padding={r.randint(0, 1)}, stride={r.choice([1, 2])})", f"F.interpolate(F.avg_pool2d({x}, 2), size={x}.shape[2:], mode='nearest') - {x}",
             f"F.fold(F.unfold({x}, 2, stride=2), ({h}, {w}), 2, stride=2)", f"F.channel_shuffle({x}, {near(r, c)})",
             f"F.grid_sample({x}, {g.parameter(1, 3, 4, 2)}.expand({x}.shape[0], -1, -1, -1), align_corners={r.random() < 0.5}, mode='{r.choice(['bilinear', 'nearest'])}', padding_mode='{r.choice(['zeros', 'border'])}')"]
    return r.choice(kinds)


def positions(g, x):
    r, n = g.r, x.shape[-1]
    kinds = [f"{x} + torch.arange({x}.shape[-1], dtype={x}.dtype) / {n}", f"{x} * torch.linspace(0.1, 1, {n})", f"{x} + torch.arange({x}.size(-1)).float().sin()",
             f"{x} + {g.layer(f'nn.Embedding({n}, 1)')}(torch.arange({n})).squeeze(-1)", f"{x} @ torch.eye({n}).flip(0)", f"{x} * torch.ones({n}).cumsum(0)",
             f"torch.cat([{x}, {x}.new_zeros({x}.shape[:-1] + (2,))], -1)", f"torch.cat([{x}, torch.zeros({', '.join(f'{x}.shape[{i}]' for i in range(len(x.shape)))}, 1)], -1)"]
    if len(x.shape) == 3:
        kinds += [f"torch.cat([{x}, torch.linspace(-1, 1, {x}.shape[2]).view(1, 1, -1, 1).expand({x}.shape[0], 1, -1, {x}.shape[3]), torch.linspace(-1, 1, {x}.shape[3]).view(1, 1, 1, -1).expand({x}.shape[0], 1, {x}.shape[2], -1)], 1)",
                  f"{x} + torch.meshgrid(torch.arange({x}.shape[2]).float(), torch.arange({x}.shape[3]).float())[{r.randrange(2)}] * 0.1"]
    if len(x.shape) == 2 and n % 2 == 0:
        kinds.append([f"p = torch.arange({x}.shape[1]).float()[:, None] / (10000 ** (torch.arange(0, {n // 2}).float() / {n // 2}))", f"a, b = {x}[..., ::2], {x}[..., 1::2]",
                      "torch.stack([a * p.cos() - b * p.sin(), a * p.sin() + b * p.cos()], -1).flatten(-2)"])
    return r.choice(kinds)


def block(g, x):
    """block is a small module of modules, of a residual form."""
    r, c = g.r, x.shape[0]
    if len(x.shape) == 3:
        act = r.choice(["nn.ReLU()", "nn.SiLU()", "nn.GELU()", f"nn.PReLU({c})", "nn.Hardswish()", "nn.ELU()", "nn.LeakyReLU(0.2)"])
        body = g.layer(r.choice([
            f"nn.Sequential(nn.Conv2d({c}, {2 * c}, 1, bias=False), nn.BatchNorm2d({2 * c}), nn.ReLU6(), nn.Conv2d({2 * c}, {2 * c}, 3, padding=1, groups={2 * c}, bias=False), nn.BatchNorm2d({2 * c}), nn.ReLU6(), nn.Conv2d({2 * c}, {c}, 1, bias=False), nn.BatchNorm2d({c}))",
            f"nn.Sequential(nn.BatchNorm2d({c}), {act}, nn.Conv2d({c}, {c}, 3, padding=1))", f"nn.Sequential(nn.ZeroPad2d(1), nn.Conv2d({c}, {c}, 3), nn.InstanceNorm2d({c}), {act}, nn.Dropout(0.3))",
            f"nn.Sequential(nn.ReflectionPad2d((1, 1, 2, 0)), nn.Conv2d({c}, {c}, 3), {act}, nn.Dropout2d())",
            f"nn.Sequential(nn.Upsample(scale_factor=2, mode='nearest'), nn.Conv2d({c}, {c}, 3, stride=2, padding=1), {act})"]))
        return r.choice([f"{x} + {body}({x})", f"{body}({body}({x}))", f"F.relu({x} + 0.5 * {body}({x}))", f"torch.cat(({x}, {body}({x})), dim=1)"])
    n = x.shape[-1]
    body = g.layer(f"nn.Sequential(nn.LayerNorm({n}), nn.Linear({n}, {2 * n}), {r.choice(['nn.GELU()', 'nn.ReLU()', 'nn.SiLU()'])}, nn.Dropout(0.1), nn.Linear({2 * n}, {n}))")
    return r.choice([f"{x} + {body}({x})", f"{body}({x})", f"{x} + {g.layer(f'nn.Parameter(0.1 * torch.ones({n}))')} * {body}({x})"])


def pair(g, x):
    """pair joins two values whose shapes broadcast, or that have one axis in common."""
    r = g.r
    def fit(v):
        return all(a == b or 1 in (a, b) for a, b in zip(x.shape[::-1], v.shape[::-1])) and len(v.shape) == len(x.shape)
    others = [v for v in g.values if v is not x and fit(v)]
    joined = [v for v in g.values if len(v.shape) == len(x.shape) and sum(a != b for a, b in zip(v.shape, x.shape)) <= 1]
    kinds = []
    if others:
        y = r.choice(others)
        kinds += [f"{x} + {y}", f"{x} * {y}", f"{x} - {y}", f"{y} / ({x}.abs() + 1)", f"torch.maximum({x}, {y})", f"torch.where({x} > {y}, {x}, {y} * 0.5)",
                  f"{x} * torch.sigmoid({y})", f"(({x} - {y}) ** 2)", f"F.cosine_similarity({x}, {y}, dim=1)", f"torch.lerp({x}, {y}, 0.3)", f"({x} >= {y}).float() * {x}"]
    if joined:
        y = r.choice(joined)
        a = next((i for i, (s, t) in enumerate(zip(x.shape, y.shape)) if s != t), r.randrange(len(x.shape))) + 1
        kinds += [f"torch.cat([{x}, {y}], {a})", f"torch.cat([{x}, {y}, {x}], {a})"]
    mats = [v for v in g.values if len(v.shape) == len(x.shape) >= 2 and v.shape[:-2] == x.shape[:-2]]
    if mats and r.random() < 0.4:
        y = r.choice(mats)
        if y.shape[-1] == x.shape[-1]:
            kinds.append(f"{x} @ {y}.transpose(-1, -2) * 0.3")
        if y.shape[-2] == x.shape[-1]:
            kinds.append(f"torch.matmul({x}, {y}) * 0.3")
    if len(x.shape) == 1 and any(len(v.shape) == 1 for v in g.values):
        y = r.choice([v for v in g.values if len(v.shape) == 1])
        kinds.append(f"{x}.unsqueeze(2) * {y}.unsqueeze(1)")
    return r.choice(kinds) if kinds else None


RULES = [(convolution, 5), (functional, 1), (pool, 2), (norm, 3), (pointwise, 5), (learned, 3), (linear, 3), (reduced, 3), (shaped, 4),
         (sliced, 3), (gated, 2), (attention, 3), (resampled, 2), (positions, 1), (block, 2), (pair, 4)]


def draw(r):
    """draw returns a module, its source, rows for it and whether it has several outputs."""
    torch.manual_seed(r.getrandbits(31))
    shape = r.choice([(3, 8, 8), (1, 9, 7), (4, 6, 6), (2, 12, 10), (3, 16, 5), (4, 12), (3, 9), (6, 8), (8, 4), (10,), (7,), (2, 4, 6, 5), (3, 2, 4, 4)])
    g = Draft(r, shape)
    rules = [rule for rule, n in RULES for _ in range(n)]
    wanted, tries = r.randint(3, 14), 0
    while len(g.values) <= wanted and tries < 200:
        tries += 1
        recent = g.values[-1] if r.random() < 0.7 else r.choice(g.values)
        g.take(r.choice(rules), recent)
    if len(g.values) == 1:
        g.take(pointwise, g.values[0])
    outputs = [g.values[-1]] + (r.sample(g.values[1:-1], min(len(g.values) - 2, r.randint(1, 2))) if r.random() < 0.3 and len(g.values) > 2 else [])
    return g.finish(outputs) + (outputs,)
