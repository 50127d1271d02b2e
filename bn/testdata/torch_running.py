#!/usr/bin/python3
"""Running statistics of batch norm as PyTorch keeps them, for replicas with
5, 0, 1 and 9 rows, after three steps. Needs Debian's python3-torch.

usage: torch_running.py > torch_running.txt

Each line: case, then 3 running means, then 3 running variances. statistics_test.go
computes the same input from the same formula.
"""
import torch

ROWS, CHANNELS, ELEMENTS, STEPS = [5, 0, 1, 9], 3, 4, 3


def value(step, row, channel, element):
    k = 131 * step + 37 * row + 11 * channel + 7 * element
    return (k * k % 1009) / 100 * (channel + 1) - 3 + 50 * channel


def batch(step):
    n = sum(ROWS)
    return torch.tensor([[[[value(step, i, c, k) for k in range(ELEMENTS)]] for c in range(CHANNELS)] for i in range(n)],
                        dtype=torch.float64)


def norm(momentum):
    return torch.nn.BatchNorm2d(CHANNELS, momentum=momentum).double()


def show(case, bn):
    print(case, *(f"{v:.17g}" for v in torch.cat([bn.running_mean, bn.running_var]).tolist()))


def whole_batch(case, momentum):
    bn = norm(momentum)
    for step in range(STEPS):
        bn(batch(step))
    show(case, bn)


def first_replica(case):
    bn = norm(0.1)
    for step in range(STEPS):
        bn(batch(step)[: ROWS[0]])
    show(case, bn)


def mean_of_replicas(case):
    """Every replica that has rows moves a copy; the mean of the copies stays."""
    bn = norm(0.1)
    for step in range(STEPS):
        moved, at = [], 0
        for rows in ROWS:
            if rows:
                own = norm(0.1)
                own.load_state_dict(bn.state_dict())
                own(batch(step)[at : at + rows])
                moved.append(own)
            at += rows
        bn.running_mean = torch.stack([m.running_mean for m in moved]).mean(0)
        bn.running_var = torch.stack([m.running_var for m in moved]).mean(0)
    show(case, bn)


def biased(case):
    """Keras' rule: the biased variance, with momentum 0.99."""
    bn = norm(0.01)
    for step in range(STEPS):
        x = batch(step).transpose(0, 1).flatten(1)
        bn.running_mean += 0.01 * (x.mean(1) - bn.running_mean)
        bn.running_var += 0.01 * (x.var(1, unbiased=False) - bn.running_var)
    show(case, bn)


whole_batch("sync", 0.1)
whole_batch("cumulative", None)
first_replica("first")
mean_of_replicas("mean")
biased("biased")
