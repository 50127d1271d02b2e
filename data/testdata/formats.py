#!/usr/bin/python3
"""Writes formats.tar.gz and masks.tar.gz.

formats.tar.gz contains small pictures in the formats that Pillow writes, and in some that it
only reads, with digests of the pixels that Pillow 9.4 reads, as in jpeg.py. masks.tar.gz
contains masks, with the numbers that NumPy reads from them as a text of digits.

Run it in this folder with Debian's python3-pil (libtiff, libwebp).
"""
import gzip
import hashlib
import io
import json
import random
import struct
import tarfile

from PIL import Image


def picture(w, h, seed=0):
    r = random.Random(seed)
    return Image.frombytes("RGB", (w, h), bytes(min(255, max(0, int(x * 9 + y * 5 + c * 40 + r.random() * 30)))
                                                for y in range(h) for x in range(w) for c in range(3)))


def saved(img, format, **options):
    b = io.BytesIO()
    img.save(b, format, **options)
    return b.getvalue()


def digest(img):
    return hashlib.sha256(img.convert("RGB").tobytes()).hexdigest()[:16]


def write(name, files, about, what):
    files = dict(files, **{what: json.dumps(about, sort_keys=True).encode()})
    with open(name, "wb") as out, gzip.GzipFile(fileobj=out, mode="wb", mtime=0, filename="") as z, \
            tarfile.open(fileobj=z, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for path in sorted(files):
            info = tarfile.TarInfo(path)
            info.size = len(files[path])
            t.addfile(info, io.BytesIO(files[path]))


def netpbm():
    rgb, grey = picture(7, 5), picture(7, 5, 1).convert("L")
    few = bytes(v * 100 // 255 for v in rgb.tobytes())
    wide = b"".join(struct.pack(">H", v * 257 - (v > 0) * 60) for v in rgb.tobytes())
    text = " ".join(str(v) for v in rgb.tobytes()).encode()
    yield "ppm/p6.ppm", saved(rgb, "PPM")
    yield "ppm/p5.pgm", saved(grey, "PPM")
    yield "ppm/comment.ppm", b"P6 # a\n# comment 9 9\n7#x\n 5\n255\n" + rgb.tobytes()
    yield "ppm/most100.ppm", b"P6\n7 5\n100\n" + few
    yield "ppm/above.ppm", b"P6\n7 5\n100\n" + rgb.tobytes()
    yield "ppm/16bits.ppm", b"P6\n7 5\n65535\n" + wide
    yield "ppm/1000.ppm", b"P6\n7 5\n1000\n" + b"".join(struct.pack(">H", v * 3) for v in rgb.tobytes())
    yield "ppm/text.ppm", b"P3\n7 5\n255\n" + text + b"\n"
    yield "ppm/text-comment.ppm", b"P3\n7 5 255 # here\n" + text.replace(b" ", b"\n#c\n", 1)
    yield "ppm/text.pgm", b"P2\n7 5\n63\n" + " ".join(str(v // 4) for v in grey.tobytes()).encode()
    for most in range(1, 256, 2):
        yield f"ppm/most{most}.pgm", b"P5 16 16 %d\n" % most + bytes(range(256))


def gif():
    a = picture(20, 12).quantize(64)
    yield "gif/one.gif", saved(a, "GIF")
    yield "gif/interlaced.gif", saved(a, "GIF", interlace=1)
    yield "gif/grey.gif", saved(picture(20, 12).convert("L"), "GIF")
    yield "gif/bilevel.gif", saved(picture(20, 12).convert("1"), "GIF")
    yield "gif/transparent.gif", saved(a, "GIF", transparency=a.getpixel((3, 3)))
    yield "gif/animated.gif", saved(picture(20, 12), "GIF", save_all=True, append_images=[picture(20, 12, 5)])
    whole = saved(a, "GIF")
    at = whole.index(b",\0\0\0\0") if b",\0\0\0\0" in whole else None
    placed = bytearray(whole)
    struct.pack_into("<HH", placed, 6, 30, 18)  # a larger screen, with the picture away from its corner
    struct.pack_into("<HH", placed, at + 1, 4, 3)
    yield "gif/placed.gif", bytes(placed)


def webp():
    a, b = picture(20, 12), picture(20, 12, 7)
    alpha = a.convert("RGBA")
    alpha.putalpha(a.convert("L"))
    yield "webp/animated.webp", saved(a, "WEBP", save_all=True, append_images=[b], lossless=True)
    yield "webp/lossy.webp", saved(a, "WEBP", save_all=True, append_images=[b], quality=60)
    yield "webp/alpha.webp", saved(alpha, "WEBP", save_all=True, append_images=[b.convert("RGBA")], lossless=True, exact=True)
    whole = bytearray(saved(a, "WEBP", save_all=True, append_images=[b], lossless=True))
    at = whole.index(b"VP8X")
    whole[at + 12:at + 18] = (29).to_bytes(3, "little") + (17).to_bytes(3, "little")
    at = whole.index(b"ANMF")
    whole[at + 8:at + 14] = (2).to_bytes(3, "little") + (1).to_bytes(3, "little")
    yield "webp/placed.webp", bytes(whole)


def weighted(img):
    """Return a TIFF with colours multiplied by alpha, which Pillow reads but does not write."""
    data = bytearray(saved(img, "TIFF"))
    at = data.index(struct.pack("<HHIH", 338, 3, 1, 2))
    struct.pack_into("<H", data, at + 8, 1)
    start = struct.unpack_from("<I", data, data.index(struct.pack("<HHI", 273, 4, 1)) + 8)[0]
    data[start:start + len(img.tobytes())] = img.convert("RGBa").tobytes()
    return bytes(data)


def tiff():
    inks = picture(37, 21).convert("CMYK")
    weighed = picture(19, 13).convert("RGBA")
    weighed.putalpha(picture(19, 13, 3).convert("L"))
    yield "tiff/weighed.tiff", weighted(weighed)
    for name, how in ("raw", None), ("lzw", "tiff_lzw"), ("deflate", "tiff_adobe_deflate"), ("packbits", "packbits"):
        yield f"tiff/cmyk-{name}.tiff", saved(inks, "TIFF", compression=how)
    yield "tiff/cmyk-predictor.tiff", saved(inks, "TIFF", compression="tiff_lzw", tiffinfo={317: 2})
    for name, img in ("rgb", picture(37, 21)), ("grey", picture(37, 21).convert("L")), ("large", picture(130, 300)):
        yield f"tiff/jpeg-{name}.tiff", saved(img, "TIFF", compression="jpeg", quality=80)
    yield "tiff/jpeg-ycc.tiff", saved(picture(64, 40).convert("YCbCr"), "TIFF", compression="jpeg", quality=80)


files, results = {}, {}
for make in netpbm, gif, webp, tiff:
    for name, data in make():
        img = Image.open(io.BytesIO(data))
        files[name], results[name] = data, digest(img)
write("formats.tar.gz", files, results, "pixels.json")

# Masks, with the numbers of numpy.array(Image.open(...)).
files, results = {}, {}
numbers = bytes((x // 3 + y // 2) % 5 for y in range(6) for x in range(9))
grey = Image.frombytes("L", (9, 6), numbers)
indexed = Image.frombytes("P", (9, 6), numbers)
indexed.putpalette([v for i in range(256) for v in (i * 40 % 256, i * 90 % 256, 255 - i)])
for name, img, format, options in [
        ("grey.bmp", grey, "BMP", {}), ("indexed.bmp", indexed, "BMP", {}), ("grey.tiff", grey, "TIFF", {}),
        ("lzw.tiff", grey, "TIFF", {"compression": "tiff_lzw"}), ("indexed.tiff", indexed, "TIFF", {}),
        ("indexed.gif", indexed, "GIF", {"optimize": False}), ("grey.gif", grey, "GIF", {"optimize": False}),
        ("grey.pgm", grey, "PPM", {}), ("grey.png", grey, "PNG", {}), ("indexed.png", indexed, "PNG", {"bits": 4})]:
    files[name] = saved(img, format, **options)
    results[name] = "".join(str(v) for v in Image.open(io.BytesIO(files[name])).tobytes())
write("masks.tar.gz", files, results, "pixels.json")
