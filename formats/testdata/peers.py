"""Loads exported weights with PyTorch's and torchvision's own classes and
computes the outputs. Called by TestPeerTorchvision:

    python3 peers.py MODEL CLASSES WEIGHTS.pth [PIXELS SIDE]

PIXELS holds two square images, u8 (N, H, W, C). Prints one output per line.
"""
import sys

import numpy as np
import torch
import torchvision
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """Basic block of the CIFAR ResNets with option A shortcuts (He et al. 2015)."""

    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.grow = cout - cin

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.grow:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.grow // 2, self.grow // 2))
        return F.relu(x + y)


class CIFAR(nn.Module):
    def __init__(self, blocks, classes):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        cin = 16
        for i, cout in enumerate((16, 32, 64)):
            layer = [Block(cin, cout, 1 + (i > 0))] + [Block(cout, cout, 1) for _ in range(blocks - 1)]
            setattr(self, f"layer{i + 1}", nn.Sequential(*layer))
            cin = cout
        self.linear = nn.Linear(64, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.linear(x.mean((2, 3)))


def network(name, classes):
    cifar = {"resnet20": 3, "resnet32": 5, "resnet44": 7, "resnet56": 9, "resnet110": 18}
    if name in cifar:
        return CIFAR(cifar[name], classes)
    pixels = {"fcn-resnet50": "fcn_resnet50", "deeplabv3-resnet50": "deeplabv3_resnet50",
              "lraspp-mobilenetv3-large": "lraspp_mobilenet_v3_large"}
    if name in pixels:
        more = {} if name.startswith("lraspp") else {"aux_loss": False}
        return getattr(torchvision.models.segmentation, pixels[name])(
            weights=None, weights_backbone=None, num_classes=classes, **more)
    name, v1, _ = name.partition("-v1")
    more = {"init_weights": False, "aux_logits": False} if name in HALVES else {}
    name = name.replace("-", "_").replace("mobilenetv", "mobilenet_v")
    net = getattr(torchvision.models, name)(num_classes=classes, **more)
    if v1:  # the stride is in the 1x1 convolution, as in the paper and Caffe2
        for layer in (net.layer2, net.layer3, net.layer4):
            layer[0].conv1.stride, layer[0].conv2.stride = (2, 2), (1, 1)
    return net


HALVES = ("googlenet", "inception-v3")  # their input is pixels from -1 to 1


def main(name, classes, weights, pixels=None, side=0):
    model = network(name, int(classes))
    missing = model.load_state_dict(torch.load(weights, weights_only=True), strict=False)
    assert not missing.unexpected_keys and all(k.endswith("relative_position_index") for k in missing.missing_keys), missing
    if pixels is None:
        return
    model = model.double().eval()
    x = np.fromfile(pixels, "u1").reshape(2, int(side), int(side), 3).transpose(0, 3, 1, 2) / 255
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    if name in HALVES:
        mean, std = np.array([0.5] * 3), np.array([0.5] * 3)
    x = (x - mean[:, None, None]) / std[:, None, None]
    with torch.no_grad():
        y = model(torch.from_numpy(x))
        for v in (y["out"] if isinstance(y, dict) else y).flatten().tolist():
            print(repr(v))


main(*sys.argv[1:])
