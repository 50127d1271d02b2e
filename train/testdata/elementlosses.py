#!/usr/bin/python3
"""Three steps of a dense layer by PyTorch's losses of single elements, in float64. Needs
Debian's python3-torch.

usage: elementlosses.py > elementlosses.txt

Seven samples of two numbers: x[i][d] = ((5*i + 3*d) mod 7 - 3) / 4. Weight and bias of three outputs
begin as ((3*k + 2*d) mod 5 - 2) / 8 and (k - 1) / 8. What is known of output k of sample i is nothing
where (i + 2*k) mod 5 is 0. A label holds where (i*i + k) mod 3 is 1; a number is (i*i + 3*k) mod 8 - 2.
The loss is the mean over what is known; numbers are in units of their deviation over the
samples for which they are known, in float32 as bnctl has them. SGD with momentum 0.9, rate 0.25.

Lines: "CASE STEP LOSS W00 ... W21 B0 B1 B2", the loss of the step and the weights after it.
"""
import numpy
import torch
from torch.nn import functional as F

N, D, K = 7, 2, 3
x = torch.tensor([[((5 * i + 3 * d) % 7 - 3) / 4 for d in range(D)] for i in range(N)], dtype=torch.float64)
known = torch.tensor([[(i + 2 * k) % 5 != 0 for k in range(K)] for i in range(N)])
holds = torch.tensor([[float((i * i + k) % 3 == 1) for k in range(K)] for i in range(N)], dtype=torch.float64)
number = torch.tensor([[float((i * i + 3 * k) % 8 - 2) for k in range(K)] for i in range(N)], dtype=torch.float64)
std = [number[known[:, k], k].std(unbiased=False).item() for k in range(K)]
scale = torch.tensor([float(numpy.float32(1 / s)) for s in std], dtype=torch.float64)

def balanced(k):
    """How often label k does not hold over how often it does; 1 where it never does."""
    some = (known[:, k] & (holds[:, k] == 1)).sum().item()
    return (known[:, k] & (holds[:, k] == 0)).sum().item() / some if some else 1.0


positives = torch.tensor([balanced(k) for k in range(K)], dtype=torch.float64)


def numbers(loss):
    return lambda y: loss((y * scale)[known], (number * scale)[known])


CASES = {
    "binary": lambda y: F.binary_cross_entropy_with_logits(y[known], holds[known]),
    "binary-balanced": lambda y: (F.binary_cross_entropy_with_logits(
        y, holds, pos_weight=positives, reduction="none")[known]).mean(),
    "binary-smoothed": lambda y: F.binary_cross_entropy_with_logits(y[known], (holds * 0.8 + 0.1)[known]),
    "squared": numbers(F.mse_loss),
    "absolute": numbers(F.l1_loss),
    "huber:0.5": numbers(lambda y, t: F.huber_loss(y, t, delta=0.5)),
}
for name, loss in CASES.items():
    w = torch.tensor([[((3 * k + 2 * d) % 5 - 2) / 8 for d in range(D)] for k in range(K)], dtype=torch.float64,
                     requires_grad=True)
    b = torch.tensor([(k - 1) / 8 for k in range(K)], dtype=torch.float64, requires_grad=True)
    o = torch.optim.SGD([w, b], lr=0.25, momentum=0.9)
    for step in range(3):
        value = loss(x @ w.t() + b)
        o.zero_grad()
        value.backward()
        o.step()
        print(name, step, *(f"{v:.12g}" for v in [value.item(), *w.flatten().tolist(), *b.tolist()]))
