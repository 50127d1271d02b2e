#!/usr/bin/env python3
"""networks.py: the networks of `make bench-peers` in PyTorch.

Run as `networks.py FOLDER` it writes NAME.onnx, NAME.pth and NAME.layers (layers.py)
of the networks that are compared in inference: weights and statistics are random,
from a fixed seed, and far from 0 and 1. Of lenet-bn, which is trained alone, it
writes the layers; of zoo.py's networks NAME.onnx, and NAME.train.onnx with batch norms. As
`networks.py FOLDER SIZE NAME...` it writes NAME.train.onnx of these alone, for pictures of that size;
convnext-tiny and vit-4, of ten classes, are only there, as they are in evaluation: without stochastic depth.
`networks.py FOLDER all` writes NAME.onnx of all networks for classes that bnctl has and torchvision too.
"""
import os
import sys

import torch
import torchvision
from torch import nn
from torch.nn import functional as F

import layers
import zoo

# Input of one sample, (C, H, W), and number of classes.
INPUTS = {
    "resnet20": ((3, 32, 32), 10),
    "resnet18": ((3, 224, 224), 1000),
    "resnet50": ((3, 224, 224), 1000),
    "mobilenetv2": ((3, 224, 224), 1000),
    "resnet34": ((3, 224, 224), 1000),
    "resnet101": ((3, 224, 224), 1000),
    "vgg16-bn": ((3, 224, 224), 1000),
    "densenet121": ((3, 224, 224), 1000),
    "regnet-y-400mf": ((3, 224, 224), 1000),
    "lenet-bn": ((1, 28, 28), 10),
    "unet-bn": ((3, 256, 256), 6),
    "deeplabv3-resnet50": ((3, 256, 256), 21),
    "lraspp-mobilenetv3-large": ((3, 256, 256), 21),
    **zoo.INPUTS,
}
PIXELS = ("unet-bn", "deeplabv3-resnet50", "lraspp-mobilenetv3-large")  # a class for each pixel


class BasicBlock(nn.Module):
    """Two 3x3 convolutions; the shortcut drops pixels and pads channels (He et al. 2015, option A)."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.stride, self.missing = stride, after - before

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.missing:
            x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.missing // 2, self.missing // 2))
        return F.relu(x + y)


class ResNet20(nn.Module):
    """The residual network for CIFAR-10 (He et al. 2015), 20 layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = self.stage(16, 16, 1)
        self.layer2 = self.stage(16, 32, 2)
        self.layer3 = self.stage(32, 64, 2)
        self.linear = nn.Linear(64, 10)

    @staticmethod
    def stage(before, after, stride):
        return nn.Sequential(BasicBlock(before, after, stride), BasicBlock(after, after, 1), BasicBlock(after, after, 1))

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.linear(F.adaptive_avg_pool2d(x, 1).flatten(1))


class LeNetBN(nn.Module):
    """Two 5x5 convolutions with batch norm, two dense layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 5, padding=2, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 64, 5, padding=2, bias=False)
        self.bn2 = nn.BatchNorm2d(64)
        self.fc1 = nn.Linear(64 * 7 * 7, 512)
        self.fc2 = nn.Linear(512, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class UNetBN(nn.Module):
    """U-Net (Ronneberger et al. 2015) of 4 levels and 16 channels, as models/unet.go has it."""

    def __init__(self):
        super().__init__()
        widths = [16, 32, 64, 128, 256]
        self.down = nn.ModuleList(self.twice(a, b) for a, b in zip([3] + widths, widths))
        self.up = nn.ModuleList(self.twice(a + b, b) for a, b in zip(widths[1:], widths))
        self.head = nn.Conv2d(16, 6, 1)

    @staticmethod
    def twice(before, after):
        return nn.Sequential(nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(True),
                             nn.Conv2d(after, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(True))

    def forward(self, x):
        skips = []
        for k, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if k else x)
            skips.append(x)
        for k in (3, 2, 1, 0):
            x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            x = self.up[k](torch.cat([skips[k], x], 1))
        return self.head(x)


class Segmentation(nn.Module):
    """One of torchvision's, without an auxiliary head; logits of the input's size."""

    def __init__(self, make):
        super().__init__()
        self.net = make(weights=None, weights_backbone=None, num_classes=21)

    def forward(self, x):
        return self.net(x)["out"]


class ViT4(torchvision.models.VisionTransformer):
    """A vision transformer of 4 blocks for pictures of 32x32; its head and its class token are not zeros."""

    def __init__(self):
        super().__init__(image_size=32, patch_size=8, num_layers=4, num_heads=4, hidden_dim=64, mlp_dim=128, num_classes=10)
        nn.init.normal_(self.heads.head.weight, std=0.02)
        nn.init.normal_(self.class_token, std=0.02)


def build(name):
    """A new network, the same each time."""
    torch.manual_seed(1)
    return {
        "resnet20": ResNet20,
        "resnet18": torchvision.models.resnet18,
        "resnet50": torchvision.models.resnet50,
        "mobilenetv2": torchvision.models.mobilenet_v2,
        "resnet34": torchvision.models.resnet34,
        "resnet101": torchvision.models.resnet101,
        "vgg16-bn": torchvision.models.vgg16_bn,
        "densenet121": torchvision.models.densenet121,
        "regnet-y-400mf": torchvision.models.regnet_y_400mf,
        "lenet-bn": LeNetBN,
        "unet-bn": UNetBN,
        "deeplabv3-resnet50": lambda: Segmentation(torchvision.models.segmentation.deeplabv3_resnet50),
        "lraspp-mobilenetv3-large": lambda: Segmentation(torchvision.models.segmentation.lraspp_mobilenet_v3_large),
        "convnext-tiny": lambda: torchvision.models.convnext_tiny(num_classes=10),
        "vit-4": ViT4,
        **zoo.NETWORKS,
    }[name]()


def every():
    """forwards.py, which has all networks for classes that torchvision has too."""
    import forwards
    return forwards


def predicted(name):
    """A network with statistics as after training, and the shape of a sample; what INPUTS lacks is of every()."""
    if name in INPUTS:
        return scramble(build(name)), INPUTS[name][0]
    side = every().SIDES.get(name, 224)
    return scramble(every().build(name)), (3, side, side)


def scramble(network):
    """Gives every batch norm statistics and factors as after training."""
    for m in network.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.weight, 0.5, 1.5)
            nn.init.uniform_(m.bias, -0.3, 0.3)
            m.running_mean.uniform_(-0.3, 0.3)
            m.running_var.uniform_(0.7, 1.8)
    return network.eval()


def export(folder):
    """Writes what is not there yet."""
    layers.write(build("lenet-bn").eval(), INPUTS["lenet-bn"][0], os.path.join(folder, "lenet-bn.layers"))
    for name in ("resnet20", "resnet18", "resnet50", "mobilenetv2", "resnet34", "resnet101", "vgg16-bn") + PIXELS:
        if os.path.exists(os.path.join(folder, name + ".onnx")):
            continue
        network = scramble(build(name))
        torch.save(network.state_dict(), os.path.join(folder, name + ".pth"))
        if name not in PIXELS:
            layers.write(network, INPUTS[name][0], os.path.join(folder, name + ".layers"))
        write_onnx(name, network, os.path.join(folder, name + ".onnx"), do_constant_folding=True)
    for name in zoo.NETWORKS:
        if os.path.exists(os.path.join(folder, name + ".onnx")):
            continue
        network = scramble(build(name))
        write_trainable(name, network, folder)
        write_onnx(name, network, os.path.join(folder, name + ".onnx"), do_constant_folding=True)


def write_trainable(name, network, folder, **options):
    """Batch norms are kept, as nothing is folded."""
    write_onnx(name, network, os.path.join(folder, name + ".train.onnx"), do_constant_folding=False,
               training=torch.onnx.TrainingMode.PRESERVE, **options)


def write_onnx(name, network, path, sample=None, **options):
    """Writes a network with an open batch."""
    if int(torch.__version__.split(".")[0]) >= 2:
        options["dynamo"] = False
    torch.onnx.export(network, torch.zeros(2, *(sample or INPUTS[name][0])), path, input_names=["x"], output_names=["y"],
                      opset_version=13, dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, **options)


def export_all(folder):
    """Writes what is not there yet, as forwards.py builds it."""
    for name in every().NETWORKS:
        path, side = os.path.join(folder, name + ".onnx"), every().SIDES.get(name, 224)
        if not os.path.exists(path):
            write_onnx(name, scramble(every().build(name)), path, sample=(3, side, side), do_constant_folding=True)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        export(sys.argv[1])
    elif sys.argv[2] == "all":
        export_all(sys.argv[1])
    for network in sys.argv[3:]:
        torch.manual_seed(38)
        sample = (3, int(sys.argv[2]), int(sys.argv[2]))
        if network in ("convnext-tiny", "vit-4"):
            write_onnx(network, build(network).eval(), os.path.join(sys.argv[1], network + ".train.onnx"), sample=sample)
        else:
            write_trainable(network, scramble(build(network)), sys.argv[1], sample=sample)
