#!/usr/bin/python3
"""The loss of a detector and its gradients in float64, for a fixed assignment of objects to cells.

usage: torch_boxloss.py > torch_boxloss.json

Needs Debian's python3-torch and python3-torchvision. Boxes are decoded in pixels, as YOLOX does:
(x + column) * stride and exp(w) * stride. The loss is a sum over the cells: 5 times
torchvision.ops.generalized_box_iou_loss and the binary cross-entropies of the classes for cells with an object,
and the binary cross-entropy of the presence of an object for all cells except those of ignored objects (-2). It
is divided by the number of cells with an object.
"""
import json

import torch
from torch.nn.functional import binary_cross_entropy_with_logits as bce
from torchvision.ops import generalized_box_iou_loss

torch.manual_seed(60)
torch.set_default_dtype(torch.float64)
HEIGHT, WIDTH, CLASSES, PICTURES = 32, 64, 3, 2
CELLS = torch.tensor([(x, y, s) for s in (8, 16, 32) for y in range(HEIGHT // s) for x in range(WIDTH // s)])


def rounded(t):
    """Returns numbers that float32 represents exactly."""
    return (t * 4096).round() / 4096


outputs = rounded(torch.randn(PICTURES, 5 + CLASSES, len(CELLS))).requires_grad_()
objects, assigned, total, positives = [], [], 0.0, 0
for n in range(PICTURES):
    low, size = torch.rand(4, 2) * torch.tensor([WIDTH * 0.7, HEIGHT * 0.7]), 3 + torch.rand(4, 2) * 20
    corners, classes = rounded(torch.cat([low, low + size], 1)), torch.randint(0, CLASSES, (4,))
    owner = torch.where(torch.rand(len(CELLS)) < 0.4, torch.randint(0, 4, (len(CELLS),)), -1)
    owner[torch.rand(len(CELLS)) < 0.15] = -2
    has, at = owner >= 0, owner.clamp(min=0)
    x, y, s = CELLS.double().unbind(1)
    out = outputs[n]
    cx, cy, w, h = (out[0] + x) * s, (out[1] + y) * s, out[2].exp() * s, out[3].exp() * s
    boxes = torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 1)
    total = total + 5 * generalized_box_iou_loss(boxes[has], corners[at][has], reduction="sum", eps=0)
    total = total + bce(out[4][owner > -2], has.double()[owner > -2], reduction="sum")
    truth = torch.nn.functional.one_hot(classes[at], CLASSES).double()
    total = total + bce(out[5:].T[has], truth[has], reduction="sum")
    positives += int(has.sum())
    objects.append([c + [k] for c, k in zip(corners.tolist(), classes.tolist())])
    assigned.append(owner.tolist())
(total / positives).backward()
print(json.dumps({"height": HEIGHT, "width": WIDTH, "classes": CLASSES, "outputs": outputs.flatten(1).tolist(),
                  "objects": objects, "assigned": assigned, "positives": positives, "loss": total.item(),
                  "gradients": outputs.grad.flatten(1).tolist()}))
