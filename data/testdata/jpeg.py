#!/usr/bin/python3
"""Writes pictures.tar.gz and exif.tar.gz.

pictures.tar.gz contains JPEG and lossy WebP files, and in pixels.json the first 8 bytes of the
SHA-256 of the RGB pixels that Pillow reads from each. exif.tar.gz contains pictures with an
EXIF orientation, with the result of ImageOps.exif_transpose for each. For a TIFF it is the
result of loading it, because Pillow already turns a TIFF when it loads it.

Run it in this folder with Debian's python3-pil and python3-numpy (libjpeg-turbo
2.1.5, libwebp 1.2.4) and libjpeg-turbo-progs (cjpeg). There are JPEGs of all sizes from 1 by 1
to 17 by 17, in each of six chroma samplings, baseline and progressive, with about four colours
that blend into each other. The photographs are drawn: textured surfaces under uneven light,
edges, and noise like a sensor's.
"""
import hashlib
import io
import json
import os
import random
import subprocess
import tarfile

import numpy
from PIL import Image, ImageDraw, ImageOps

random.seed(1)
SAMPLINGS = {"444": "1x1", "422": "2x1", "420": "2x2", "440": "1x2", "411": "4x1", "410": "4x2"}


def picture(w, h):
    few = Image.new("RGB", (3, 3))
    few.putdata([tuple(random.choice((0, 255, random.randrange(256))) for _ in range(3)) for _ in range(9)])
    return few.resize((w, h), Image.BICUBIC)


def jpeg(img, *options):
    ppm = b"P6 %d %d 255\n" % img.size + img.tobytes()
    return subprocess.run(["cjpeg", *options], input=ppm, check=True, stdout=subprocess.PIPE).stdout


def scene(seed, w=151, h=103):
    draws = numpy.random.default_rng(seed)

    def texture(cells):
        grid = draws.normal(size=(max(h // cells, 1) + 1, max(w // cells, 1) + 1)).astype("f4")
        return numpy.asarray(Image.fromarray(grid).resize((w, h), Image.BICUBIC))

    mask = Image.new("I", (w, h))
    pen = ImageDraw.Draw(mask)
    for i in range(1, 12):
        x, y, r = draws.uniform(0, w), draws.uniform(0, h), draws.uniform(5, 40)
        (pen.ellipse if i % 2 else pen.rectangle)((x - r, y - r / 2, x + r, y + r / 2), fill=i)
    parts = numpy.asarray(mask)
    colours, coarse = draws.uniform(20, 235, (12, 3)), draws.choice([2, 4, 9, 30], 12)
    surfaces = {c: texture(c) for c in sorted(set(coarse.tolist()))}
    grain = numpy.choose(parts, [surfaces[c] for c in coarse])
    light = 1 + 0.25 * texture(60)
    pixels = (colours[parts] + 22 * grain[..., None]) * light[..., None] + draws.normal(0, 3, (h, w, 3))
    return Image.fromarray(pixels.clip(0, 255).round().astype("u1"))


def write(archive, files, results):
    with tarfile.open(archive, "w:gz", compresslevel=9) as tar:
        for name, data in [*files.items(), ("pixels.json", json.dumps(results).encode())]:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def pixels(img):
    return hashlib.sha256(img.convert("RGB").tobytes()).hexdigest()[:16]


files, results = {}, {}
for sampling, factors in SAMPLINGS.items():
    for w in range(1, 18):
        for h in range(1, 18):
            if sampling in ("411", "410") and (w * h) % 5:
                continue
            img = picture(w, h)
            for kind in ["baseline", "progressive"]:
                options = ["-sample", factors, "-quality", "50"] + ["-progressive"] * (kind == "progressive")
                files[f"{sampling}/{w}x{h}.{kind}.jpg"] = jpeg(img, *options)
for name, seed in {"one": 1, "two": 2}.items():
    img = scene(seed)
    files[f"photographs/{name}.jpeg"] = jpeg(img, "-quality", "90")
    files[f"photographs/{name}.progressive.jpeg"] = jpeg(img, "-quality", "90", "-progressive")
    files[f"photographs/{name}.restart.jpeg"] = jpeg(img, "-quality", "75", "-restart", "2B")
    files[f"photographs/{name}.grey.jpeg"] = jpeg(img, "-quality", "75", "-grayscale")
    files[f"photographs/{name}.rgb.jpeg"] = jpeg(img, "-quality", "75", "-rgb")
    files[f"photographs/{name}.fine.jpeg"] = jpeg(img, "-quality", "100", "-optimize")
    for sampling, factors in SAMPLINGS.items():
        kind = ["-progressive"] * (name == "two")
        files[f"photographs/{name}.q50.{sampling}.jpeg"] = jpeg(img, "-quality", "50", "-sample", factors, *kind)
    b = io.BytesIO()
    img.convert("CMYK").save(b, "JPEG", quality=75)
    files[f"photographs/{name}.cmyk.jpeg"] = b.getvalue()
photograph = scene(3)
transparent = photograph.convert("RGBA")
transparent.putalpha(photograph.convert("L"))
for name, img in {"whole": photograph, "transparent": transparent, "odd": photograph.crop((9, 9, 42, 26)),
                  "column": photograph.crop((50, 50, 51, 57)), "small": photograph.crop((50, 50, 52, 52))}.items():
    b = io.BytesIO()
    img.save(b, "WEBP", quality=70)
    files[f"webp/{name}.webp"] = b.getvalue()
for name, data in files.items():
    results[name] = pixels(Image.open(io.BytesIO(data)))
write("pictures.tar.gz", files, results)

# The eight orientations in each format that has them, and in both byte orders.
files, results = {}, {}
small = picture(7, 5)
for orientation in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = orientation
    big = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x02\x01\x00\0\x03\0\0\0\x01\0\x07\0\0\x01\x12\0\x03\0\0\0\x01\0%c\0\0\0\0\0\0" \
        % orientation
    for name, format, tags in [("intel.jpg", "JPEG", exif.tobytes()), ("motorola.jpg", "JPEG", big),
                               ("a.png", "PNG", exif.tobytes()), ("a.webp", "WEBP", exif.tobytes()),
                               ("motorola.webp", "WEBP", big)]:
        b = io.BytesIO()
        small.save(b, format, exif=tags, **({"lossless": True} if format == "WEBP" else {}))
        files[f"{orientation}/{name}"] = b.getvalue()
    b = io.BytesIO()
    small.save(b, "TIFF", tiffinfo={0x0112: orientation})
    files[f"{orientation}/a.tiff"] = b.getvalue()
for name, data in files.items():
    img = Image.open(io.BytesIO(data))
    img.load()
    turned = img if img.format == "TIFF" else ImageOps.exif_transpose(img)
    results[name] = {"width": turned.width, "height": turned.height, "pixels": pixels(turned)}
write("exif.tar.gz", files, results)
