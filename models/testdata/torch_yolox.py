#!/usr/bin/python3
"""Outputs of YOLOX for two images in float64, in eval mode, from weights, statistics and images
that this script and the test compute in the same way: see torch_logits.py. The networks follow the layers and names
of github.com/Megvii-BaseDetection/YOLOX (Apache-2.0). Needs Debian's python3-torch.

usage: torch_yolox.py > torch_yolox.txt

Each line: architecture, height, width, number of parameters and batch norms with 80 classes,
SHA-256 of the names and shapes of the state with 80 classes as in torch_names.py, then the
outputs for 3 classes, 2 x 8 x places.
"""
import hashlib

import numpy as np
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, i, o, k, s, groups=1):
        super().__init__()
        self.conv = nn.Conv2d(i, o, k, s, (k - 1) // 2, groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(o, eps=1e-3, momentum=0.03)

    def forward(self, x):
        return nn.functional.silu(self.bn(self.conv(x)))


class Depthwise(nn.Module):
    def __init__(self, i, o, k, s):
        super().__init__()
        self.dconv, self.pconv = Base(i, i, k, s, i), Base(i, o, 1, 1)

    def forward(self, x):
        return self.pconv(self.dconv(x))


class Bottleneck(nn.Module):
    def __init__(self, i, conv, shortcut):
        super().__init__()
        self.conv1, self.conv2, self.shortcut = Base(i, i, 1, 1), conv(i, i, 3, 1), shortcut

    def forward(self, x):
        y = self.conv2(self.conv1(x))
        return y + x if self.shortcut else y


class CSP(nn.Module):
    def __init__(self, i, o, n, conv, shortcut):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = Base(i, o // 2, 1, 1), Base(i, o // 2, 1, 1), Base(o // 2 * 2, o, 1, 1)
        self.m = nn.Sequential(*[Bottleneck(o // 2, conv, shortcut) for _ in range(n)])

    def forward(self, x):
        return self.conv3(torch.cat((self.m(self.conv1(x)), self.conv2(x)), 1))


class SPP(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.conv1, self.conv2 = Base(i, i // 2, 1, 1), Base(i * 2, i, 1, 1)

    def forward(self, x):
        x = self.conv1(x)
        return self.conv2(torch.cat([x] + [nn.functional.max_pool2d(x, k, 1, k // 2) for k in (5, 9, 13)], 1))


class Stem(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.conv = Base(12, o, 3, 1)

    def forward(self, x):
        return self.conv(torch.cat((x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]), 1))


class Darknet(nn.Module):
    def __init__(self, depth, width, conv):
        super().__init__()
        c, n = int(64 * width), max(round(depth * 3), 1)
        self.stem = Stem(c)
        self.dark2 = nn.Sequential(conv(c, 2 * c, 3, 2), CSP(2 * c, 2 * c, n, conv, True))
        self.dark3 = nn.Sequential(conv(2 * c, 4 * c, 3, 2), CSP(4 * c, 4 * c, 3 * n, conv, True))
        self.dark4 = nn.Sequential(conv(4 * c, 8 * c, 3, 2), CSP(8 * c, 8 * c, 3 * n, conv, True))
        self.dark5 = nn.Sequential(conv(8 * c, 16 * c, 3, 2), SPP(16 * c), CSP(16 * c, 16 * c, n, conv, False))

    def forward(self, x):
        x3 = self.dark3(self.dark2(self.stem(x)))
        x4 = self.dark4(x3)
        return x3, x4, self.dark5(x4)


class FPN(nn.Module):
    def __init__(self, depth, width, conv):
        super().__init__()
        a, b, c, n = int(256 * width), int(512 * width), int(1024 * width), round(3 * depth)
        self.backbone = Darknet(depth, width, conv)
        self.lateral_conv0, self.C3_p4 = Base(c, b, 1, 1), CSP(2 * b, b, n, conv, False)
        self.reduce_conv1, self.C3_p3 = Base(b, a, 1, 1), CSP(2 * a, a, n, conv, False)
        self.bu_conv2, self.C3_n3 = conv(a, a, 3, 2), CSP(2 * a, b, n, conv, False)
        self.bu_conv1, self.C3_n4 = conv(b, b, 3, 2), CSP(2 * b, c, n, conv, False)

    def forward(self, x):
        x3, x4, x5 = self.backbone(x)
        twice = lambda x: nn.functional.interpolate(x, scale_factor=2, mode="nearest")
        lateral = self.lateral_conv0(x5)
        reduced = self.reduce_conv1(self.C3_p4(torch.cat([twice(lateral), x4], 1)))
        out2 = self.C3_p3(torch.cat([twice(reduced), x3], 1))
        out1 = self.C3_n3(torch.cat([self.bu_conv2(out2), reduced], 1))
        return out2, out1, self.C3_n4(torch.cat([self.bu_conv1(out1), lateral], 1))


class Head(nn.Module):
    def __init__(self, classes, width, conv):
        super().__init__()
        c, many = int(256 * width), lambda f: nn.ModuleList([f(k) for k in range(3)])
        two = lambda k: nn.Sequential(conv(c, c, 3, 1), conv(c, c, 3, 1))
        self.cls_convs, self.reg_convs = many(two), many(two)
        self.cls_preds, self.reg_preds = many(lambda k: nn.Conv2d(c, classes, 1)), many(lambda k: nn.Conv2d(c, 4, 1))
        self.obj_preds = many(lambda k: nn.Conv2d(c, 1, 1))
        self.stems = many(lambda k: Base(int((256 << k) * width), c, 1, 1))

    def forward(self, maps):
        out = []
        for k, x in enumerate(maps):
            x = self.stems[k](x)
            box = self.reg_convs[k](x)
            rows = [self.reg_preds[k](box), self.obj_preds[k](box), self.cls_preds[k](self.cls_convs[k](x))]
            out.append(torch.cat(rows, 1).flatten(2))
        return torch.cat(out, 2)


class YOLOX(nn.Module):
    def __init__(self, classes, depth, width, depthwise):
        super().__init__()
        conv = Depthwise if depthwise else Base
        self.backbone, self.head = FPN(depth, width, conv), Head(classes, width, conv)

    def forward(self, x):
        return self.head(self.backbone(x))


def words(stream, count):
    """Element i of a stream: 32 bits of splitmix64 at (stream << 32) + i."""
    z = (np.uint64(stream << 32) + np.arange(count, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(32)


def number(stream, shape, centre, spread):
    """float32 numbers uniform in centre +- spread."""
    u = words(stream, int(np.prod(shape))).astype(np.float64) / 2**31 - 1
    return torch.tensor((centre + spread * u).astype(np.float32).reshape(shape))


def state(model):
    return {k: v for k, v in sorted(model.state_dict().items()) if not k.endswith("num_batches_tracked")}


def main():
    for name, depth, width, depthwise in (("yolox-nano", 0.33, 0.25, True), ("yolox-tiny", 0.33, 0.375, False),
                                          ("yolox-s", 0.33, 0.5, False)):
        whole = YOLOX(80, depth, width, depthwise)
        digest = hashlib.sha256("".join(f"{k} {list(v.shape)}\n" for k, v in state(whole).items()).encode())
        norms = sum(isinstance(m, nn.BatchNorm2d) for m in whole.modules())
        model = YOLOX(3, depth, width, depthwise).double().eval()
        for k, (key, v) in enumerate(state(model).items()):  # tensor k by name is stream k + 1
            shape = tuple(v.shape)
            if len(shape) > 1:
                v.copy_(number(k + 1, shape, 0.0, 2.0 / np.sqrt(np.prod(shape[1:]))))
            else:
                one = key.endswith(("running_var", "weight"))
                v.copy_(number(k + 1, shape, 1.0 if one else 0.0, 0.25))
        height, width = 64, 32
        x = (words(1000, 2 * height * width * 3) >> np.uint64(24)).astype(np.float64).reshape(2, height, width, 3)
        with torch.no_grad():  # the input of the networks is blue, green, red from 0 to 255
            y = model(torch.tensor(x[..., ::-1].copy()).permute(0, 3, 1, 2))
        print(name, height, width, sum(p.numel() for p in whole.parameters()), norms, digest.hexdigest(),
              *(f"{v:.9g}" for v in y.flatten().tolist()))


if __name__ == "__main__":
    main()
