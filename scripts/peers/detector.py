#!/usr/bin/env python3
"""detector.py ARCHIVE OUT SEED HEIGHT WIDTH EPOCHS: YOLOX-nano in PyTorch, from random weights, by the recipe of scripts/detection.sh.

ARCHIVE is a set of PASCAL VOC in a .tar.gz with train.txt and test.txt. OUT gets the boxes of the test pictures in COCO's
results format, which bnctl data eval reads. Network, assignment and losses are those of YOLOX, as the tests of bnctl have
them. EPOCHS and BATCH, HEIGHT and WIDTH are variables of the environment. Prints a line of JSON.
"""
import io
import json
import math
import os
import sys
import tarfile
import time
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

sys.path += [str(Path(sys.argv[1]).parent), str(Path(__file__).parent / "../../models/testdata")]
from torch_yolox import YOLOX  # noqa: E402

HEIGHT, WIDTH, EPOCHS = map(int, sys.argv[4:7])
BATCH, RATE, DECAY, WARMUP, AVERAGE = 8, 0.002, 0.0005, 2, 0.99
SCORE, OVERLAP, MOST = 0.01, 0.65, 100  # of bnctl eval
X, Y, S = torch.tensor([(x, y, s) for s in (8, 16, 32) for y in range(HEIGHT // s) for x in range(WIDTH // s)],
                       dtype=torch.float32).unbind(1)
CENTRES = torch.stack([(X + 0.5) * S, (Y + 0.5) * S], 1)
GREY = 114


def read(archive):
    """Return the names of classes, and lists of (name, picture, boxes, classes, difficult) of train and test."""
    files = {m.name: m for m in tarfile.open(archive) if m.isfile()}
    tar = tarfile.open(archive)
    content = lambda end: tar.extractfile(next(m for n, m in files.items() if n.endswith(end))).read()
    parts, names = {}, set()
    for part in ("train", "test"):
        parts[part] = []
        for name in content(f"ImageSets/Main/{part}.txt").decode().split():
            objects = xml.fromstring(content(f"Annotations/{name}.xml")).findall("object")
            corners = [[float(o.find("bndbox").find(k).text) for k in ("xmin", "ymin", "xmax", "ymax")] for o in objects]
            boxes = np.array(corners, np.float64).reshape(-1, 4) - [1, 1, 0, 0]
            classes = [o.find("name").text for o in objects]
            difficult = np.array([o.findtext("difficult", "0") == "1" for o in objects], bool)
            picture = Image.open(io.BytesIO(content(f"JPEGImages/{name}.jpg"))).convert("RGB")
            parts[part].append((name, picture, boxes, classes, difficult))
    for part in parts.values():
        names.update(c for sample in part for c in sample[3])
    names = sorted(names)
    for part in parts.values():
        part[:] = [(n, p, b, np.array([names.index(c) for c in classes], int), d) for n, p, b, classes, d in part]
    return names, parts["train"], parts["test"]


def letterboxed(picture):
    """Return the pixels of a picture that fits into the input, at the upper left, and the factors of its corners."""
    scale = min(WIDTH / picture.width, HEIGHT / picture.height)
    width, height = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    pixels = np.full((HEIGHT, WIDTH, 3), float(GREY))
    pixels[:height, :width] = np.asarray(picture.resize((width, height), Image.BILINEAR), np.float64)
    return pixels, np.tile([width / picture.width, height / picture.height], 2)


def jittered(pixels, draws):
    """Change brightness, contrast and saturation, each by a factor from 0.6 to 1.4."""
    brightness, contrast, saturation = draws.uniform(0.6, 1.4, 3)
    grey = lambda p: (p * [0.299, 0.587, 0.114]).sum(2, keepdims=True)
    pixels = np.clip(pixels * brightness, 0, 255)
    mean = grey(pixels).mean()
    pixels = np.clip(mean + (pixels - mean) * contrast, 0, 255)
    return np.clip(grey(pixels) + (pixels - grey(pixels)) * saturation, 0, 255).round()


def augmented(sample, draws):
    """Return the pixels [HEIGHT, WIDTH, 3], boxes, classes and whether each is ignored: flip and colours."""
    _, picture, boxes, classes, difficult = sample
    pixels, scale = letterboxed(picture)
    moved = boxes * scale
    if draws.random() < 0.5:
        pixels = pixels[:, ::-1]
        moved[:, [0, 2]] = WIDTH - moved[:, [2, 0]]
    moved = np.clip(moved, 0, np.tile([WIDTH, HEIGHT], 2))
    inside = (moved[:, 2:] > moved[:, :2]).all(1)
    return jittered(pixels, draws), moved[inside], classes[inside], difficult[inside]


def tensor(pixels):
    """Return pixels as the network accepts them: blue, green, red from 0 to 255."""
    return torch.tensor(np.ascontiguousarray(pixels[..., ::-1].transpose(2, 0, 1)), dtype=torch.float32)


def decoded(out):
    """Return centre and size in pixels, [cells, 4]."""
    return torch.stack([(out[0] + X) * S, (out[1] + Y) * S, out[2].exp() * S, out[3].exp() * S], 1)


def overlaps(a, b):
    """Return the IoU [n, m] of boxes with centre and size."""
    low = torch.maximum(a[:, None, :2] - a[:, None, 2:] / 2, b[:, :2] - b[:, 2:] / 2)
    high = torch.minimum(a[:, None, :2] + a[:, None, 2:] / 2, b[:, :2] + b[:, 2:] / 2)
    common = (high - low).clamp(min=0).prod(2)
    return common / (a[:, 2:].prod(1)[:, None] + b[:, 2:].prod(1) - common)


@torch.no_grad()
def assign(boxes, classes, out):
    """Return the object of each cell by SimOTA, -1 for none."""
    owner = torch.full((len(X),), -1)
    if len(boxes) == 0:
        return owner
    near = ((CENTRES - boxes[:, None, :2]).abs() < 1.5 * S[:, None]).all(2)
    filtered = near.any(0)
    if not filtered.any():
        return owner
    near, predicted = near[:, filtered], out[:, filtered]
    ious = overlaps(boxes, decoded(out)[filtered])
    p = (predicted[5:].T.sigmoid() * predicted[4].sigmoid()[:, None]).sqrt()
    truth = F.one_hot(classes, p.shape[1]).float()
    shape = (len(boxes), *p.shape)
    cost = F.binary_cross_entropy(p.expand(shape), truth[:, None].expand(shape), reduction="none").sum(2)
    cost = cost - 3 * torch.log(ious + 1e-8) + 1e6 * ~near
    match = torch.zeros_like(cost)
    counts = ious.topk(min(10, ious.shape[1]), dim=1).values.sum(1).int().clamp(min=1)
    for k, count in enumerate(counts):
        match[k, cost[k].topk(int(count), largest=False).indices] = 1
    several = match.sum(0) > 1
    cheapest = cost[:, several].argmin(0)
    match[:, several] = 0
    match[cheapest, several] = 1
    owner[filtered] = torch.where(match.sum(0) > 0, match.argmax(0), torch.tensor(-1))
    return owner


def loss_of(out, boxes, classes, ignored):
    """Return the sum of the losses of a picture, and its number of cells with an object."""
    centres = torch.tensor(np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], 1),
                           dtype=torch.float32)
    classes = torch.tensor(classes)
    skipped = torch.tensor(ignored)
    owner = assign(centres[~skipped], classes[~skipped], out)
    has, at = owner >= 0, owner.clamp(min=0)
    counts = torch.ones(len(X), dtype=torch.bool)
    for low_high in torch.tensor(boxes, dtype=torch.float32)[skipped]:
        counts &= ~((CENTRES >= low_high[:2]) & (CENTRES < low_high[2:])).all(1)
    counts |= has
    total = (F.binary_cross_entropy_with_logits(out[4], has.float(), reduction="none") * counts).sum()
    if has.any():
        matched = at[has]
        iou = overlaps(centres[~skipped], decoded(out))[matched, has.nonzero()[:, 0]]
        truth = F.one_hot(classes[~skipped][matched], out.shape[0] - 5) * iou.detach()[:, None]
        total = total + 5 * (1 - iou ** 2).sum()
        total = total + F.binary_cross_entropy_with_logits(out[5:].T[has], truth, reduction="sum")
    return total, int(has.sum())


def suppressed(boxes, scores, limit):
    """Return the indices of boxes that remain, the highest score first."""
    order, kept = np.argsort(-scores, kind="stable")[:1000], []
    while len(order):
        k, order = order[0], order[1:]
        kept.append(k)
        low, high = np.maximum(boxes[k, :2], boxes[order, :2]), np.minimum(boxes[k, 2:], boxes[order, 2:])
        common = (high - low).clip(0).prod(1)
        area = lambda b: (b[..., 2:] - b[..., :2]).prod(-1)
        order = order[common / (area(boxes[k]) + area(boxes[order]) - common) <= limit]
    return kept


@torch.no_grad()
def detections(network, sample):
    """Return the boxes of a picture in COCO's results format."""
    name, picture = sample[:2]
    pixels, scale = letterboxed(picture)
    out = network(tensor(pixels)[None])[0]
    p, best = out[5:].sigmoid().max(0)
    scores = (p * out[4].sigmoid()).double().numpy()
    centres, best = decoded(out).double().numpy(), best.numpy()
    boxes = np.concatenate([centres[:, :2] - centres[:, 2:] / 2, centres[:, :2] + centres[:, 2:] / 2], 1)
    boxes = np.clip(boxes / scale, 0, np.tile([picture.width, picture.height], 2))
    found = []
    for c in range(out.shape[0] - 5):
        of = np.flatnonzero((best == c) & (scores > SCORE))
        found += [(scores[of[k]], c, boxes[of[k]]) for k in suppressed(boxes[of], scores[of], OVERLAP)]
    found.sort(key=lambda f: -f[0])
    return [{"image_id": name, "category_id": c, "score": float(s), "bbox": [*b[:2], *(b[2:] - b[:2])]}
            for s, c, b in found[:MOST]]


def rate(step, steps, epoch):
    """Return the learning rate of a step: a linear rise in WARMUP epochs, then a cosine to 0."""
    rise = WARMUP * epoch
    if step < rise:
        return RATE * (step + 1) / rise
    return RATE * (1 + math.cos(math.pi * (step - rise) / (steps - rise))) / 2


def main():
    archive, out, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(seed)
    draws, start = np.random.default_rng(seed), time.monotonic()
    names, training, test = read(archive)
    network = YOLOX(len(names), 0.33, 0.25, True)
    for predictions in (network.head.cls_preds, network.head.obj_preds):
        for convolution in predictions:
            torch.nn.init.constant_(convolution.bias, -math.log(99))
    kernels = [p for p in network.parameters() if p.dim() > 1]
    others = [p for p in network.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": kernels, "weight_decay": DECAY}, {"params": others, "weight_decay": 0}], RATE)
    average = {k: v.clone() for k, v in network.named_parameters()}
    epoch = -(-len(training) // BATCH)
    steps = EPOCHS * epoch
    for step in range(steps):
        if step % epoch == 0:
            order = draws.permutation(len(training))
        rows = [augmented(training[i], draws) for i in order[step % epoch * BATCH:][:BATCH]]
        for group in optimizer.param_groups:
            group["lr"] = rate(step, steps, epoch)
        outputs = network(torch.stack([tensor(r[0]) for r in rows]))
        losses = [loss_of(o, *r[1:]) for o, r in zip(outputs, rows)]
        optimizer.zero_grad()
        (sum(t for t, _ in losses) / max(1, sum(n for _, n in losses))).backward()
        optimizer.step()
        for k, v in network.named_parameters():
            average[k].mul_(AVERAGE).add_(v.detach(), alpha=1 - AVERAGE)
        if step % epoch == 0:
            print(f"epoch {step // epoch} of {EPOCHS}, {time.monotonic() - start:.0f} s", file=sys.stderr)
    network.load_state_dict({**network.state_dict(), **average})
    network.eval()
    with open(out, "w") as file:
        json.dump([d for sample in test for d in detections(network, sample)], file)
    print(json.dumps({"torch": torch.__version__, "trained_on": len(training), "tested_on": len(test),
                      "seconds": round(time.monotonic() - start)}))


if __name__ == "__main__":
    main()
