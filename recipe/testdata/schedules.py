#!/usr/bin/python3
"""Learning rates of PyTorch's schedulers, in float64. Needs Debian's python3-torch.

usage: schedules.py > schedules.txt

Lines: "onecycle SHARE TOTAL STEP RATE", "cosine - TOTAL STEP RATE", "poly POWER TOTAL STEP RATE" and
"step EPOCHS TOTAL STEP RATE" of two steps an epoch, from a peak of 0.8; "plateau PATIENCE EVALUATION
LOSS RATE", the rate after the evaluation, from 0.8: the losses go down, stand still, go down
by less than the threshold, and become infinite.
"""
import math

import torch


def parameter():
    return torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))


for share, total in [(0.3, 40), (0.5, 10), (0.1, 33), (0.3, 7)]:
    o = torch.optim.SGD([parameter()], lr=0.8)
    s = torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.8, total_steps=total, pct_start=share, cycle_momentum=False)
    for step in range(total):
        print("onecycle", share, total, step, repr(o.param_groups[0]["lr"]))
        o.step()
        if step + 1 < total:
            s.step()

losses = [3, 2, 2, 1.9999, 2, 1.5, 1.49999, 1.4, 1.4, 1.4, 1.4, 1.4, 1.4, math.inf, 1.4, 1.3, 1.3, 1.3, 1.3, 0.5]
for patience in (1, 2, 4):
    o = torch.optim.SGD([parameter()], lr=0.8)
    s = torch.optim.lr_scheduler.ReduceLROnPlateau(o, patience=patience, eps=0)
    for i, loss in enumerate(losses):
        s.step(loss)
        print("plateau", patience, i, loss, repr(o.param_groups[0]["lr"]))

# Short runs. PyTorch divides by zero for a rise of a single step, and these are left out.
makers = [("onecycle", str(share), lambda o, n, share=share: torch.optim.lr_scheduler.OneCycleLR(
    o, max_lr=0.8, total_steps=n, pct_start=share, cycle_momentum=False)) for share in (0.01, 0.1, 0.25, 0.3, 0.5, 0.99)]
makers += [("cosine", "-", lambda o, n: torch.optim.lr_scheduler.CosineAnnealingLR(o, n))]
makers += [("poly", str(power), lambda o, n, power=power: torch.optim.lr_scheduler.LambdaLR(
    o, lambda step: (1 - step / n) ** power)) for power in (0.9, 3)]
makers += [("step", ",".join(map(str, epochs)), lambda o, n, epochs=epochs: torch.optim.lr_scheduler.MultiStepLR(
    o, [2 * e for e in epochs])) for epochs in ((1,), (1, 3, 9))]
for name, argument, make in makers:
    for total in range(1, 21):
        if name == "onecycle" and float(argument) * total == 1:
            continue
        o = torch.optim.SGD([parameter()], lr=0.8)
        s = make(o, total)
        for step in range(total):
            if step in (0, 1, total // 2, total - 1):
                print(name, argument, total, step, repr(o.param_groups[0]["lr"]))
            o.step()
            if step + 1 < total:
                s.step()
