#!/usr/bin/python3
"""Logits of torchvision's networks for pixels, and of ESPNet-C written as in its
paper with the names of its published code, in eval mode and float64, from
weights and an image that both sides compute: see number() of resnet20_steps.py,
whose streams these are. Needs Debian's python3-torchvision.

usage: segment_forward.py > segment_forward.txt

Lines: "NAME RMS V0 ... V31" with the root of the mean square of the logits of
one image of 64x64 and the elements i*count/32.
"""
import numpy as np
import torch
import torchvision

SEED, SIDE, CLASSES = 3, 64, 4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def words(stream, count):
    z = (np.uint64((10000 * SEED + stream) << 32) + np.arange(count, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(32)


def number(stream, shape, centre, spread):
    u = words(stream, int(np.prod(shape))).astype(np.float64) / 2**31 - 1
    return torch.tensor((centre + spread * u).astype(np.float32).reshape(shape))


def start(model):
    state = [(k, v) for k, v in model.state_dict().items() if not k.endswith("num_batches_tracked")]
    norms = {k[: -len(".running_mean")] for k, _ in state if k.endswith(".running_mean")}
    for k, (name, v) in enumerate(state):
        shape = tuple(v.shape)
        if name.endswith("running_mean"):
            centre, spread = 0.0, 0.0
        elif name.endswith("running_var"):
            centre, spread = 1.0, 0.0
        elif name[: -len(".weight")] in norms:
            centre, spread = 1.0, 0.25
        elif len(shape) == 1:
            centre, spread = 0.0, 0.25
        else:
            centre, spread = 0.0, 2.0 / np.sqrt(np.prod(shape[1:]))
        v.copy_(number(k + 1, shape, centre, spread))


class Layers(torch.nn.Module):
    def __init__(self, **layers):
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)


def conv(i, o, k, stride=1, rate=1):
    return Layers(conv=torch.nn.Conv2d(i, o, k, stride, (k - 1) // 2 * rate, rate, bias=False))


class BR(Layers):
    def __init__(self, c):
        super().__init__(bn=torch.nn.BatchNorm2d(c, eps=1e-3), act=torch.nn.PReLU(c))

    def forward(self, x):
        return self.act(self.bn(x))


class ESP(torch.nn.Module):
    def __init__(self, i, o, down):
        super().__init__()
        n = o // 5
        self.down, self.c1 = down, conv(i, n, 3, 2) if down else conv(i, n, 1)
        self.d1 = conv(n, o - 4 * n, 3)
        for rate in (2, 4, 8, 16):
            setattr(self, f"d{rate}", conv(n, n, 3, 1, rate))
        if down:
            self.bn, self.act = torch.nn.BatchNorm2d(o, eps=1e-3), torch.nn.PReLU(o)
        else:
            self.bn = BR(o)

    def forward(self, x):
        y = self.c1.conv(x)
        joined = [self.d1.conv(y), self.d2.conv(y)]
        for layer in (self.d4, self.d8, self.d16):
            joined.append(joined[-1] + layer.conv(y))
        y = torch.cat(joined, 1)
        return self.act(self.bn(y)) if self.down else self.bn(x + y)


class ESPNetC(torch.nn.Module):
    def __init__(self, classes, p=2, q=8):
        super().__init__()
        self.level1 = BR(16)
        level1 = torch.nn.Conv2d(3, 16, 3, 2, 1, bias=False)
        self.level1 = Layers(conv=level1, bn=self.level1.bn, act=self.level1.act)
        self.b1 = BR(19)
        self.level2_0 = ESP(19, 64, True)
        self.level2 = torch.nn.Sequential(*(ESP(64, 64, False) for _ in range(p)))
        self.b2 = BR(131)
        self.level3_0 = ESP(131, 128, True)
        self.level3 = torch.nn.Sequential(*(ESP(128, 128, False) for _ in range(q)))
        self.b3 = BR(256)
        self.classifier = conv(256, classes, 1)

    def forward(self, x):
        halved = torch.nn.AvgPool2d(3, 2, 1)
        half = halved(x)
        y = self.level1.act(self.level1.bn(self.level1.conv(x)))
        down = self.level2_0(self.b1(torch.cat((y, half), 1)))
        down = self.level3_0(self.b2(torch.cat((self.level2(down), down, halved(half)), 1)))
        y = self.classifier.conv(self.b3(torch.cat((down, self.level3(down)), 1)))
        return {"out": torch.nn.functional.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)}


def published(name):
    more = {} if name.startswith("lraspp") else {"aux_loss": False}
    return getattr(torchvision.models.segmentation, name)(
        weights=None, weights_backbone=None, num_classes=CLASSES, **more)


x = (words(1000, SIDE * SIDE * 3) >> np.uint64(24)).astype(np.float64).reshape(1, SIDE, SIDE, 3)
x = torch.tensor(((x * (1 / 255) - np.array(MEAN)) / np.array(STD)).astype(np.float32)).permute(0, 3, 1, 2).double()
for name in ("fcn_resnet50", "deeplabv3_resnet50", "lraspp_mobilenet_v3_large", "espnet-c"):
    model = (ESPNetC(CLASSES) if name == "espnet-c" else published(name)).double()
    start(model)
    with torch.no_grad():
        y = model.eval()(x)["out"].flatten()
    rms = y.square().mean().sqrt().item()
    print(name.replace("mobilenet_v3", "mobilenetv3").replace("_", "-"), f"{rms:.9g}", *(f"{y[i * y.numel() // 32].item():.9g}" for i in range(32)))
