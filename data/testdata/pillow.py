#!/usr/bin/python3
"""Writes pillow.json, picture.webp, cmyk.jpg and progressive.jpg.

pillow.json contains results of Pillow and torchvision on synthetic pictures. Pixel (x, y) of
channel c of a picture is (x*x*3 + y*y*5 + x*y*7 + c*50) mod 256. A result is the SHA-256 and
the first 12 bytes of its pixels. A "fit" is torchvision's Resize(resize), which scales the
shorter side, and CenterCrop(crop). A "box" is a part (x, y, w, h), resized as in
RandomResizedCrop. Both use the bilinear and the bicubic filter. The other files are pictures
of 16 x 8 pixels, red on the left and blue on the right.

Run it in this folder with Debian's python3-pil.
"""
import hashlib
import json

import PIL
from PIL import Image


def picture(w, h):
    pixels = bytes((x * x * 3 + y * y * 5 + x * y * 7 + c * 50) % 256
                   for y in range(h) for x in range(w) for c in range(3))
    return Image.frombytes("RGB", (w, h), pixels)


def result(img):
    pixels = img.tobytes()
    return {"sha256": hashlib.sha256(pixels).hexdigest(), "first": list(pixels[:12])}


def fit(w, h, resize, crop, how=Image.BILINEAR):
    img = picture(w, h)
    if w <= h:
        size = (resize, int(resize * h / w))
    else:
        size = (int(resize * w / h), resize)
    img = img.resize(size, how)
    left, top = round((size[0] - crop) / 2.0), round((size[1] - crop) / 2.0)
    return result(img.crop((left, top, left + crop, top + crop)))


def box(w, h, x, y, bw, bh, side, how=Image.BILINEAR):
    return result(picture(w, h).crop((x, y, x + bw, y + bh)).resize((side, side), how))


halves = Image.new("RGB", (16, 8), (0, 0, 255))
halves.paste((255, 0, 0), (0, 0, 8, 8))
halves.save("picture.webp", lossless=True)
halves.save("progressive.jpg", quality=95, progressive=True)
halves.convert("CMYK").save("cmyk.jpg", quality=95)

cases = {"pillow": PIL.__version__, "fit": [], "fit_bicubic": [], "box": [], "box_bicubic": [], "grey": []}
for args in [(500, 375, 256, 224), (375, 500, 256, 224), (100, 101, 256, 224), (33, 47, 32, 32),
             (64, 64, 32, 32), (31, 17, 40, 29), (1000, 20, 21, 20), (7, 3, 64, 64)]:
    cases["fit"].append({"args": args, **fit(*args)})
    cases["fit_bicubic"].append({"args": args, **fit(*args, Image.BICUBIC)})
for args in [(500, 375, 10, 20, 300, 200, 224), (500, 375, 0, 0, 500, 375, 64), (50, 40, 49, 39, 1, 1, 8),
             (50, 40, 3, 5, 40, 30, 224)]:
    cases["box"].append({"args": args, **box(*args)})
    cases["box_bicubic"].append({"args": args, **box(*args, Image.BICUBIC)})
for args in [(64, 48)]:
    cases["grey"].append({"args": args, **result(picture(*args).convert("L"))})
with open("pillow.json", "w") as f:  # one line per result
    f.write(json.dumps(cases).replace(', {"args"', ',\n {"args"') + "\n")
