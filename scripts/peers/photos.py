#!/usr/bin/env python3
"""photos.py FOLDER SEED EPOCHS usual|same: a classifier of FOLDER/photos/CLASS/*.jpg in PyTorch, resnet20 at 32x32, on
one thread. A line of JSON has its accuracy on FOLDER/held/CLASS/*.jpg with the weights of its best epoch.

usual: what a tutorial has: a shifted crop and a flip, SGD with Nesterov momentum, a cosine.
same: what bnctl's preset "photos" has, of torchvision's parts.

A fifth of each class is set apart as --val-split 0.2 does, so that all sides train on the same pictures.
"""
import hashlib
import json
import math
import os
import sys

import torch
from PIL import Image
from torch.nn import functional as F
from torchvision import transforms

from networks import ResNet20

folder, seed, epochs, recipe = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
SAME, BATCH, SMOOTHING = recipe == "same", 32, 0.1
torch.manual_seed(seed)
torch.set_num_threads(1)
tensor = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
flip = transforms.RandomHorizontalFlip()
augment = transforms.Compose([transforms.RandomResizedCrop(32, (0.25, 1)), flip, transforms.RandAugment(2, 9)] if SAME else
                             [transforms.RandomCrop(32, 4), flip])


def read(part):
    """Pictures, by their class: lists of (path below the class folders, picture)."""
    root = os.path.join(folder, part)
    return [[(f"{c}/{f}", Image.open(os.path.join(root, c, f)).convert("RGB")) for f in os.listdir(os.path.join(root, c))]
            for c in sorted(os.listdir(root))]


def split(pictures):
    """The pictures of a class that are trained on, and those set apart."""
    pictures.sort(key=lambda p: hashlib.sha256(b"0\0" + p[0].encode()).digest())
    n = min(max(round(0.2 * len(pictures)), 1), len(pictures) - 1)
    return pictures[n:], pictures[:n]


def labelled(parts):
    return [(picture, k) for k, part in enumerate(parts) for _, picture in part]


def fixed(samples):
    return torch.stack([tensor(p) for p, _ in samples]), torch.tensor([k for _, k in samples])


def accuracy(network, x, y):
    network.eval()
    with torch.no_grad():
        return (network(x).argmax(1) == y).double().mean().item()


parts = [split(c) for c in read("photos")]
training, validation = labelled(p[0] for p in parts), fixed(labelled(p[1] for p in parts))
held, counts = fixed(labelled(read("held"))), torch.tensor([float(len(p[0])) for p in parts])
network = ResNet20()
network.linear = torch.nn.Linear(64, len(parts))
for m in network.modules():
    if isinstance(m, torch.nn.Conv2d):
        torch.nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
kernels = [p for p in network.parameters() if p.dim() > 1]
others = [p for p in network.parameters() if p.dim() == 1]
weights = None
if SAME:
    optimizer, rate = torch.optim.AdamW([{"params": kernels, "weight_decay": 0.05}, {"params": others, "weight_decay": 0}]), 0.001
    if counts.max() > counts.sum() / 2:
        weights = counts.sum() / (len(counts) * counts)
else:
    optimizer, rate = torch.optim.SGD(network.parameters(), momentum=0.9, nesterov=True, weight_decay=5e-4, lr=0.1), 0.05
steps, step, best = -(-len(training) // BATCH), 0, (-1, 0, 0)
for epoch in range(1, epochs + 1):
    network.train()
    order = torch.randperm(len(training)).tolist()
    for i in range(0, len(order), BATCH):
        batch = [training[k] for k in order[i:i + BATCH]]
        share = step / (steps * epochs)
        lr = rate * (1 + math.cos(math.pi * share)) / 2
        if SAME and step < 2 * steps:
            lr = rate * (step + 1) / (2 * steps)
        for group in optimizer.param_groups:
            group["lr"] = lr
        y = network(torch.stack([tensor(augment(p)) for p, _ in batch]))
        loss = F.cross_entropy(y, torch.tensor([k for _, k in batch]), weight=weights, label_smoothing=SMOOTHING if SAME else 0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    right = accuracy(network, *validation)
    if right > best[0]:
        best = right, epoch, accuracy(network, *held)
print(json.dumps({"validation": best[0], "best_epoch": best[1], "held": best[2], "trained_on": len(training),
                  "torch": torch.__version__}))
