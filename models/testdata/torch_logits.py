#!/usr/bin/python3
"""Logits of two images in float64, in eval mode, from weights, statistics and
images that this script and the test compute in the same way: see number(). Needs Debian's python3-torch and
python3-torchvision.

usage: torch_logits.py [vgg16-bn] > torch_logits.txt

Each line: architecture, height, width, channels, then 2 x 10 logits.
"""
import sys

import numpy as np
import torch
import torchvision.models as zoo
from torch.nn import BatchNorm1d, BatchNorm2d, Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential

MNIST, IMAGENET = ([0.1307], [0.3081]), ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])


def mlp_bn():
    return Sequential(Flatten(), Linear(63, 256, bias=False), BatchNorm1d(256), ReLU(), Linear(256, 128, bias=False),
                      BatchNorm1d(128), ReLU(), Linear(128, 10))


def resnet50_v1():
    """torchvision's ResNet-50 with the stride in the 1x1 convolution, as in the paper and Caffe2."""
    net = zoo.resnet50(num_classes=10)
    for layer in (net.layer2, net.layer3, net.layer4):
        layer[0].conv1.stride, layer[0].conv2.stride = (2, 2), (1, 1)
    return net


def lenet_bn():
    return Sequential(Conv2d(1, 32, 5, padding=2, bias=False), BatchNorm2d(32), ReLU(), MaxPool2d(2),
                      Conv2d(32, 64, 5, padding=2, bias=False), BatchNorm2d(64), ReLU(), MaxPool2d(2),
                      Flatten(), Linear(64 * 5 * 7, 512), ReLU(), Linear(512, 10))


CASES = [("mlp-bn", mlp_bn, (9, 7), MNIST), ("lenet-bn", lenet_bn, (20, 28), MNIST),
         ("resnet18", lambda: zoo.resnet18(num_classes=10), (40, 72), IMAGENET),
         ("resnet50", lambda: zoo.resnet50(num_classes=10), (33, 40), IMAGENET),
         ("resnet50-v1", resnet50_v1, (33, 40), IMAGENET),
         ("mobilenetv2", lambda: zoo.mobilenet_v2(num_classes=10), (40, 72), IMAGENET)]
if sys.argv[1:] == ["vgg16-bn"]:  # half a gigabyte of weights: not part of the tests
    CASES = [("vgg16-bn", lambda: zoo.vgg16_bn(num_classes=10), (32, 32), IMAGENET)]


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


def fill(model):
    """Tensor k of the state is stream k + 1."""
    tensors = [(name, v) for name, v in model.state_dict().items() if not name.endswith("num_batches_tracked")]
    for k, (name, v) in enumerate(tensors):
        shape = tuple(v.shape)
        if len(shape) > 1:
            centre, spread = 0.0, 2.0 / np.sqrt(np.prod(shape[1:]))
        elif name.endswith("running_var") or name.endswith("weight"):
            centre, spread = 1.0, 0.25
        else:
            centre, spread = 0.0, 0.25
        v.copy_(number(k + 1, shape, centre, spread))


for name, make, (height, width), (mean, std) in CASES:
    model, channels = make().double().eval(), len(mean)
    fill(model)
    x = (words(1000, 2 * height * width * channels) >> np.uint64(24)).astype(np.float64)
    x = (x.reshape(2, height, width, channels) * (1 / 255) - np.array(mean)) / np.array(std)
    with torch.no_grad():
        y = model(torch.tensor(x).permute(0, 3, 1, 2))
    print(name, height, width, channels, *(f"{v:.12g}" for v in y.flatten().tolist()))
