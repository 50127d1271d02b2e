#!/usr/bin/python3
"""SimOTA, the loss of YOLOX and its gradients, in float64.

usage: torch_simota.py > torch_simota.json

Needs Debian's python3-torch. The rule is that of Megvii's YOLOX 0.3 (yolox/models/yolo_head.py and losses.py).
Candidates are the cells with a centre within 1.5 cells of the centre of an object. The number of cells of an
object is the sum of its ten largest overlaps, rounded down; it gets the cells with the lowest costs. A cell with
several objects keeps the one with the lowest cost. The loss is a sum of three terms, divided by the number of
cells with an object: 5 (1 - IoU^2), the binary cross-entropy of an object in all cells, and the binary
cross-entropy of its class, with the overlap as target. Predictions are
drawn near the objects, so that objects have several cells and compete for some of them.
"""
import json

import torch
from torch.nn.functional import binary_cross_entropy as bce
from torch.nn.functional import binary_cross_entropy_with_logits as bce_logits

torch.manual_seed(61)
torch.set_default_dtype(torch.float64)
HEIGHT, WIDTH, CLASSES, PICTURES, MOST = 64, 96, 3, 6, 7
CELLS = torch.tensor([(x, y, s) for s in (8, 16, 32) for y in range(HEIGHT // s) for x in range(WIDTH // s)],
                     dtype=torch.float64)
X, Y, S = CELLS.unbind(1)


def rounded(t):
    """Returns numbers that float32 represents exactly."""
    return (t * 4096).round() / 4096


def decoded(out):
    """Returns centre and size in pixels, [cells, 4]."""
    return torch.stack([(out[0] + X) * S, (out[1] + Y) * S, out[2].exp() * S, out[3].exp() * S], 1)


def pairwise(a, b):
    """Returns the IoU of boxes given by centre and size."""
    low = torch.maximum(a[:, None, :2] - a[:, None, 2:] / 2, b[:, :2] - b[:, 2:] / 2)
    high = torch.minimum(a[:, None, :2] + a[:, None, 2:] / 2, b[:, :2] + b[:, 2:] / 2)
    common = (high - low).prod(2) * (low < high).all(2)
    return common / (a[:, 2:].prod(1)[:, None] + b[:, 2:].prod(1) - common)


@torch.no_grad()
def assign(boxes, classes, out):
    centres = torch.stack([(X + 0.5) * S, (Y + 0.5) * S], 1)
    near = ((centres - boxes[:, None, :2]).abs() < 1.5 * S[:, None]).all(2)
    filtered = near.any(0)
    near, predicted = near[:, filtered], out[:, filtered]
    ious = pairwise(boxes, decoded(out)[filtered])
    p = (predicted[5:].T.sigmoid() * predicted[4].sigmoid()[:, None]).sqrt()
    truth = torch.nn.functional.one_hot(classes, CLASSES).double()
    shape = (len(boxes), *p.shape)
    cost = bce(p.expand(shape), truth[:, None].expand(shape), reduction="none").sum(2)
    cost = cost + 3 * -torch.log(ious + 1e-8) + 1e6 * ~near
    match = torch.zeros_like(cost)
    ks = ious.topk(min(10, ious.shape[1]), dim=1).values.sum(1).int().clamp(min=1)
    for k, count in enumerate(ks):
        match[k, cost[k].topk(int(count), largest=False).indices] = 1
    several = match.sum(0) > 1
    cheapest = cost[:, several].argmin(0)
    match[:, several] = 0
    match[cheapest, several] = 1
    owner = torch.full((len(CELLS),), -1)
    owner[filtered] = torch.where(match.sum(0) > 0, match.argmax(0), -1)
    return owner, ks, int(several.sum())


outputs, objects, assigned, numbers, conflicts, total, positives = [], [], [], [], 0, 0.0, 0
for n in range(PICTURES):
    count = MOST - n % 3
    size = 6 + torch.rand(count, 2) ** 2 * 50
    centre = torch.rand(count, 2) * torch.tensor([WIDTH, HEIGHT])
    if n % 2:  # objects close to each other
        centre = 30 + centre * 0.2
    corners = rounded(torch.cat([centre - size / 2, centre + size / 2], 1))
    boxes = torch.cat([(corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]], 1)
    classes = torch.randint(0, CLASSES, (count,))
    out = torch.randn(5 + CLASSES, len(CELLS))
    near = ((torch.stack([(X + 0.5) * S, (Y + 0.5) * S], 1)[:, None] - boxes[:, :2]) / S[:, None, None]).norm(dim=2)
    best = near.argmin(1)
    target = torch.stack([boxes[best, 0] / S - X, boxes[best, 1] / S - Y, (boxes[best, 2] / S).log(),
                          (boxes[best, 3] / S).log()])
    out[:4] = target + torch.randn(4, len(CELLS)) * (0.05 + 0.1 * n)
    out = rounded(out).requires_grad_()
    owner, ks, several = assign(boxes, classes, out)
    has, at = owner >= 0, owner.clamp(min=0)
    iou = pairwise(boxes, decoded(out))[at, torch.arange(len(CELLS))][has]
    total = total + 5 * (1 - iou ** 2).sum()
    total = total + bce_logits(out[4], has.double(), reduction="sum")
    truth = torch.nn.functional.one_hot(classes[at[has]], CLASSES) * iou.detach()[:, None]
    total = total + bce_logits(out[5:].T[has], truth, reduction="sum")
    positives += int(has.sum())
    conflicts += several
    outputs.append(out)
    objects.append([c + [k] for c, k in zip(corners.tolist(), classes.tolist())])
    assigned.append(owner.tolist())
    numbers.append(ks.tolist())
gradients = torch.autograd.grad(total / positives, outputs)
print(json.dumps({"height": HEIGHT, "width": WIDTH, "classes": CLASSES, "most": MOST, "conflicts": conflicts,
                  "outputs": [o.flatten().tolist() for o in outputs], "objects": objects, "assigned": assigned,
                  "numbers": numbers, "positives": positives, "loss": total.item(),
                  "gradients": [[round(v, 12) for v in g.flatten().tolist()] for g in gradients]}))
