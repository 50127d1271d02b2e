"""Makes cases/ (small networks, with outputs computed here by the definitions)
and hostile/ (files that have to be refused), without Caffe. Needs numpy.
Run here: python3 make.py"""
import os, struct
import numpy as np


def varint(n):
    n &= 2**64 - 1
    out = b""
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def num(field, *values):
    return b"".join(varint(field << 3) + varint(v) for v in values)


def msg(field, b):
    b = b.encode() if isinstance(b, str) else b
    return varint(field << 3 | 2) + varint(len(b)) + b


def flt(field, v):
    return varint(field << 3 | 5) + struct.pack("<f", v)


def shape(dims):
    return msg(1, b"".join(varint(d) for d in dims))


def blob(a):
    a = np.asarray(a, "<f4")
    return msg(7, shape(a.shape)) + msg(5, a.tobytes())


def old_blob(a):
    """As Caffe wrote it in 2014: four lengths, floats that are not packed."""
    a = np.asarray(a, "<f4")
    dims = (1,) * (4 - a.ndim) + a.shape
    return b"".join(num(i + 1, d) for i, d in enumerate(dims)) + b"".join(flt(5, v) for v in a.ravel())


def layer(name, kind, bottom=(), top=(), blobs=(), *params, encode=blob):
    out = msg(1, name) + msg(2, kind) + b"".join(msg(3, b) for b in bottom) + b"".join(msg(4, t) for t in top)
    return msg(100, out + b"".join(msg(7, encode(b)) for b in blobs) + b"".join(params))


rng = np.random.default_rng(5)


def draw(*dims):
    return rng.standard_normal(dims).astype("f4")


def conv(x, w, b, stride, pad):
    n, c, h, wd = x.shape
    o, _, kh, kw = w.shape
    x = np.pad(x.astype("f8"), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    oh, ow = (x.shape[2] - kh) // stride + 1, (x.shape[3] - kw) // stride + 1
    y = np.empty((n, o, oh, ow))
    for i in range(oh):
        for j in range(ow):
            y[:, :, i, j] = np.tensordot(x[:, :, i * stride:i * stride + kh, j * stride:j * stride + kw], w, ((1, 2, 3), (1, 2, 3)))
    return y + b[:, None, None]


def pool(x, k, s, p, average):
    """caffe/src/caffe/layers/pooling_layer.cpp, by its definition."""
    n, c, h, w = x.shape
    out = []
    for size in (h, w):
        o = -(-(size + 2 * p - k) // s) + 1
        if p and (o - 1) * s >= size + p:
            o -= 1
        out.append(o)
    y = np.empty((n, c, *out))
    for i in range(out[0]):
        for j in range(out[1]):
            i0, j0 = i * s - p, j * s - p
            i1, j1 = min(i0 + k, h + p), min(j0 + k, w + p)
            area = (i1 - i0) * (j1 - j0)
            part = x[:, :, max(i0, 0):min(i1, h), max(j0, 0):min(j1, w)]
            y[:, :, i, j] = part.sum((2, 3)) / area if average else part.max((2, 3))
    return y


def save(name, parts, x=None, y=None):
    open(f"cases/{name}.caffemodel", "wb").write(msg(1, name) + b"".join(parts))
    if x is not None:
        np.save(f"cases/{name}.input.npy", x.astype("<f4"))
        np.save(f"cases/{name}.output.npy", y.astype("<f4"))


def network(name, encode=blob):
    """Convolution, BatchNorm and Scale in place, a residual, pooling that rounds up, a dense layer."""
    x = draw(2, 3, 9, 9)
    w1, w2, b2, wd, bd = draw(4, 3, 3, 3), draw(4, 4, 1, 1), draw(4), draw(5, 4 * 2 * 2), draw(5)
    mean, var, factor, gamma, beta = draw(4), 10 + draw(4) ** 2, np.array([4.0]), draw(4), draw(4)
    head = msg(1, shape((10, 3, 9, 9)))
    layers = [
        layer("data", "Input", (), ["data"], (), msg(143, head)),
        layer("conv1", "Convolution", ["data"], ["c1"], [w1], msg(106, num(1, 4) + num(2, 0) + num(3, 1) + num(4, 3) + num(6, 2)), encode=encode),
        layer("bn1", "BatchNorm", ["c1"], ["c1"], [mean, var, factor], msg(139, flt(3, 0.001)), encode=encode),
        layer("scale1", "Scale", ["c1"], ["c1"], [gamma, beta], msg(142, num(4, 1)), encode=encode),
        layer("relu1", "ReLU", ["c1"], ["c1"]),
        layer("conv2", "Convolution", ["c1"], ["c2"], [w2, b2], msg(106, num(1, 4) + num(4, 1)), encode=encode),
        layer("sum", "Eltwise", ["c1", "c2"], ["s"], (), msg(110, flt(2, 1.0) + flt(2, -0.5))),
        layer("pool", "Pooling", ["s"], ["p"], (), msg(121, num(1, 0) + num(2, 3) + num(3, 3))),
        layer("drop", "Dropout", ["p"], ["p"]),
        layer("fc", "InnerProduct", ["p"], ["fc"], [wd, bd], msg(117, num(1, 5)), encode=encode),
        layer("prob", "Softmax", ["fc"], ["prob"]),
    ]
    c1 = conv(x, w1, np.zeros(4), 2, 1)
    m, v = mean / 4, var / 4
    c1 = (c1 - m[:, None, None]) / np.sqrt(v + np.float32(0.001))[:, None, None] * gamma[:, None, None] + beta[:, None, None]
    c1 = np.maximum(c1, 0)
    p = pool(c1 - 0.5 * conv(c1, w2, b2, 1, 0), 3, 3, 0, False)
    fc = p.reshape(2, -1) @ wd.T.astype("f8") + bd
    save(name, layers, x, fc)


def poolings():
    """Every pooling of a small plane, joined."""
    x = draw(2, 2, 7, 7)
    settings = [(2, 2, 0, 0), (2, 2, 0, 1), (3, 2, 0, 1), (3, 2, 1, 0), (3, 2, 1, 1), (3, 3, 1, 0), (2, 3, 1, 0)]
    layers, outs, tops = [layer("data", "Input", (), ["data"], (), msg(143, msg(1, shape((1, 2, 7, 7)))))], [], []
    for i, (k, s, p, avg) in enumerate(settings):
        layers.append(layer(f"p{i}", "Pooling", ["data"], [f"p{i}"], (), msg(121, num(1, avg) + num(2, k) + num(3, s) + num(4, p))))
        layers.append(layer(f"f{i}", "Flatten", [f"p{i}"], [f"f{i}"]))
        outs.append(pool(x.astype("f8"), k, s, p, avg).reshape(2, -1))
        tops.append(f"f{i}")
    layers.append(layer("all", "Concat", tops, ["all"]))
    save("poolings", layers, x, np.concatenate(outs, 1))


def trained():
    """As a snapshot is: with data, loss and accuracy; the size from the crop; a factor of 0."""
    x, w = draw(2, 3, 4, 4), draw(2, 3, 1, 1)
    save("snapshot", [
        layer("data", "Data", (), ["data", "label"], (), msg(100, num(3, 4))),
        layer("conv", "Convolution", ["data"], ["conv"], [w], msg(106, num(1, 2) + num(2, 0) + num(4, 1))),
        layer("bn", "BatchNorm", ["conv"], ["bn"], [draw(2), draw(2), np.zeros(1)]),
        layer("pool", "Pooling", ["bn"], ["pool"], (), msg(121, num(1, 1) + num(12, 1))),
        layer("loss", "SoftmaxWithLoss", ["pool", "label"], ["loss"]),
        layer("accuracy", "Accuracy", ["pool", "label"], ["accuracy"], (), msg(8, num(1, 1)))],
        x, conv(x, w, np.zeros(2), 1, 0).mean((2, 3), keepdims=True) / np.sqrt(1e-5))
    save("no_size", [
        layer("data", "Data", (), ["data", "label"]),
        layer("conv", "Convolution", ["data"], ["conv"], [w], msg(106, num(1, 2) + num(2, 0) + num(4, 1)))])


def hostile():
    def write(name, b):
        open(f"hostile/{name}.caffemodel", "wb").write(b)

    w, data = draw(2, 3, 1, 1), layer("data", "Input", (), ["data"], (), msg(143, msg(1, shape((1, 3, 4, 4)))))

    def one(name, kind, blobs=(), *params, bottom=("data",), top=("y",), first=data):
        write(name, first + layer("l", kind, bottom, top, blobs, *params))

    ok = msg(106, num(1, 2) + num(2, 0) + num(4, 1))
    whole = msg(1, "net") + data + layer("conv", "Convolution", ["data"], ["y"], [w], ok)
    write("truncated", whole[:-7])
    write("length_2_63", data + varint(100 << 3 | 2) + varint(2**63))
    write("length_of_varint", data + varint(100 << 3 | 2) + b"\xff" * 11)
    write("group", data + varint(100 << 3 | 3))
    write("layer_is_number", data + num(100, 7))
    write("no_layers", msg(1, "net"))
    write("first_format", msg(1, "net") + msg(2, msg(2, "data") + msg(4, "conv")))
    write("name_not_utf8", data + msg(100, msg(1, b"\xff\xfe")))
    write("name_long", data + msg(100, msg(1, "n" * 5000)))
    write("blob_short", data + msg(100, msg(1, "l") + msg(7, msg(7, shape((2, 3))) + msg(5, bytes(20)))))
    write("blob_overflow", data + msg(100, msg(1, "l") + msg(7, msg(7, shape((2**31 - 1,) * 4)))))
    write("blob_negative", data + msg(100, msg(1, "l") + msg(7, msg(7, shape((-1, 3))))))
    write("blob_rank_9", data + msg(100, msg(1, "l") + msg(7, msg(7, shape((1,) * 9)))))
    write("settings_many", data + msg(100, msg(1, "l") + b"".join(msg(100 + i, b"") for i in range(40))))
    write("pieces_many", data + msg(100, msg(1, "l") + msg(7, msg(5, bytes(4)) * 2000)))
    write("piece_odd", data + msg(100, msg(1, "l") + msg(7, msg(5, bytes(7)) + msg(5, bytes(1)))))
    write("both_widths", data + msg(100, msg(1, "l") + msg(7, msg(5, bytes(4)) + msg(8, bytes(8)))))
    write("elements_are_numbers", data + msg(100, msg(1, "l") + msg(7, num(5, 1))))
    write("blobs_many", data + msg(100, msg(1, "l") + msg(7, msg(5, bytes(4)) + msg(7, shape((1,)))) * 500))
    write("two_of_a_name", data + layer("l", "Convolution", ["data"], ["y"], [w], ok) * 2)
    one("kernel_0", "Convolution", [w], msg(106, num(1, 2) + num(4, 0)))
    one("kernel_none", "Convolution", [w], msg(106, num(1, 2)))
    one("stride_0", "Convolution", [w], msg(106, num(1, 2) + num(4, 1) + num(6, 0)))
    one("stride_huge", "Convolution", [w], msg(106, num(1, 2) + num(4, 1) + num(6, 2**40)))
    one("kernel_large", "Convolution", [w], msg(106, num(1, 2) + num(4, 9)))
    one("groups_0", "Convolution", [w], msg(106, num(1, 2) + num(4, 1) + num(5, 0)))
    one("no_weights", "Convolution", [], ok)
    one("weights_differ", "Convolution", [draw(2, 2, 1, 1)], ok)
    one("bn_blobs", "BatchNorm", [draw(3), draw(3)])
    one("bn_channels", "BatchNorm", [draw(4), draw(4), draw(1)])
    one("axis", "Softmax", [], msg(125, num(2, 9)))
    one("no_bottom", "ReLU", bottom=())
    one("unknown_bottom", "ReLU", bottom=("nothing",))
    one("unknown_kind", "Proposal")
    one("segnet_bn", "BN", [draw(3), draw(3)])
    one("python", "Python")
    one("eltwise_max", "Eltwise", [], msg(110, num(1, 2)), bottom=("data", "data"))
    one("slice_cuts", "Slice", [], msg(126, num(2, 9)), top=("a", "b"))
    one("pool_kernel", "Pooling", [], msg(121, num(2, 99)))
    one("inputs_two", "ReLU", first=layer("data", "Input", (), ["data", "more"], (), msg(143, msg(1, shape((1, 3, 4, 4))))))
    big = layer("data", "Input", (), ["data"], (), msg(143, msg(1, shape((1, 2**30, 2**30, 2**30)))))
    one("input_huge", "ReLU", first=big)


os.makedirs("cases", exist_ok=True)
os.makedirs("hostile", exist_ok=True)
network("network")
network("old", encode=old_blob)
poolings()
trained()
hostile()
