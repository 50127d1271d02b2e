#!/usr/bin/env python3
"""sumsdata.py FOLDER: writes the made-up data of sums.sh and of the kit of gpu.sh to FOLDER.

x.npy, x32.npy and x96.npy are 64 pictures of 64x64, 32x32 and 96x96, f.npy is 64 pictures of float32, y.npy
has their classes. labels.csv and numbers.csv are tables of 42 pictures: labels that do not exclude each
other, and numbers. pictures.npy and classes.npy are 1,000 pictures of 16x16 for int8. boxes:1, boxes:2, boxes:3 and
boxes:6 are folders of YOLO with that number of pictures.
"""
import os
import random
import struct
import sys


def npy(path, dtype, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (dtype, shape)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def tables(folder):
    draw, labels, numbers = random.Random(3), ["path,labels"], ["path,age,height"]
    for i in range(42):
        with open(f"{folder}/{i}.ppm", "wb") as f:
            f.write(b"P6 32 32 255\n" + draw.randbytes(32 * 32 * 3))
        holds = ";".join(name for name in ("cat", "dog", "man") if draw.random() < 0.4) or ";"
        labels.append(f"{i}.ppm,{'' if i % 9 == 4 else holds}")  # an empty cell is unknown
        numbers.append(f"{i}.ppm,{'' if i % 7 == 3 else draw.randrange(90)},{draw.gauss(1.7, 0.1):.3f}")
    for name, lines in ("labels", labels), ("numbers", numbers):
        with open(f"{folder}/{name}.csv", "w") as f:
            f.write("\n".join(lines) + "\n")


def boxes(folder, count):
    draw = random.Random(5)
    for part in "images", "labels":
        os.makedirs(f"{folder}/{part}/train")
    with open(f"{folder}/data.yaml", "w") as f:
        f.write("train: images/train\nval: images/train\nnames: [cat, dog, man]\n")
    for i in range(count):
        with open(f"{folder}/images/train/{i}.ppm", "wb") as f:
            f.write(b"P6 80 60 255\n" + draw.randbytes(80 * 60 * 3))
        with open(f"{folder}/labels/train/{i}.txt", "w") as f:
            for _ in range(1 + i % 3):
                f.write("%d %.3f %.3f %.3f %.3f\n" % (draw.randrange(3), draw.uniform(0.3, 0.7), draw.uniform(0.3, 0.7),
                                                      draw.uniform(0.1, 0.5), draw.uniform(0.1, 0.5)))


def main(folder):
    npy(f"{folder}/x.npy", "|u1", (64, 3, 64, 64), random.Random(1).randbytes(64 * 3 * 64 * 64))
    for side in 32, 96:
        npy(f"{folder}/x{side}.npy", "|u1", (64, 3, side, side), random.Random(side).randbytes(64 * 3 * side * side))
    npy(f"{folder}/f.npy", "<f4", (64, 3, 32, 32),
        struct.pack("<196608f", *map(random.Random(2).gauss, [0] * 196608, [1] * 196608)))
    npy(f"{folder}/y.npy", "<i8", (64,), b"".join(struct.pack("<q", i % 10) for i in range(64)))
    npy(f"{folder}/pictures.npy", "|u1", (1000, 16, 16, 3), random.Random(1).randbytes(1000 * 16 * 16 * 3))
    npy(f"{folder}/classes.npy", "<i8", (1000,), b"".join(struct.pack("<q", i % 10) for i in range(1000)))
    tables(folder)
    for count in 1, 2, 3, 6:
        boxes(f"{folder}/boxes:{count}", count)


main(sys.argv[1])
