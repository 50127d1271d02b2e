#!/usr/bin/python3
"""Cross-entropies, summed over rows and places, of a network that ends in
various ways, in float64. Needs Debian's python3-torch.

usage: endings.py > endings.txt

z[n, c, p] = ((7*i) % 23) / 8 - 1, i counting in C order over (2, 3, 2); the
labels are 2 0 / 1 1. Each line: the ending, the loss.
"""
import torch
from torch.nn.functional import cross_entropy, log_softmax, nll_loss, softmax

z = (((7 * torch.arange(12, dtype=torch.float64)) % 23) / 8 - 1).reshape(2, 3, 2)
y = torch.tensor([[2, 0], [1, 1]])
classes, places = 1, 2
for name, loss in {
    "open": cross_entropy(z, y, reduction="sum"),
    "classes": nll_loss(torch.log(softmax(z, classes)), y, reduction="sum"),
    "logarithms": cross_entropy(log_softmax(z, classes), y, reduction="sum"),
    "places": cross_entropy(softmax(z, places), y, reduction="sum"),
    "units": cross_entropy(torch.sigmoid(z), y, reduction="sum"),
}.items():
    print(name, f"{loss.item():.15g}")
