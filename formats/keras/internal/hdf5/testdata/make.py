"""Makes the files of this folder with h5py 3.7 (Debian's python3-h5py).

    /usr/bin/python3 make.py

kinds.h5      every kind of value that the reader supports
wide.h5       a group of 301 members: its B-tree has a level above the leaves
NAME.no.h5    a file with one part that the reader refuses by its name
hostile/      damaged and malicious variants of kinds.h5 and wide.h5
"""
import os
import struct

import h5py
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
path = lambda name: os.path.join(here, name)


def kinds():
    with h5py.File(path("kinds.h5"), "w") as f:
        f.attrs["keras_version"] = "2.15.0"  # a string of variable length
        f.attrs["backend"] = np.bytes_("tensorflow")  # a string of fixed length
        f.attrs["count"] = np.int64(-3)
        f.attrs["layer_names"] = np.array([b"dense_1", b"bn", b""], dtype="S7")
        f.attrs["names"] = np.array(["gamma:0", "", "moving_mean:0"], dtype=h5py.string_dtype())
        f.attrs["weight_names"] = np.zeros((0,), "f8")  # Keras writes this for a layer without weights
        f.attrs["long"] = "x" * 9000
        g = f.create_group("dense_1/dense_1")
        g.create_dataset("kernel:0", data=np.arange(6, dtype="f4").reshape(2, 3))
        for t in "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split():
            f.create_dataset(t, data=np.array([[1, 2], [3, 100]], dtype=t))
        f.create_dataset("bool", data=np.array([True, False]))
        f.create_dataset("scalar", data=np.float32(2.5))
        f.create_dataset("empty", data=np.zeros((0, 4), "f4"))
        f["soft"] = h5py.SoftLink("/f4")
        f["hard"] = f["f4"]
        f["dense_1/up"] = f["/"]  # a group inside itself
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        d = h5py.h5d.create(f.id, b"compact", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((2,)), compact)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([7, 8], "f4"))


def wide():
    with h5py.File(path("wide.h5"), "w") as f:
        f.create_dataset("w", data=np.float32(77))
        for i in range(300):
            f["%d" % i] = f["w"]


def refused():
    def one(name, fill, **how):
        with h5py.File(path(name + ".no.h5"), "w", **how) as f:
            fill(f)

    data = np.zeros((4, 4), "f4")
    one("latest", lambda f: f.create_dataset("w", data=data), libver="latest")
    one("chunked", lambda f: f.create_dataset("w", data=data, chunks=(2, 2)))
    one("gzip", lambda f: f.create_dataset("w", data=data, compression="gzip"))
    one("bigendian", lambda f: f.create_dataset("w", data=data.astype(">f4")))
    one("compound", lambda f: f.create_dataset("w", data=np.zeros(2, [("a", "f4"), ("b", "i4")])))
    one("complex", lambda f: f.create_dataset("w", data=data.astype("c8")))
    one("unwritten", lambda f: f.create_dataset("w", (4, 4), "f4"))
    one("sequences", lambda f: f.create_dataset("w", (2,), h5py.vlen_dtype("f4")))

    def external(f):
        f.create_dataset("w", (4,), "f4", external=[("other.raw", 0, 16)])
    one("external", external)

    def link(f):
        f["w"] = h5py.ExternalLink("other.h5", "/w")
    one("link", link)


def hostile():
    os.makedirs(path("hostile"), exist_ok=True)
    base, wide = open(path("kinds.h5"), "rb").read(), open(path("wide.h5"), "rb").read()

    def put(name, b):
        open(path("hostile/" + name + ".h5"), "wb").write(b)

    def patched(b, at, fmt, *values):
        b = bytearray(b)
        struct.pack_into(fmt, b, at, *values)
        return bytes(b)

    put("nothing", b"")
    put("signature", base[:8])
    put("half", base[:len(base) // 2])
    put("root-outside", patched(base, 64, "<Q", 1 << 62))
    put("root-at-itself", patched(base, 64, "<Q", 0))
    header = struct.unpack_from("<Q", base, 64)[0]
    put("header-huge", patched(base, header + 8, "<I", 0xFFFFFFFF))
    # A continuation message that points to the header itself.
    put("header-loop", patched(base, header + 16, "<HHBBBBQQ", 0x10, 16, 0, 0, 0, 0, header + 16, 200))
    tree = base.index(b"TREE")
    leaf = struct.unpack_from("<Q", base, tree + 32)[0]
    put("tree-is-leaf", patched(base, tree + 32, "<Q", tree))
    put("tree-many", patched(base, tree + 6, "<H", 0xFFFF))
    put("tree-deep", patched(base, tree + 5, "<B", 255))
    put("leaf-many", patched(base, leaf + 6, "<H", 0xFFFF))
    put("leaf-outside", patched(base, tree + 32, "<Q", len(base) - 4))
    # In a tree with a level above the leaves: a node that is a child of itself, and a node with equal children.
    top = wide.index(b"TREE")
    while wide[top + 5] != 1:
        top = wide.index(b"TREE", top + 1)
    put("tree-loop", patched(wide, top + 32, "<Q", top))
    twice = struct.unpack_from("<Q", wide, top + 32)[0]
    put("tree-twice", patched(wide, top + 48, "<Q", twice))
    heap = base.index(b"HEAP")
    put("heap-huge", patched(base, heap + 8, "<Q", (1 << 64) - 1))
    put("heap-outside", patched(base, heap + 24, "<Q", len(base) - 8))
    put("name-outside", patched(base, leaf + 8, "<Q", 1 << 40))
    collection = base.index(b"GCOL")
    put("collection-huge", patched(base, collection + 8, "<Q", 1 << 63))
    put("collection-empty", patched(base, collection + 8, "<Q", 0))
    put("object-huge", patched(base, collection + 24, "<Q", (1 << 64) - 1))


kinds()
wide()
refused()
hostile()
