"""Writes batchnorm.json: batch norm over replicas of 5, 0, 1 and 9 rows.

    python3 batchnorm.py > batchnorm.json

"batch" is PyTorch's batch norm over all rows in one process, which is what
synchronised batch norm must equal; "replica" is that of each replica's rows.
Operands are multiples of 1/64; PyTorch computes in float64.
"""
import json

import torch
import torch.nn.functional as F

torch.manual_seed(2)
ROWS, CHANNELS, EPS = [5, 0, 1, 9], 3, 1e-3


def values(*shape):
    return torch.randint(-128, 128, shape).double() / 64


def batch_norm(parts, x, dy, gamma, beta):
    """Results of batch norm over each part of the rows: y, dx, dgamma, dbeta."""
    x, gamma, beta = (t.clone().requires_grad_() for t in (x, gamma, beta))
    y = torch.cat([F.batch_norm(p, None, None, gamma, beta, True, 0, EPS) for p in x.split(parts) if len(p)])
    return dict(zip(("y", "dx", "dgamma", "dbeta"), (y, *torch.autograd.grad(y, (x, gamma, beta), dy))))


x, dy = (values(sum(ROWS), CHANNELS, 2, 2) for _ in range(2))
gamma, beta = values(CHANNELS), values(CHANNELS)
operands = {"x": x, "dy": dy, "gamma": gamma, "beta": beta}
results = {"batch": batch_norm([sum(ROWS)], x, dy, gamma, beta), "replica": batch_norm(ROWS, x, dy, gamma, beta)}
lists = lambda d: {k: v.detach().flatten().tolist() for k, v in d.items()}
print(json.dumps({"rows": ROWS, "channels": CHANNELS, "eps": EPS, "in": lists(operands),
                  "out": {k: lists(v) for k, v in results.items()}}, separators=(",", ":")))
