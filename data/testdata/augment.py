#!/usr/bin/python3
"""Writes augment.json: results of torchvision 0.14 on the synthetic pictures of pillow.py.

Run it in this folder with Debian's python3-torchvision. A result is the first 8 digits of the
SHA-256 of the pixels. augment.json contains:

"randaugment", "trivial": results of each change in the tables of RandAugment and
    TrivialAugmentWide. There is one result for each level 0 to 30, another 31 for negative
    magnitudes if the magnitude has a sign, and only one if the change has no magnitude.
"rotate": functional.rotate by an angle.
"jitter": adjust_brightness, adjust_contrast and adjust_saturation by a factor.
"crop": RandomCrop with a padding of 4 pixels, for each shift to the right and down.
"flip": hflip.
"part": RandomResizedCrop of a part (left, top, width, height) to a size (width, height),
    bilinear and bicubic.
"erase": a part set to 0.
"parts", "erased": statistics of 20,000 parts drawn by RandomResizedCrop, with its scale, and by
    RandomErasing. They are the means of: the part's share of the area, its square, the logarithm
    of height over width, its square, and the centre's x and y relative to the picture's size.
"""
import hashlib
import json
import math

import torch
import torchvision
from PIL import Image
from torchvision.transforms import InterpolationMode, RandomErasing, RandomResizedCrop, autoaugment, functional

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


def flat(t):
    """Return the picture of a tensor."""
    return functional.to_pil_image(t)


def moments(draw, w, h):
    sums, n = [0.0] * 6, 20_000
    for _ in range(n):
        top, left, ph, pw = draw()
        share, ratio = ph * pw / (w * h), math.log(ph / pw)
        for k, v in enumerate([share, share ** 2, ratio, ratio ** 2, (left + pw / 2) / w, (top + ph / 2) / h]):
            sums[k] += v
    return [round(s / n, 4) for s in sums]


out = {"torchvision": torchvision.__version__, "randaugment": [], "trivial": [], "rotate": [], "jitter": [],
       "crop": [], "flip": [], "part": [], "erase": [], "parts": [], "erased": []}
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
        for dy in range(-4, 5):
            around = functional.pad(img, 4)
            out["crop"].append({**where, "by": dy, "is": " ".join(
                result(functional.crop(around, 4 + dy, 4 + dx, h, w)) for dx in range(-4, 5))})
        out["flip"].append({**where, "is": result(functional.hflip(img))})
        for left, top, pw, ph in [(0, 0, w, h), (3, 2, 9, 12), (1, 5, 20, 7), (w - 5, h - 6, 5, 6), (0, 1, 1, 1)]:
            part = {**where, "box": [left, top, pw, ph]}
            for size in [(w, h), (8, 11), (64, 50)]:
                out["part"].append({**part, "size": size, "is": " ".join(
                    result(functional.resized_crop(img, top, left, ph, pw, size[::-1], filter))
                    for filter in [InterpolationMode.BILINEAR, InterpolationMode.BICUBIC])})
            out["erase"].append({**part, "is": result(flat(functional.erase(
                functional.pil_to_tensor(img), top, left, ph, pw, torch.tensor(0, dtype=torch.uint8))))})
torch.manual_seed(0)
for w, h in [(40, 40), (60, 25)]:
    img = functional.pil_to_tensor(picture(w, h)).float()
    for scale in [(0.08, 1.0), (0.5, 0.9)]:
        out["parts"].append({"width": w, "height": h, "scale": scale, "moments": moments(
            lambda: RandomResizedCrop.get_params(img, list(scale), [3 / 4, 4 / 3]), w, h)})
    out["erased"].append({"width": w, "height": h, "moments": moments(
        lambda: RandomErasing.get_params(img, (0.02, 0.33), (0.3, 3.3), [0])[:4], w, h)})
text = json.dumps(out).replace('{"width"', '\n{"width"')
with open("augment.json", "w") as f:
    f.write(text + "\n")
