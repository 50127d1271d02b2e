#!/usr/bin/python3
"""Outputs of torchvision's detectors for an image in float64, in eval mode, before they are decoded. Weights,
statistics and images are computed in the same way as in the test: see torch_yolox.py. Needs Debian's
python3-torchvision.

usage: torch_detection.py > torch_detection.txt

Each line: architecture, height, width, number of parameters and batch norms as published, SHA-256 of the
names and shapes of the published state as in torch_names.py, then the outputs for 3 classes, [rows, slots].
"""
import hashlib
import os
import sys

import torch
from torch import nn
from torchvision.models import detection

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from torch_yolox import number, state, words  # noqa: E402

HEIGHT, WIDTH = 64, 96


def fcos(out):
    return torch.cat([out["bbox_regression"], out["bbox_ctrness"], out["cls_logits"]], 2)


def retinanet(out):
    return torch.cat([out["bbox_regression"], out["cls_logits"]], 2)


def build(make, classes):
    return make(weights=None, weights_backbone=None, num_classes=classes)


def main():
    for name, make, rows in (("fcos-resnet50-fpn", detection.fcos_resnet50_fpn, fcos),
                             ("retinanet-resnet50-fpn", detection.retinanet_resnet50_fpn, retinanet),
                             ("retinanet-resnet50-fpn-v2", detection.retinanet_resnet50_fpn_v2, retinanet),
                             ("ssdlite320-mobilenetv3-large", detection.ssdlite320_mobilenet_v3_large, retinanet)):
        background = name.startswith("ssd")
        whole = build(make, 91)
        digest = hashlib.sha256("".join(f"{k} {list(v.shape)}\n" for k, v in state(whole).items()).encode())
        norms = sum(isinstance(m, nn.BatchNorm2d) for m in whole.modules())
        model = build(make, 3 + background).double().eval()
        with torch.no_grad():
            for k, (key, v) in enumerate(state(model).items()):  # tensor k by name is stream k + 1
                shape = tuple(v.shape)
                if len(shape) > 1:
                    v.copy_(number(k + 1, shape, 0.0, 2.0 / float(torch.tensor(shape[1:]).prod()) ** 0.5))
                else:
                    v.copy_(number(k + 1, shape, 1.0 if one(model, key) else 0.0, 0.25))
            pixels = (words(1000, HEIGHT * WIDTH * 3) >> 24).astype("float64").reshape(1, HEIGHT, WIDTH, 3)
            x = torch.tensor(pixels).permute(0, 3, 1, 2) / 255
            mean, std = (torch.tensor(v).double()[:, None, None] for v in (model.transform.image_mean,
                                                                           model.transform.image_std))
            features = list(model.backbone((x - mean) / std).values())
            y = rows(model.head(features))[0].T
        print(name, HEIGHT, WIDTH, sum(p.numel() for p in whole.parameters()), norms, digest.hexdigest(),
              *(f"{v:.9g}" for v in y.flatten().tolist()))


def one(model, key):
    """Reports whether the elements of a tensor are around 1: a variance, or the factor of a norm."""
    return key.endswith("running_var") or key.endswith("weight")


if __name__ == "__main__":
    main()
