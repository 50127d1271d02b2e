#!/usr/bin/env python3
"""Writes batched.json: torchvision.ops.batched_nms by its definition (_batched_nms_vanilla), in numpy.

Each class is suppressed alone with a stable sort of its scores, and the rest is sorted by score.
"""
import json, random
import numpy as np


def nms(boxes, scores, threshold):
    order, kept = list(np.argsort(-scores, kind="stable")), []
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while order:
        i = order.pop(0)
        kept.append(i)
        rest = []
        for j in order:
            w = max(np.float32(0), min(boxes[i, 2], boxes[j, 2]) - max(boxes[i, 0], boxes[j, 0]))
            h = max(np.float32(0), min(boxes[i, 3], boxes[j, 3]) - max(boxes[i, 1], boxes[j, 1]))
            common = w * h
            if not common / (areas[i] + areas[j] - common) > np.float32(threshold):
                rest.append(j)
        order = rest
    return kept


def case(seed):
    r = random.Random(seed)
    n = r.randint(1, 60)
    number = (lambda: r.randint(0, 20)) if seed % 2 else (lambda: r.uniform(0, 20))
    boxes = np.array([[x, y, x + number() + 1, y + number() + 1] for x, y in [(number(), number()) for _ in range(n)]],
                     np.float32)
    scores = np.array([round(r.random(), r.choice([1, 5])) for _ in range(n)], np.float32)
    classes = np.array([r.randint(0, 2) for _ in range(n)])
    threshold = r.choice([0, 0.3, 0.5, 0.7])
    kept = np.zeros(n, bool)
    for c in set(classes.tolist()):
        at = np.where(classes == c)[0]
        kept[at[nms(boxes[at], scores[at], threshold)]] = True
    kept = np.where(kept)[0]
    kept = kept[np.argsort(-scores[kept], kind="stable")]
    return {"boxes": boxes.tolist(), "scores": scores.tolist(), "classes": classes.tolist(), "overlap": threshold,
            "selected": kept.tolist()}


print("[" + ",\n".join(json.dumps(case(seed)) for seed in range(30)) + "]")
