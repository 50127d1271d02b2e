#!/usr/bin/python3
"""Three training steps in PyTorch, in float64, of a dense layer behind batch norm on pictures whose rows have two
classes, as mixup and cutmix make them: the row's own and that of the row before it. The loss is that of mixup, both
losses and both weights by their shares, with weights of classes and label smoothing. Numbers, batches, optimizer and
lines are those of auxiliary_steps.py.

usage: mixed_classes.py > mixed_classes.txt
"""
import numpy as np
import torch
import torch.nn.functional as F

SEED = 5
BATCH, SIDE, STEPS, LR, MOMENTUM, DECAY = 6, 8, 3, 0.1, 0.9, 1e-4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
WEIGHTS, SHARES, SMOOTHING = (0.5, 1.0, 2.0), (0.75, 0.625, 0.9375), 0.1


def words(stream, count):
    z = (np.uint64((10000 * SEED + stream) << 32) + np.arange(count, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(32)


def number(stream, shape, centre, spread):
    u = words(stream, int(np.prod(shape))).astype(np.float64) / 2**31 - 1
    return torch.tensor((centre + spread * u).astype(np.float32).reshape(shape)).double()


features = 3 * SIDE * SIDE
bn = torch.nn.BatchNorm1d(features).double()
head = torch.nn.Linear(features, len(WEIGHTS)).double()
with torch.no_grad():
    bn.weight.copy_(number(1, (features,), 1, 0.25))
    bn.bias.copy_(number(2, (features,), 0, 0.25))
    head.weight.copy_(number(5, (len(WEIGHTS), features), 0, 2 / np.sqrt(features)))
    head.bias.copy_(number(6, (len(WEIGHTS),), 0, 0.25))
sgd = torch.optim.SGD([{"params": [head.weight], "weight_decay": DECAY}, {"params": [bn.weight, bn.bias, head.bias]}],
                      lr=LR, momentum=MOMENTUM)
weights = torch.tensor(WEIGHTS, dtype=torch.float64)
for step in range(STEPS):
    x = (words(1000 + step, BATCH * SIDE * SIDE * 3) >> np.uint64(24)).astype(np.float64).reshape(BATCH, SIDE, SIDE, 3)
    x = ((x * (1 / 255) - np.array(MEAN)) / np.array(STD)).astype(np.float32)
    labels = torch.tensor((words(2000 + step, BATCH) % np.uint64(len(WEIGHTS))).astype(np.int64))
    y = head(bn(torch.tensor(x).permute(0, 3, 1, 2).flatten(1).double()))
    loss = weight = 0
    for share, l in (SHARES[step], labels), (1 - SHARES[step], labels.roll(1)):
        loss += share * F.cross_entropy(y, l, weight=weights, reduction="sum", label_smoothing=SMOOTHING)
        weight += share * weights[l].sum()
    sgd.zero_grad()
    (loss / weight).backward()
    sgd.step()
    print("loss", step, f"{(loss / weight).item():.17g}")
state = {"bn.weight": bn.weight, "bn.bias": bn.bias, "bn.running_mean": bn.running_mean,
         "bn.running_var": bn.running_var, "head.weight": head.weight, "head.bias": head.bias}
for name, v in state.items():
    flat = v.detach().flatten()
    print(name, f"{flat.square().mean().sqrt().item():.9g}",
          *(f"{flat[i * flat.numel() // 8].item():.9g}" for i in range(8)))
