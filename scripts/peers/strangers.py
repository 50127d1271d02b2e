"""strangers.py: networks of a stranger's own, from PyTorch through ONNX into training and back.

strangers.py FOLDER make [NAME...]
    Makes each network with random weights and statistics, and writes NAME.onnx (batch norms kept: eval and PRESERVE),
    NAME.training.onnx (TrainingMode.TRAINING), NAME.folded.onnx (TrainingMode.EVAL), NAME.pth (its state_dict),
    NAME.x.npy and NAME.y.npy (samples and labels).
strangers.py FOLDER check [NAME...]
    Loads NAME.back.pth, what bnctl trained and exported, by load_state_dict(strict=True), and compares its outputs with
    NAME.out.*.npy, those of bnctl's template: a JSON line for each, with the largest difference, relative to the largest
    output, and how far training has moved the outputs. Ends with 1 where the difference is beyond 1e-5.
strangers.py FILE table
    Prints docs/results/user-networks.json of such lines.
"""
import json
import os
import sys
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

warnings.simplefilter("ignore")


def block(i, o, **more):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False, **more), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Residual(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.conv_a, self.norm_a = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.conv_b, self.norm_b = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.short = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if i != o else nn.Identity()

    def forward(self, x):
        y = F.relu(self.norm_a(self.conv_a(x)))
        return F.relu(self.norm_b(self.conv_b(y)) + self.short(x))


class ResNetLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = block(3, 8)
        self.body = nn.Sequential(Residual(8, 8, 1), Residual(8, 16, 2))
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


class VGGLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(block(3, 8), block(8, 8), nn.MaxPool2d(2), block(8, 16), nn.MaxPool2d(2))
        self.avgpool = nn.AdaptiveAvgPool2d((2, 2))
        self.classifier = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(True), nn.Linear(32, 5))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


class Inverted(nn.Module):
    def __init__(self, i, o, stride, expand):
        super().__init__()
        h = i * expand
        self.conv = nn.Sequential(nn.Conv2d(i, h, 1, bias=False), nn.BatchNorm2d(h), nn.ReLU6(True),
                                  nn.Conv2d(h, h, 3, stride, 1, groups=h, bias=False), nn.BatchNorm2d(h), nn.ReLU6(True),
                                  nn.Conv2d(h, o, 1, bias=False), nn.BatchNorm2d(o))
        self.same = stride == 1 and i == o

    def forward(self, x):
        return x + self.conv(x) if self.same else self.conv(x)


class MobileNetLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = block(3, 8, stride=2)
        self.rest = nn.Sequential(Inverted(8, 8, 1, 2), Inverted(8, 12, 2, 3))
        self.last = nn.Conv2d(12, 24, 1)
        self.act = nn.Hardswish()
        self.classifier = nn.Linear(24, 5)

    def forward(self, x):
        x = self.act(self.last(self.rest(self.first(x))))
        return self.classifier(F.adaptive_avg_pool2d(x, 1).flatten(1))


class DenseNetLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norms = nn.ModuleList([nn.BatchNorm2d(8 + 4 * i) for i in range(3)])
        self.convs = nn.ModuleList([nn.Conv2d(8 + 4 * i, 4, 3, padding=1, bias=False) for i in range(3)])
        self.norm5 = nn.BatchNorm2d(20)
        self.classifier = nn.Linear(20, 5)

    def forward(self, x):
        x = self.first(x)
        for n, c in zip(self.norms, self.convs):
            x = torch.cat([x, c(F.relu(n(x)))], 1)
        return self.classifier(F.avg_pool2d(F.relu(self.norm5(x)), 2).mean([2, 3]))


class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = block(3, 16)
        self.se = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 4, 1), nn.SiLU(), nn.Conv2d(4, 16, 1), nn.Sigmoid())
        self.conv, self.bn = nn.Conv2d(16, 16, 3, 2, 1), nn.BatchNorm2d(16, eps=1e-3, momentum=0.01)
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        x = self.stem(x)
        x = F.silu(self.bn(self.conv(x * self.se(x))))
        return self.fc(F.adaptive_avg_pool2d(x, (1, 1)).view(x.size(0), -1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = block(3, 8), block(8, 16)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.merge = block(16, 8)
        self.smooth = block(8, 8)
        self.out = nn.Conv2d(8, 5, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.merge(torch.cat([self.up(b), a], 1))
        c = F.interpolate(self.smooth(F.avg_pool2d(c, 2)), scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(c)


class Groups(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = block(3, 12), block(12, 24, groups=4)
        self.shuffle = nn.ChannelShuffle(4)
        self.c = block(24, 24, groups=3, dilation=1)
        self.gn = nn.GroupNorm(4, 24)
        self.fc = nn.Linear(24, 5)

    def forward(self, x):
        x = self.b(self.a(x))
        n, c, h, w = x.shape
        x = x.view(-1, 4, c // 4, h, w).transpose(1, 2).reshape(-1, c, h, w)
        return self.fc(torch.amax(F.leaky_relu(self.gn(self.c(x)), 0.1), (2, 3)))


class Dropouts(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 5), nn.BatchNorm2d(8)
        self.early = nn.Dropout(0.1)
        self.conv2, self.bn2 = nn.Conv2d(8, 16, 3, stride=2), nn.BatchNorm2d(16)
        self.prelu = nn.PReLU(16)
        self.drop = nn.Dropout(0.3)
        self.fc1, self.fc2 = nn.Linear(16 * 5 * 5, 32), nn.Linear(32, 5)

    def forward(self, x):
        x = self.early(F.elu(self.bn1(self.conv1(x))))
        x = self.prelu(self.bn2(self.conv2(x)))
        return self.fc2(self.drop(torch.tanh(self.fc1(x.flatten(1)))))


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(block(3, 8), nn.MaxPool2d(2), block(8, 16))
        self.kind, self.where = nn.Linear(16, 5), nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, x):
        x = self.trunk(x).mean((2, 3))
        return self.kind(x), self.where(x)


class OneD(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv1d(4, 8, 5, padding=2, bias=False), nn.BatchNorm1d(8)
        self.conv2, self.bn2 = nn.Conv1d(8, 16, 3, stride=2, padding=2, dilation=2, bias=False), nn.BatchNorm1d(16)
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.bn1(self.conv1(x))), 2)
        return self.fc(F.gelu(self.bn2(self.conv2(x))).mean(2))


NETWORKS = {"resnet": ResNetLike, "vgg": VGGLike, "mobilenet": MobileNetLike, "densenet": DenseNetLike, "squeeze-excite": SqueezeExcite,
            "unet": UNet, "groups": Groups, "dropout": Dropouts, "two-heads": TwoHeads, "one-d": OneD}


def build(name):
    torch.manual_seed(len(name))
    net = NETWORKS[name]()
    for m in net.modules():
        if isinstance(m, nn.modules.batchnorm._BatchNorm):
            m.running_mean.uniform_(-0.5, 0.5)
            m.running_var.uniform_(0.5, 2)
            nn.init.uniform_(m.weight, 0.7, 1.3)
            nn.init.uniform_(m.bias, -0.2, 0.2)
    return net


def samples(name):
    rng = np.random.default_rng(7)
    x = rng.standard_normal((48, 4, 32) if name == "one-d" else (48, 3, 16, 16), dtype=np.float32)
    return x, rng.integers(0, 5, (48, 16, 16) if name == "unet" else (48,), dtype=np.int64)


def export(net, x, path, mode):
    outs = ["kind", "where"] if isinstance(net, TwoHeads) else ["out"]
    more = {"dynamo": False} if torch.__version__ >= "2.5" else {}
    fold = mode == "EVAL"
    net.train(mode == "TRAINING")
    torch.onnx.export(net, x[:2].clone(), path, training=getattr(torch.onnx.TrainingMode, mode), do_constant_folding=fold,
                      opset_version=int(os.environ.get("OPSET", 13)), input_names=["x"], output_names=outs,
                      dynamic_axes={k: {0: "n"} for k in ["x"] + outs}, **more)
    net.eval()


def make(folder, name):
    net = build(name).eval()
    x, y = samples(name)
    np.save(f"{folder}/{name}.x.npy", x)
    np.save(f"{folder}/{name}.y.npy", y)
    torch.save(net.state_dict(), f"{folder}/{name}.pth")
    for mode, end in (("PRESERVE", ""), ("EVAL", ".folded"), ("TRAINING", ".training")):
        export(build(name).eval(), torch.from_numpy(x), f"{folder}/{name}{end}.onnx", mode)


def check(folder, name, end=""):
    net = NETWORKS[name]()
    net.load_state_dict(torch.load(f"{folder}/{name}{end}.back.pth"), strict=True)
    x, _ = samples(name)
    with torch.no_grad():
        want = net.eval()(torch.from_numpy(x))
        fresh = build(name).eval()(torch.from_numpy(x))
    far, moved = 0.0, 0.0
    many = isinstance(want, tuple)
    for i, (w, old) in enumerate(zip(want if many else [want], fresh if many else [fresh])):
        out = f"{name}{end}.out.{['kind', 'where'][i]}.npy" if many else f"{name}{end}.out.npy"
        got = np.load(f"{folder}/{out}")
        far = max(far, float(np.abs(got - w.numpy()).max()) / float(w.abs().max()))
        moved = max(moved, float((w - old).abs().max()))
    return far, moved


def table(path):
    rows = {}
    for line in map(json.loads, open(path)):
        rows.setdefault(line["network"], {})[line["torch"][:4].rstrip("."), line["from"]] = line
    columns = [(t, way) for t in ("1.13", "2.6") for way in ("onnx", "training", "draft")]
    made = [[name] + [f"{r[c]['difference']:.0e}" if "difference" in r.get(c, {}) else "failed" if c in r else "" for c in columns]
            for name, r in rows.items()]
    print(json.dumps({
        "processor": "Intel(R) Xeon(R) Processor (AMX, AVX-512), 2 logical CPUs, virtual", "measured": "2026-11-26",
        "command": "make test-strangers", "conditions": "PyTorch 1.13.0a0 and 2.6.0+debian, operator set 13",
        "columns": ["network"] + [f"{t}, {'ONNX' if w == 'onnx' else w}" for t, w in columns], "rows": made}, indent=1))


if __name__ == "__main__":
    folder, what, names = sys.argv[1], sys.argv[2], sys.argv[3:] or list(NETWORKS)
    if what == "table":
        table(folder)
        sys.exit()
    bad = 0
    for name in names:
        if what == "make":
            make(folder, name)
            continue
        for end in ("", ".training", ".draft"):
            try:
                far, moved = check(folder, name, end)
                line = {"network": name, "from": end[1:] or "onnx", "torch": torch.__version__, "difference": far, "moved": moved}
                wrong = not (far <= 1e-5 and moved > 1e-3)
            except Exception as e:
                line, wrong = {"network": name, "from": end[1:] or "onnx", "torch": torch.__version__, "error": str(e)[:400]}, True
            bad += wrong
            print(json.dumps(line), flush=True)
    sys.exit(bad > 0)
