#!/usr/bin/python3
"""Prints, for every architecture, the SHA-256 of the names and shapes of its
state as PyTorch has them, one "name [shape]" per line, sorted, without
num_batches_tracked and the index that Swin computes. Needs Debian's python3-torch and python3-torchvision.

usage: torch_names.py resnet20-12fca82f.th > torch_names.txt
"""
import hashlib
import sys
import warnings

import torch
import torchvision.models as zoo
import torchvision.models.segmentation as pixels

MODELS = {"resnet18": zoo.resnet18, "resnet34": zoo.resnet34, "resnet50": zoo.resnet50, "resnet101": zoo.resnet101,
          "resnet152": zoo.resnet152, "resnet50-v1": zoo.resnet50, "resnet101-v1": zoo.resnet101,
          "resnet152-v1": zoo.resnet152, "mobilenetv2": zoo.mobilenet_v2, "vgg16-bn": zoo.vgg16_bn,
          "fcn-resnet50": pixels.fcn_resnet50, "deeplabv3-resnet50": pixels.deeplabv3_resnet50,
          "lraspp-mobilenetv3-large": pixels.lraspp_mobilenet_v3_large}
# Architectures with torchvision's names, except for dashes. Auxiliary heads are left out.
CLASSIFIERS = """resnext50-32x4d resnext101-32x8d wide-resnet50-2 mobilenetv3-small mobilenetv3-large mnasnet1-0
    efficientnet-b0 efficientnet-b1 efficientnet-b2 efficientnet-b3 efficientnet-b4 efficientnet-v2-s regnet-x-400mf
    regnet-y-400mf regnet-y-800mf regnet-y-1-6gf regnet-y-3-2gf regnet-y-8gf densenet121 googlenet inception-v3
    shufflenet-v2-x1-0 squeezenet1-1 vgg11-bn vgg13-bn vgg19-bn convnext-tiny vit-b-16 swin-t""".split()


def digest(state):
    lines = [f"{k} {list(v.shape)}\n" for k, v in state.items()
             if not k.endswith(("num_batches_tracked", "relative_position_index"))]
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


for name, make in MODELS.items():
    print(name, digest(make(**({"weights_backbone": None} if make.__module__.startswith(pixels.__name__) else {}))
                       .state_dict()))
warnings.simplefilter("ignore")
for name in CLASSIFIERS:
    make = getattr(zoo, name.replace("-", "_").replace("mobilenetv", "mobilenet_v"))
    whole = make(**({"init_weights": False} if name in ("googlenet", "inception-v3") else {})).state_dict()
    print(name, digest({k: v for k, v in whole.items() if not k.startswith(("aux", "AuxLogits"))}))
    if any(k.startswith(("aux", "AuxLogits")) for k in whole):
        print(name + "+heads", digest(whole))
# The tensors that lraspp's backbone shares with the classifier, under the classifier's names.
features = {"backbone." + k.removeprefix("features."): v for k, v in zoo.mobilenet_v3_large().state_dict().items()
            if k.startswith("features.")}
print("mobilenet_v3_large", digest(features))
published = torch.load(sys.argv[1], map_location="cpu")["state_dict"]
print("resnet20", digest({k.removeprefix("module."): v for k, v in published.items()}))
