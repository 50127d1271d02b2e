"""zoo.py: networks for `make bench-peers ROWS=infer-zoo,train-zoo` whose activations are not relu alone.

Of torchvision, without dropout and stochastic depth, and two detectors in the form of their papers
and published configurations: YOLOX-nano (Ge et al. 2021: depthwise convolutions, decoupled heads) and
YOLOv8n (C2f blocks, two convolutions for each head). Both give what comes before the decoding of boxes:
(N, channels of a cell, cells) over the three strides.
"""
import torch
import torchvision
from torch import nn
from torch.nn import functional as F


def conv(before, after, kernel=1, stride=1, groups=1):
    """A convolution, batch norm and silu, as both families have it."""
    return nn.Sequential(nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(after, eps=1e-3), nn.SiLU())


def separable(before, after, kernel=3, stride=1):
    return nn.Sequential(conv(before, before, kernel, stride, groups=before), conv(before, after))


class Bottleneck(nn.Module):
    def __init__(self, first, second, shortcut):
        super().__init__()
        self.first, self.second, self.shortcut = first, second, shortcut

    def forward(self, x):
        y = self.second(self.first(x))
        return x + y if self.shortcut else y


class CSP(nn.Module):
    """Half of the channels through blocks, half past them (Wang et al. 2019, as YOLOX has it)."""

    def __init__(self, before, after, depth=1, shortcut=True):
        super().__init__()
        width = after // 2
        self.first, self.past, self.last = conv(before, width), conv(before, width), conv(2 * width, after)
        self.blocks = nn.Sequential(*(Bottleneck(conv(width, width), separable(width, width), shortcut)
                                      for _ in range(depth)))

    def forward(self, x):
        return self.last(torch.cat([self.blocks(self.first(x)), self.past(x)], 1))


class C2f(nn.Module):
    """Every block's result is concatenated (YOLOv8)."""

    def __init__(self, before, after, depth=1, shortcut=True):
        super().__init__()
        self.width = after // 2
        self.first, self.last = conv(before, after), conv((2 + depth) * self.width, after)
        self.blocks = nn.ModuleList(Bottleneck(conv(self.width, self.width, 3), conv(self.width, self.width, 3), shortcut)
                                    for _ in range(depth))

    def forward(self, x):
        parts = list(self.first(x).split((self.width, self.width), 1))
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.last(torch.cat(parts, 1))


class Pyramid(nn.Module):
    """Max pools of growing windows, concatenated; in turn (YOLOv8) or side by side (YOLOX)."""

    def __init__(self, before, after, windows, in_turn):
        super().__init__()
        self.first, self.last = conv(before, before // 2), conv(before // 2 * (1 + len(windows)), after)
        self.windows, self.in_turn = windows, in_turn

    def forward(self, x):
        parts = [self.first(x)]
        for k in self.windows:
            parts.append(F.max_pool2d(parts[-1] if self.in_turn else parts[0], k, 1, k // 2))
        return self.last(torch.cat(parts, 1))


class Detector(nn.Module):
    """A backbone of three scales, a path down and a path up, a head for each scale."""

    def __init__(self, stages, merges, downs, laterals, heads):
        super().__init__()
        self.stages, self.merges = nn.ModuleList(stages), nn.ModuleList(merges)
        self.laterals, self.downs, self.heads = nn.ModuleList(laterals), nn.ModuleList(downs), nn.ModuleList(heads)

    def forward(self, x):
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        low, mid, top = maps[-3:]
        top = self.laterals[0](top)
        half = self.laterals[1](self.merges[0](torch.cat([F.interpolate(top, scale_factor=2, mode="nearest"), mid], 1)))
        fine = self.merges[1](torch.cat([F.interpolate(half, scale_factor=2, mode="nearest"), low], 1))
        middle = self.merges[2](torch.cat([self.downs[0](fine), half], 1))
        coarse = self.merges[3](torch.cat([self.downs[1](middle), top], 1))
        return torch.cat([head(m).flatten(2) for head, m in zip(self.heads, (fine, middle, coarse))], 2)


class Focus(nn.Module):
    """Every second pixel of rows and columns becomes a channel."""

    def __init__(self, after):
        super().__init__()
        self.conv = conv(12, after, 3)

    def forward(self, x):
        return self.conv(torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], 1))


class Branches(nn.Module):
    """Branches of one map, concatenated."""

    def __init__(self, stem, *branches):
        super().__init__()
        self.stem, self.branches = stem, nn.ModuleList(branches)

    def forward(self, x):
        x = self.stem(x)
        return torch.cat([branch(x) for branch in self.branches], 1)


def yolox_nano():
    """Depth 0.33, width 0.25, 80 classes."""
    w = [16, 32, 64, 128, 256]
    down = lambda i: separable(w[i], w[i + 1], 3, 2)
    stages = [Focus(w[0]), nn.Sequential(down(0), CSP(w[1], w[1], 1)), nn.Sequential(down(1), CSP(w[2], w[2], 3)),
              nn.Sequential(down(2), CSP(w[3], w[3], 3)),
              nn.Sequential(down(3), Pyramid(w[4], w[4], (5, 9, 13), False), CSP(w[4], w[4], 1, False))]
    merges = [CSP(2 * w[3], w[3], 1, False), CSP(2 * w[2], w[2], 1, False), CSP(2 * w[2], w[3], 1, False),
              CSP(2 * w[3], w[4], 1, False)]

    def head(before):
        tower = lambda *outs: nn.Sequential(separable(64, 64), separable(64, 64), nn.Conv2d(64, sum(outs), 1))
        return Branches(conv(before, 64), tower(4, 1), tower(80))

    return Detector(stages, merges, [separable(w[2], w[2], 3, 2), separable(w[3], w[3], 3, 2)],
                    [conv(w[4], w[3]), conv(w[3], w[2])], [head(w[2]), head(w[3]), head(w[4])])


def yolov8n():
    """Depth 0.33, width 0.25, 80 classes, 16 bins for each side of a box."""
    w = [16, 32, 64, 128, 256]
    down = lambda i: conv(w[i], w[i + 1], 3, 2)
    stages = [conv(3, w[0], 3, 2), nn.Sequential(down(0), C2f(w[1], w[1], 1)), nn.Sequential(down(1), C2f(w[2], w[2], 2)),
              nn.Sequential(down(2), C2f(w[3], w[3], 2)),
              nn.Sequential(down(3), C2f(w[4], w[4], 1), Pyramid(w[4], w[4], (5, 5, 5), True))]
    merges = [C2f(w[4] + w[3], w[3], 1, False), C2f(w[3] + w[2], w[2], 1, False), C2f(w[2] + w[3], w[3], 1, False),
              C2f(w[3] + w[4], w[4], 1, False)]

    def head(before):
        tower = lambda width, out: nn.Sequential(conv(before, width, 3), conv(width, width, 3), nn.Conv2d(width, out, 1))
        return Branches(nn.Identity(), tower(64, 64), tower(80, 80))

    return Detector(stages, merges, [conv(w[2], w[2], 3, 2), conv(w[3], w[3], 3, 2)],
                    [nn.Identity(), nn.Identity()], [head(w[2]), head(w[3]), head(w[4])])


def still(make):
    """A network of torchvision in which nothing is dropped."""
    network = make(weights=None)
    for m in network.modules():
        if isinstance(m, (nn.Dropout, torchvision.ops.StochasticDepth)):
            m.p = 0.0
    return network


NETWORKS = {
    "efficientnet-b0": lambda: still(torchvision.models.efficientnet_b0),
    "mobilenetv3-large": lambda: still(torchvision.models.mobilenet_v3_large),
    "mobilenetv3-small": lambda: still(torchvision.models.mobilenet_v3_small),
    "shufflenetv2": lambda: still(torchvision.models.shufflenet_v2_x1_0),
    "yolox-nano": yolox_nano,
    "yolov8n": yolov8n,
}
INPUTS = {name: ((3, 320, 320) if name.startswith("yolo") else (3, 224, 224), 1000) for name in NETWORKS}
