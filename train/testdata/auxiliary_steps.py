#!/usr/bin/python3
"""Three training steps in PyTorch of a network with an auxiliary head, whose loss
weighs 0.4 beside that of the first output, as torchvision's references train their
networks for pixels. All else, and the lines, is as in unet_steps.py. The losses are
those of the first output.

With "mixed" each row has the labels of the row before it too, and the loss is that of mixup: both losses and
both weights by their shares, with label smoothing.

usage: auxiliary_steps.py > auxiliary_steps.txt
       auxiliary_steps.py mixed > mixed_steps.txt
       auxiliary_steps.py float32      how far PyTorch's own float32 is from that
"""
import sys

import numpy as np
import torch
import torch.nn.functional as F

SEED = 5
BATCH, SIDE, STEPS, LR, MOMENTUM, DECAY = 6, 8, 3, 0.1, 0.9, 1e-4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
WEIGHTS, IGNORED = (0.5, 1.0, 2.0), -1
AUXILIARY, WIDTH = 0.4, 4
SHARES, SMOOTHING = (0.75, 0.625, 0.9375), 0.1
MIXED = sys.argv[1:] == ["mixed"]


def words(stream, count):
    z = (np.uint64((10000 * SEED + stream) << 32) + np.arange(count, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(32)


def number(stream, shape, centre, spread):
    u = words(stream, int(np.prod(shape))).astype(np.float64) / 2**31 - 1
    return torch.tensor((centre + spread * u).astype(np.float32).reshape(shape))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, WIDTH, 3, 1, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(WIDTH)
        self.conv2 = torch.nn.Conv2d(WIDTH, WIDTH, 3, 1, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(WIDTH)
        self.head = torch.nn.Conv2d(WIDTH, len(WEIGHTS), 1)
        self.aux = torch.nn.Conv2d(WIDTH, len(WEIGHTS), 1)

    def forward(self, x):
        first = F.relu(self.bn1(self.conv1(x)))
        return self.head(F.relu(self.bn2(self.conv2(first)))), self.aux(first)


def state(model):
    return [(k, v) for k, v in model.state_dict().items() if not k.endswith("num_batches_tracked")]


def start(model):
    for k, (name, v) in enumerate(state(model)):
        shape = tuple(v.shape)
        if name.endswith("running_mean"):
            centre, spread = 0.0, 0.0
        elif name.endswith("running_var"):
            centre, spread = 1.0, 0.0
        elif name.startswith("bn") and name.endswith("weight"):
            centre, spread = 1.0, 0.25
        elif len(shape) == 1:
            centre, spread = 0.0, 0.25
        else:
            centre, spread = 0.0, 2.0 / np.sqrt(np.prod(shape[1:]))
        v.copy_(number(k + 1, shape, centre, spread))


def batch(step, dtype):
    """Images are stream 1000 + step, labels stream 2000 + step: -1 to 2."""
    x = (words(1000 + step, BATCH * SIDE * SIDE * 3) >> np.uint64(24)).astype(np.float64).reshape(BATCH, SIDE, SIDE, 3)
    x = ((x * (1 / 255) - np.array(MEAN)) / np.array(STD)).astype(np.float32)
    labels = (words(2000 + step, BATCH * SIDE * SIDE) % np.uint64(4)).astype(np.int64).reshape(BATCH, SIDE, SIDE) - 1
    return torch.tensor(x).permute(0, 3, 1, 2).to(dtype).contiguous(), torch.tensor(labels)


def criterion(y, labels, step):
    weights = torch.tensor(WEIGHTS, dtype=y.dtype)
    if not MIXED:
        return F.cross_entropy(y, labels, weight=weights, ignore_index=IGNORED)
    loss = weight = 0
    for share, l in (SHARES[step], labels), (1 - SHARES[step], labels.roll(1, 0)):
        loss += share * F.cross_entropy(y, l, weight=weights, ignore_index=IGNORED, reduction="sum",
                                        label_smoothing=SMOOTHING)
        weight += share * weights[l[l >= 0]].sum()
    return loss / weight


def train(dtype):
    model = Net().to(dtype)
    start(model)
    decayed = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() == 1]
    sgd = torch.optim.SGD([{"params": decayed, "weight_decay": DECAY}, {"params": plain}], lr=LR, momentum=MOMENTUM)
    losses = []
    for step in range(STEPS):
        x, labels = batch(step, dtype)
        loss, second = (criterion(y, labels, step) for y in model(x))
        sgd.zero_grad()
        (loss + AUXILIARY * second).backward()
        sgd.step()
        losses.append(loss.item())
    return losses, state(model)


def rms(v):
    return v.double().square().mean().sqrt().item()


losses, exact = train(torch.float64)
if sys.argv[1:] == ["float32"]:
    own, got = train(torch.float32)
    print("losses", max(abs(a - b) for a, b in zip(losses, own)))
    print("state", max(((a.double() - b.double()).abs().max().item() / rms(a), k) for (k, a), (_, b) in zip(exact, got)))
    sys.exit()
for step, loss in enumerate(losses):
    print("loss", step, f"{loss:.17g}")
for name, v in exact:
    flat = v.flatten()
    print(name, f"{rms(v):.9g}", *(f"{flat[i * flat.numel() // 8].item():.9g}" for i in range(8)))
