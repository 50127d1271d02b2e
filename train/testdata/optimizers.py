#!/usr/bin/python3
"""Six updates of eight weights by PyTorch's optimizers, in float64. Needs
Debian's python3-torch.

usage: optimizers.py > optimizers.txt

Weight i begins as (i - 3) / 2; its gradient in step t is
((7*i + 13*t) mod 11 - 5) / 4. Both are exact in float32.

Lines: "CASE STEP W0 ... W7", the weights after the step; of "ema", the average
of the weights of "plain", which begins as they do: 0.9 of it and 0.1 of them; of "ema-warm",
min(0.3, (1 + STEP) / (10 + STEP)) of it and the rest of them.
"""
import torch

CASES = {
    "sgd": (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01), None),
    "nesterov": (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True), None),
    "plain": (lambda p: torch.optim.SGD(p, lr=0.1), None),
    "clipped": (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), 1.5),
    "slower": (lambda p: torch.optim.SGD([{"params": p, "lr": 0.1}], lr=1, momentum=0.9, weight_decay=0.01), None),
    "adam-slower": (lambda p: torch.optim.Adam([{"params": p, "lr": 0.1}], lr=1, weight_decay=0.01), None),
    "adam": (lambda p: torch.optim.Adam(p, lr=0.1, weight_decay=0.01), None),
    "adamw": (lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.01), None),
    "adamw-clipped": (lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.0), 1.5),
}

average = torch.tensor([(i - 3) / 2 for i in range(8)], dtype=torch.float64)
warm = average
for name, (optimizer, clip) in CASES.items():
    w = torch.tensor([(i - 3) / 2 for i in range(8)], dtype=torch.float64, requires_grad=True)
    o = optimizer([w])
    for t in range(6):
        w.grad = torch.tensor([((7 * i + 13 * t) % 11 - 5) / 4 for i in range(8)], dtype=torch.float64)
        if clip:
            torch.nn.utils.clip_grad_norm_([w], clip)
        o.step()
        print(name, t, *(f"{v:.12g}" for v in w.tolist()))
        if name == "plain":
            average = 0.9 * average + 0.1 * w.detach()
            print("ema", t, *(f"{v:.12g}" for v in average.tolist()))
            d = min(0.3, (1 + t) / (10 + t))
            warm = d * warm + (1 - d) * w.detach()
            print("ema-warm", t, *(f"{v:.12g}" for v in warm.tolist()))
