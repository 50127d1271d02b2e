"""trainrecipes.py BNCTL COUNT [FIRST] [--keep DIR], or trainrecipes.py --golden DIR NUMBER...

Trains random PyTorch modules for one step of SGD, in PyTorch and, from their ONNX files, in bnctl. Compares every tensor
of the state dict: its name, its shape, whether load_state_dict(strict=True) accepts all, and its value after the step.
Prints what differs and what bnctl refuses; exits with 1 if something differs. A recipe depends on its number alone.
--golden writes recipes with their data and PyTorch's state dict after the step, for go test -run TestStepAsPyTorch .
"""
import collections, copy, io, os, random, subprocess, sys, tempfile, warnings
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
RATE, ROWS = 0.25, 6


class Call(nn.Module):
    """Call is a module of a function."""
    def __init__(self, f):
        super().__init__(); self.f = f
    def forward(self, x): return self.f(x)


class Gelu(nn.Module):
    """Gelu is nn.GELU, whose gradient in Debian's PyTorch is wrong where the gradient behind it is turned."""
    def forward(self, x): return x * 0.5 * (1 + torch.erf(x / 2 ** 0.5))


class RMSNorm(nn.Module):
    def __init__(self, n, name):
        super().__init__(); self.name = name
        setattr(self, name, nn.Parameter(1 + 0.3 * torch.randn(n)))
    def forward(self, x):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
        return y * getattr(self, self.name)


class Scale(nn.Module):
    """Scale is a layer scale around a branch; form is how the factor gets axes."""
    def __init__(self, n, branch, form, r):
        super().__init__(); self.branch, self.form = branch, form
        shape = {"direct": (n, 1, 1), "index": (n,), "view": (n,), "last": (n,), "one": (1,), "scalar": ()}[form]
        self.gamma = nn.Parameter(torch.full(shape, 0.5) if r.random() < 0.5 else torch.randn(shape))
        self.adds = r.random() < 0.5
    def forward(self, x):
        g = self.gamma
        if self.form == "index": g = g[:, None, None]
        if self.form == "view": g = g.view(1, -1, 1, 1)
        y = g * self.branch(x) if self.adds else self.branch(x) * g
        return x + y


class Tokens(nn.Module):
    """Tokens puts a class token in front of positions and adds embeddings."""
    def __init__(self, n, width, r):
        super().__init__()
        self.cls, self.pos = nn.Parameter(torch.randn(1, 1, width)), nn.Parameter(torch.randn(1, n + 1, width))
        self.after = r.random() < 0.7
        self.second = nn.Parameter(torch.randn(1, 1, width)) if r.random() < 0.3 else None
    def forward(self, x):
        parts = [self.cls.expand(x.shape[0], -1, -1), x]
        y = torch.cat(parts, 1) + self.pos if self.after else torch.cat([parts[0], x + self.pos[:, 1:]], 1)
        if self.second is not None:
            y = torch.cat([y, self.second.expand(x.shape[0], -1, -1)], 1)
        return y


class Attention(nn.Module):
    def __init__(self, width, r):
        super().__init__()
        self.qkv, self.proj = nn.Linear(width, 3 * width, bias=r.random() < 0.5), nn.Linear(width, width)
        self.logit = nn.Parameter(torch.tensor(0.7)) if r.random() < 0.3 else None
    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).reshape(n, t, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        a = q @ k.transpose(-2, -1) * (c // 2) ** -0.5
        if self.logit is not None: a = a * self.logit
        return x + self.proj((a.softmax(-1) @ v).transpose(1, 2).reshape(n, t, c))


class Mixed(nn.Module):
    """Mixed multiplies with a matrix of its own, by the right or the left."""
    def __init__(self, n, width, r):
        super().__init__(); self.left = r.random() < 0.5
        self.W = nn.Parameter(torch.randn(n, n) if self.left else torch.randn(width, width))
        self.b = nn.Parameter(torch.randn(width)) if r.random() < 0.5 else None
    def forward(self, x):
        y = self.W @ x if self.left else x @ self.W
        return y if self.b is None else y + self.b


class TiedTransposed(nn.Module):
    def __init__(self, width, r):
        super().__init__(); self.a = nn.Linear(width, width + 2, bias=r.random() < 0.5)
    def forward(self, x): return F.linear(torch.tanh(self.a(x)), self.a.weight.t())


class TiedTwice(nn.Module):
    def __init__(self, width, r):
        super().__init__(); self.a = nn.Linear(width, width, bias=r.random() < 0.5)
    def forward(self, x): return self.a(torch.tanh(self.a(x)))


class Copies(nn.Module):
    """Copies has two layers that are equal at first, as nn.TransformerEncoder does."""
    def __init__(self, width, r):
        super().__init__(); self.a = nn.Linear(width, width, bias=r.random() < 0.7); self.b = copy.deepcopy(self.a)
    def forward(self, x): return self.b(torch.tanh(self.a(x)))


class Buffers(nn.Module):
    """Buffers has constants that must not change."""
    def __init__(self, c, r):
        super().__init__(); self.kind = r.choice(["mean", "grid", "anchors", "mask"])
        self.register_buffer(self.kind, torch.randn(1, c, 1, 1) if self.kind != "grid" else torch.randn(1, 1, 6, 6))
    def forward(self, x):
        b = getattr(self, self.kind)
        return x - b if self.kind == "mean" else x * b if self.kind == "mask" else x + b


class Embedded(nn.Module):
    """Embedded adds an embedding of places that are constants."""
    def __init__(self, n, width, r):
        super().__init__(); self.places = nn.Embedding(n, width)
        self.register_buffer("position_ids", torch.arange(n).flip(0) if r.random() < 0.5 else torch.arange(n))
    def forward(self, x): return x + self.places(self.position_ids)


class MaskedTokens(nn.Module):
    """MaskedTokens replaces places by a learned token."""
    def __init__(self, n, width):
        super().__init__(); self.token = nn.Parameter(torch.randn(1, 1, width))
        self.register_buffer("mask", (torch.arange(n) % 2 == 0).view(1, n, 1))
    def forward(self, x): return torch.where(self.mask, self.token, x)


class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__(); self.inner = inner
    def forward(self, x): return x + self.inner(x)


def norm(c, r):
    affine = r.random() < 0.5
    n = r.choice([lambda: nn.BatchNorm2d(c, affine=affine), lambda: nn.GroupNorm(2, c, affine=affine),
                  lambda: nn.InstanceNorm2d(c, affine=affine), lambda: nn.GroupNorm(1, c, affine=affine),
                  lambda: nn.BatchNorm2d(c, affine=affine, momentum=0.3)])()
    for p in n.parameters():
        if r.random() < 0.7: nn.init.normal_(p, 1, 0.3)
    return n


def activation(c, r):
    return r.choice([lambda: nn.PReLU(), lambda: nn.PReLU(c), nn.ReLU, Gelu, nn.Tanh, nn.SiLU,
                     lambda: nn.PReLU(init=0.1)])()


def pictured(c, side, r):
    """pictured is a block of pictures with c channels."""
    bias, k = r.random() < 0.5, r.choice([1, 3])
    conv = lambda: nn.Conv2d(c, c, k, padding=k // 2, bias=bias, groups=r.choice([1, 1, 2, c]))
    kinds = {
        "conv": conv, "norm": lambda: norm(c, r), "activation": lambda: activation(c, r),
        "transposed": lambda: nn.ConvTranspose2d(c, c, 3, padding=1, bias=bias, groups=r.choice([1, 2])),
        "layernorm": lambda: nn.LayerNorm([c, side, side], elementwise_affine=r.random() < 0.7),
        "scale": lambda: Scale(c, conv(), r.choice(["direct", "index", "view", "one", "scalar"]), r),
        "linear4": lambda: nn.Sequential(Call(lambda x: x.permute(0, 2, 3, 1)), nn.Linear(c, c, bias=bias),
                                         Call(lambda x: x.permute(0, 3, 1, 2))),
        "layernorm4": lambda: nn.Sequential(Call(lambda x: x.permute(0, 2, 3, 1)),
                                            nn.LayerNorm(c, elementwise_affine=bias),
                                            Call(lambda x: x.permute(0, 3, 1, 2))),
        "buffers": lambda: Buffers(c, r), "residual": lambda: Residual(nn.Sequential(conv(), activation(c, r))),
    }
    kind = r.choice(sorted(kinds))
    return kind, kinds[kind]()


def sequenced(n, width, r):
    """sequenced is a block of n tokens of a width."""
    bias = r.random() < 0.5
    kinds = {
        "linear3": lambda: nn.Linear(width, width, bias=bias), "rms": lambda: RMSNorm(width, r.choice(["weight", "scale", "g"])),
        "scale3": lambda: Scale(width, nn.Linear(width, width, bias=bias), r.choice(["last", "one"]), r),
        "attention": lambda: Attention(width, r), "matrix": lambda: Mixed(n, width, r),
        "tiedt": lambda: TiedTransposed(width, r), "tied": lambda: TiedTwice(width, r),
        "copies": lambda: Copies(width, r), "embedded": lambda: Embedded(n, width, r),
        "masked": lambda: MaskedTokens(n, width), "prelu3": lambda: nn.PReLU(),
        "layernorm3": lambda: nn.LayerNorm(width, elementwise_affine=bias),
        "mha": lambda: MHA(width),
    }
    kind = r.choice(sorted(kinds))
    return kind, kinds[kind]()


class MHA(nn.Module):
    def __init__(self, width):
        super().__init__(); self.attn = nn.MultiheadAttention(width, 2, batch_first=True)
    def forward(self, x): return x + self.attn(x, x, x, need_weights=False)[0]


def recipe(number):
    """recipe returns a module, its input and the names of its blocks."""
    r = random.Random(number)
    torch.manual_seed(number)
    channels, side, c = r.choice([1, 3]), 6, 4
    names, blocks = [], [nn.Conv2d(channels, c, 3, padding=1, bias=r.random() < 0.5)]
    if r.random() < 0.2:
        blocks.insert(0, Buffers(channels, r)); names.append("buffers-in")
    for _ in range(r.randint(1, 4)):
        kind, b = pictured(c, side, r)
        names.append(kind); blocks.append(b)
    shape = r.choice(["tokens", "tokens", "flat", "pool"])
    if shape == "tokens":
        blocks += [nn.AvgPool2d(2), Call(lambda x: x.flatten(2).transpose(1, 2))]
        n = 9
        if r.random() < 0.6:
            t = Tokens(n, c, r); blocks.append(t); names.append("cls")
            n += 1 + (t.second is not None)
        for _ in range(r.randint(1, 4)):
            kind, b = sequenced(n, c, r)
            names.append(kind); blocks.append(b)
        blocks.append(r.choice([Call(lambda x: x.mean(1)), Call(lambda x: x[:, 0])])); width = c
    elif shape == "flat":
        blocks.append(nn.Flatten()); width = c * side * side
    else:
        blocks.append(Call(lambda x: x.mean((2, 3)))); width = c
    if r.random() < 0.3:
        blocks += [nn.Linear(width, 8, bias=r.random() < 0.5), nn.BatchNorm1d(8, affine=r.random() < 0.5)]; width = 8
    blocks.append(nn.Linear(width, 3, bias=r.random() < 0.7))
    return nn.Sequential(*blocks), torch.randn(ROWS, channels, side, side), names, r


def export(m, x, path, r):
    """export writes m in one of the ways that keep its batch norms."""
    way = r.choice(["preserve", "preserve", "eval"])
    if any(isinstance(b, nn.modules.batchnorm._BatchNorm) for b in m.modules()):
        way = "preserve"  # the other one makes batch norms parts of convolutions
    args = {"preserve": dict(training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False), "eval": dict()}[way]
    m.eval()
    torch.onnx.export(m, x[:2], path, opset_version=r.choice([13, 14, 17]), input_names=["x"], output_names=["logits"],
                      dynamic_axes={"x": {0: "n"}, "logits": {0: "n"}}, **args)
    return way


def trained(m, x, y):
    """trained returns the state dict of m after a step."""
    m.train()
    F.cross_entropy(m(x), y).backward()
    with torch.no_grad():
        for p in m.parameters():
            if p.grad is not None: p -= RATE * p.grad
    return m.state_dict()


def compare(m, got, want, way):
    """compare returns what is wrong with a state dict, and the tensors that have no name in the file."""
    unnamed = []
    wrong, lost = [], {k: v for k, v in got.items() if k not in want}
    for k in want:
        if k not in got and way == "eval" and not k.endswith("num_batches_tracked"):
            # The exporter folded what moved the tensor, and its name is not in the file: the values are compared.
            same = [n for n, v in lost.items() if v.numel() == want[k].numel() and
                    any(torch.allclose(u.reshape(want[k].shape), want[k], rtol=2e-3, atol=2e-5) for u in
                        [v] + ([v.t()] if v.dim() == 2 else []))]
            if same: del lost[same[0]]; unnamed.append(k); continue
            part = [n for n, v in lost.items() if k.endswith("pos") and v.shape == want[k][:, 1:].shape and
                    torch.allclose(v, want[k][:, 1:], rtol=2e-3, atol=2e-5)]
            if part: del lost[part[0]]; unnamed.append(k); continue
            if k.endswith(("ids", "mask")): unnamed.append(k); continue  # a constant that was folded
        if k.endswith("num_batches_tracked"): continue
        if k not in got: wrong.append(f"{k} is missing")
        elif got[k].shape != want[k].shape: wrong.append(f"{k} has the shape {list(got[k].shape)}, want {list(want[k].shape)}")
        elif want[k].is_floating_point() and not torch.allclose(got[k].float(), want[k], rtol=2e-3, atol=2e-5):
            wrong.append(f"{k} differs by {float((got[k] - want[k]).abs().max()):.3g}")
    wrong += [f"{k} is unexpected" for k in lost]
    if not wrong and not unnamed:
        try: m.load_state_dict(got, strict=True)
        except Exception as e: wrong.append("strict: " + str(e)[:200])
    return wrong, unnamed


def golden(folder, numbers):
    """golden writes recipes for the test in Go."""
    os.makedirs(folder, exist_ok=True)
    for number in numbers:
        m, x, names, r = recipe(number)
        y = torch.tensor([i % 3 for i in range(ROWS)])
        path = lambda name: os.path.join(folder, f"{number}.{name}")
        print(number, names, export(m, x, path("onnx"), r))
        np.save(path("x.npy"), x.numpy()); np.save(path("y.npy"), y.numpy())
        torch.save({k: v.clone() for k, v in trained(m, x, y).items()}, path("pth"))


def main():
    if sys.argv[1] == "--golden": return golden(sys.argv[2], [int(n) for n in sys.argv[3:]])
    args = sys.argv[1:]
    keep = args[args.index("--keep") + 1] if "--keep" in args else None
    bnctl, count, first = args[0], int(args[1]), int(args[2]) if len(args) > 2 and args[2][0] != "-" else 0
    tally, refusals = collections.Counter(), collections.Counter()
    for number in range(first, first + count):
        m, x, names, r = recipe(number)
        y = torch.tensor([i % 3 for i in range(ROWS)])
        with tempfile.TemporaryDirectory() as tmp:
            at = keep or tmp
            path = lambda name: os.path.join(at, f"{number}.{name}")
            try: way = export(m, x, path("onnx"), r)
            except Exception as e:
                tally["not exported"] += 1; continue
            np.save(path("x.npy"), x.numpy()); np.save(path("y.npy"), y.numpy())
            run = subprocess.run([bnctl, "train", "--model", path("onnx"), "--data", f"npy:{path('x.npy')},{path('y.npy')}",
                "--steps", "1", "--batch", str(ROWS), "--replicas", "1", "--optimizer", "sgd", "--momentum", "0",
                "--weight-decay", "0", "--lr", str(RATE), "--overwrite", "-o", path("bnm")], capture_output=True, text=True)
            if run.returncode == 0:
                run = subprocess.run([bnctl, "export", path("bnm"), "-o", path("pth")], capture_output=True, text=True)
            if run.returncode != 0:
                text = run.stderr.strip().splitlines()[-1] if run.stderr.strip() else str(run.returncode)
                tally["refused"] += 1; refusals[text.split("onnx: ")[-1][:150]] += 1
                print(f"{number} [{' '.join(names)}] {way}: refused: {text}")
                continue
            wrong, unnamed = compare(m, torch.load(path("pth")), trained(m, x, y), way)
        tally["wrong" if wrong else "right but for names that the exporter dropped" if unnamed else "right"] += 1
        if wrong: print(f"{number} [{' '.join(names)}] {way}: " + "; ".join(wrong[:4]))
    for text, n in refusals.most_common(): print(f"refused {n} times: {text}")
    print(", ".join(f"{n} {what}" for what, n in sorted(tally.items())))
    sys.exit(1 if tally["wrong"] else 0)


if __name__ == "__main__": main()
