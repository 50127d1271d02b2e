#!/usr/bin/env python3
"""Prints the sum of the weights in TestWeightsSum, as docs/format.md defines it."""
import hashlib
import struct

h = hashlib.sha256()
h.update(b"a i32 [1]\n" + struct.pack("<i", 7))
h.update(b"b.weight f32 [2 1]\n" + struct.pack("<2f", 1, -0.5))
print(h.hexdigest())
