#!/usr/bin/python3
"""Learning rates of PyTorch's schedulers, in float64. Needs Debian's python3-torch.

usage: schedules.py > schedules.txt

Lines: "onecycle SHARE TOTAL STEP RATE", from a peak of 0.8; "plateau PATIENCE EVALUATION
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
