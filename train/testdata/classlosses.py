#!/usr/bin/python3
"""Three steps of a dense layer by PyTorch's cross-entropy of classes, in float64. Needs Debian's
python3-torch.

usage: classlosses.py > classlosses.txt

Samples, weights, optimizer and lines are those of elementlosses.py. The class of sample i is (i*i + i) mod 5
mod 3, and not known of sample 4. Weights of classes are 0.25, 3 and 1, or 0, 3 and 1, or balanced: 6 labels
over 3 times those of the class; smoothing is 0.2.
"""
import torch
from torch.nn import functional as F

N, D, K = 7, 2, 3
x = torch.tensor([[((5 * i + 3 * d) % 7 - 3) / 4 for d in range(D)] for i in range(N)], dtype=torch.float64)
y = torch.tensor([-1 if i == 4 else (i * i + i) % 5 % 3 for i in range(N)])
balanced = [6 / (3 * (y == k).sum().item()) for k in range(K)]
for name, weights, smoothing in [
    ("plain", None, 0), ("smoothed", None, 0.2), ("weighted", [0.25, 3, 1], 0), ("without", [0, 3, 1], 0),
    ("weighted-smoothed", [0.25, 3, 1], 0.2), ("without-smoothed", [0, 3, 1], 0.2), ("balanced-smoothed", balanced, 0.2),
]:
    if weights:
        weights = torch.tensor(weights, dtype=torch.float64)
    w = torch.tensor([[((3 * k + 2 * d) % 5 - 2) / 8 for d in range(D)] for k in range(K)], dtype=torch.float64,
                     requires_grad=True)
    b = torch.tensor([(k - 1) / 8 for k in range(K)], dtype=torch.float64, requires_grad=True)
    o = torch.optim.SGD([w, b], lr=0.25, momentum=0.9)
    for step in range(3):
        value = F.cross_entropy(x @ w.t() + b, y, weight=weights, ignore_index=-1, label_smoothing=smoothing)
        o.zero_grad()
        value.backward()
        o.step()
        print(name, step, *(f"{v:.12g}" for v in [value.item(), *w.flatten().tolist(), *b.tolist()]))
