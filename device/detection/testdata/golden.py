#!/usr/bin/env python3
"""Writes golden.json: boxes that torchvision.ops.batched_nms keeps (torchvision 0.14), the best first.

Scores differ, because torchvision's order of equal scores is not defined.
"""
import json, random
import torch, torchvision

cases = []
for seed in range(20):
    r = random.Random(seed)
    n, classes, most = r.randint(1, 80), 3, r.choice([5, 100])
    number = (lambda: r.randint(0, 20)) if seed % 2 else (lambda: round(r.uniform(0, 20), 3))
    boxes = [[x, y, x + number() + 1, y + number() + 1] for x, y in [(number(), number()) for _ in range(n)]]
    scores = [s / 1000 for s in r.sample(range(1000), n)]
    of = [r.randrange(classes) for _ in range(n)]
    score, overlap = r.choice([0, 0.3]), r.choice([0.25, 0.5, 0.75])
    b, s, c = torch.tensor(boxes, dtype=torch.float32), torch.tensor(scores), torch.tensor(of)
    left = torch.where(s > score)[0]
    kept = left[torchvision.ops.batched_nms(b[left], s[left], c[left], overlap)][:most]
    cases.append({"boxes": boxes, "scores": scores, "classes": of, "score": score, "overlap": overlap, "most": most,
                  "kept": kept.tolist()})
print("[" + ",\n".join(json.dumps(c) for c in cases) + "]")
