"""Writes a checkpoint of 1 GB, for measurements: bigcheckpoint.py FILE.safetensors

60 convolutions with a batch norm behind each, under the names of a model in DataParallel.
bnctl strip makes a .pth of it.
"""

import json
import struct
import sys


def main(path):
    header, sizes, end = {}, [], 0
    for i in range(60):
        layer = f"module.layer{i}"
        shapes = {f"{layer}.conv.weight": [512, 512, 4, 4]}
        shapes |= {f"{layer}.bn.{part}": [512] for part in ("weight", "bias", "running_mean", "running_var")}
        for name, shape in shapes.items():
            size = 4
            for n in shape:
                size *= n
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
            sizes.append(size)
            end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    block = b"".join(struct.pack("<f", 0.001 * (k % 97 + 1)) for k in range(1 << 18))
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for size in sizes:
            while size > 0:
                f.write(block[:size])
                size -= len(block)


main(sys.argv[1])
