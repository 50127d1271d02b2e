#!/usr/bin/python3
"""Writes augment.json: what torchvision 0.14 makes of the synthetic pictures of pillow.py.

Run it in this folder with Debian's python3-torchvision. "randaugment" and "trivial" have, for
each change of the tables of RandAugment and TrivialAugmentWide, a result for every level 0 to 30
and, where the magnitude has a sign, another 31 for negative ones; the changes that have no
magnitude have one. A result is the first 8 digits of the SHA-256 of the pixels. "rotate" and
"jitter" are functional.rotate, and adjust_brightness, _contrast and _saturation of a factor.
"""
import hashlib
import json

import torch
import torchvision
from PIL import Image
from torchvision.transforms import autoaugment, functional

SIZES = [(23, 17), (40, 40)]


def picture(w, h, mode="RGB"):
    pixels = bytes((x * x * 3 + y * y * 5 + x * y * 7 + c * 50) % 256
                   for y in range(h) for x in range(w) for c in range(3))
    return Image.frombytes("RGB", (w, h), pixels).point(lambda v: 30 + v * 3 // 4).convert(mode)


def result(img):
    return hashlib.sha256(img.tobytes()).hexdigest()[:8]


def table(space, img):
    rows = {}
    for name, (magnitudes, signed) in space.items():
        values = [float(m) for m in magnitudes] if magnitudes.ndim > 0 else [0.0]
        if signed:
            values += [-m for m in values]
        rows[name] = " ".join(result(autoaugment._apply_op(
            img, name, m, functional.InterpolationMode.NEAREST, None)) for m in values)
    return rows


out = {"torchvision": torchvision.__version__, "randaugment": [], "trivial": [], "rotate": [], "jitter": []}
for w, h in SIZES:
    for mode in ["RGB", "L"]:
        img = picture(w, h, mode)
        where = {"width": w, "height": h, "mode": mode}
        out["randaugment"].append({**where, "rows": table(
            autoaugment.RandAugment()._augmentation_space(31, (h, w)), img)})
        out["trivial"].append({**where, "rows": table(
            autoaugment.TrivialAugmentWide()._augmentation_space(31), img)})
        for angle in [-180.0, -90.0, -33.3, 0.0, 7.0, 45.0, 90.0, 135.0, 180.0]:
            out["rotate"].append({**where, "by": angle, "is": result(functional.rotate(img, angle))})
        for factor in [0.0, 0.3, 0.6, 1.0, 1.25, 1.4, 2.0]:
            out["jitter"].append({**where, "by": factor, "is": " ".join(result(f(img, factor)) for f in [
                functional.adjust_brightness, functional.adjust_contrast, functional.adjust_saturation])})
text = json.dumps(out).replace('{"width"', '\n{"width"')
with open("augment.json", "w") as f:
    f.write(text + "\n")
