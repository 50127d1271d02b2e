"""Writes boxes.json: boxes that the transforms v2 of torchvision 0.21 move with a picture.

    python3 boxes.py > boxes.json

A picture is resized to "size", cropped to "result" at "at" (a letterbox if the numbers are negative),
and mirrored or not. Boxes are x1, y1, x2, y2 in float64, before ("boxes") and after ("moved").
torchvision removes boxes without an area only in SanitizeBoundingBoxes, which is not used here.
"""
import json
import random

import torch
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional as F


def moved(boxes, picture, size, at, result, mirrored):
    """Return boxes of a picture of size [height, width] as boxes of the result."""
    b = tv_tensors.BoundingBoxes(torch.tensor(boxes, dtype=torch.float64), format="XYXY", canvas_size=tuple(picture))
    b = F.resize(b, size)
    b = F.crop(b, at[0], at[1], *result)
    if mirrored:
        b = F.horizontal_flip(b)
    return [[round(v, 3) for v in corners] for corners in F.clamp_bounding_boxes(b).tolist()]


def box(r, height, width):
    """Return a random box of a picture. Some boxes touch the picture's borders."""
    x, y = sorted(r.sample(range(width + 1), 2)), sorted(r.sample(range(height + 1), 2))
    part = r.choice([0, 0.25, 0.5])
    return [x[0] + part, y[0] + part, x[1], y[1]]


def main():
    r, cases = random.Random(60), []
    for draw in range(40):
        picture = [r.randint(20, 300), r.randint(20, 300)]
        size = [r.randint(10, 400), r.randint(10, 400)]
        result = [r.randint(10, 300), r.randint(10, 300)]
        at = [r.randint(-100, 100), r.randint(-100, 100)]
        if draw % 3 == 0:  # a letterbox
            scale = min(result[0] / picture[0], result[1] / picture[1])
            size = [max(1, round(n * scale)) for n in picture]
            at = [-((r - s) // 2) for r, s in zip(result, size)]
        boxes = [box(r, *picture) for _ in range(5)]
        case = {"picture": picture, "size": size, "at": at, "result": result, "mirrored": draw % 2 == 1, "boxes": boxes}
        cases.append({**case, "moved": moved(boxes, picture, size, at, result, case["mirrored"])})
    print("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "]")


main()
