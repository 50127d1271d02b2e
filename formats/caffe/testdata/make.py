"""Makes cases/ and hostile/, without Caffe. cases/ has small networks with outputs that are computed here by
Caffe's definitions. hostile/ has files that must be refused. Needs numpy.
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
    """Write a blob in the form of Caffe in 2014: four lengths, floats that are not packed."""
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
    """A network with a convolution, BatchNorm and Scale in place, a residual, pooling that rounds up, and a dense layer."""
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
    """A network that joins every kind of pooling of a small plane."""
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
    """Write a snapshot with layers for data, loss and accuracy. The size of the input comes from the crop, and the factor of a batch norm is 0."""
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


def lrn(x, size, alpha, beta, k, within=False):
    """caffe/src/caffe/layers/lrn_layer.cpp, by its definition."""
    y, h = np.zeros_like(x), size // 2
    p = np.pad(x ** 2, ((0, 0), (0, 0), (h, h), (h, h)) if within else ((0, 0), (h, h), (0, 0), (0, 0)))
    for i in range(size):
        for j in range(size if within else 1):
            y += p[:, :, i:i + x.shape[2], j:j + x.shape[3]] if within else p[:, i:i + x.shape[1]]
    n = size * size if within else size
    return x / ((1 if within else k) + alpha / n * y) ** beta


def deconv(x, w, stride, pad):
    n, c, h, wd = x.shape
    _, o, kh, kw = w.shape
    y = np.zeros((n, o, (h - 1) * stride + kh, (wd - 1) * stride + kw))
    for i in range(h):
        for j in range(wd):
            y[:, :, i * stride:i * stride + kh, j * stride:j * stride + kw] += np.tensordot(x[:, :, i, j], w, 1)
    return y[:, :, pad:y.shape[2] - pad, pad:y.shape[3] - pad]


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def usual():
    """The other layers of usual networks, which network() lacks, each by its definition."""
    x, f8 = draw(2, 4, 6, 5), np.float64
    wt, slope, many, one, wi, gate = draw(4, 3, 4, 4), np.array([0.3], "f4"), draw(4), draw(1), draw(4 * 30, 4), draw(4)
    y, layers = x.astype(f8), [layer("data", "Input", (), ["data"], (), msg(143, msg(1, shape((1, 4, 6, 5)))))]
    at = {"data": y}

    def add(kind, bottoms, value, blobs=(), *params):
        name = f"l{len(layers)}"
        layers.append(layer(name, kind, bottoms, [name], blobs, *params))
        at[name] = value
        return name

    a = add("LRN", ["data"], lrn(y, 3, 0.5, 0.75, 2.0), (), msg(118, num(1, 3) + flt(2, 0.5) + flt(5, 2.0)))
    a = add("LRN", [a], lrn(at[a], 3, 2.0, 0.5, 1.0, True), (), msg(118, num(1, 3) + flt(2, 2.0) + flt(3, 0.5) + num(4, 1) + flt(5, 9.0)))
    a = add("AbsVal", [a], np.abs(at[a]))
    a = add("Eltwise", [a, "data", "data"], np.maximum(at[a], y), (), msg(110, num(1, 2)))
    a = add("PReLU", [a], np.where(at[a] > 0, at[a], at[a] * slope[0].astype(f8)), [slope], msg(131, num(2, 1)))
    norm = lambda v, axes: v / np.sqrt((v ** 2).sum(axes, keepdims=True) + np.float32(1e-10))
    b = add("Normalize", [a], norm(at[a], 1) * many.astype(f8)[:, None, None], [many], msg(206, num(1, 0) + num(3, 0)))
    c = add("Normalize", ["data"], norm(y, (1, 2, 3)) * one.astype(f8)[0], [one])
    a = add("Eltwise", [b, c], at[b] - 2.5 * at[c], (), msg(110, flt(2, 1.0) + flt(2, -2.5)))
    g = add("InnerProduct", [a], at[a].reshape(2, -1) @ wi.astype(f8) + gate, [wi, gate], msg(117, num(1, 4) + num(6, 1)))
    g = add("BNLL", [g], np.log1p(np.exp(at[g])))
    a = add("Scale", [a, g], at[a] * at[g][:, :, None, None], (), msg(142, num(1, 0)))
    a = add("Power", [a], 0.25 + 0.5 * at[a], (), msg(122, flt(2, 0.5) + flt(3, 0.25)))
    a = add("Bias", [a], at[a] + gate.astype(f8)[:, None, None], [gate])
    a = add("Deconvolution", [a], deconv(at[a], wt.astype(f8), 2, 1), [wt], msg(106, num(1, 3) + num(2, 0) + num(4, 4) + num(6, 2) + num(3, 1)))
    a = add("Crop", [a, "data"], at[a][:, :, 2:8, 3:8], (), msg(144, num(2, 2) + num(2, 3)))
    a = add("Permute", [a], at[a].transpose(0, 2, 3, 1), (), msg(202, num(1, 0) + num(1, 2) + num(1, 3) + num(1, 1)))
    a = add("Flatten", [a], at[a].reshape(2, -1))
    a = add("Reshape", [a], at[a].reshape(2, 15, 6), (), msg(133, msg(1, num(1, 0, -1, 6))))
    a = add("Softmax", [a], softmax(at[a], 2), (), msg(125, num(2, 2)))
    a = add("Reshape", [a], at[a].reshape(2, 5, 3, 6), (), msg(133, msg(1, num(1, 5, 3)) + num(2, 1) + num(3, 1)))
    a = add("Tile", [a], np.concatenate([at[a]] * 2, 3), (), msg(138, num(1, 3) + num(2, 2)))
    save("usual", layers, x, at[a])


def old_layer(name, kind, bottom, top, blobs=(), *params):
    """V1LayerParameter: types are numbers, blobs have four lengths."""
    out = b"".join(msg(2, b) for b in bottom) + b"".join(msg(3, t) for t in top) + msg(4, name) + num(5, kind)
    return msg(2, out + b"".join(msg(6, old_blob(b)) for b in blobs) + b"".join(params))


def first_format():
    """A model in the form of 2014: V1 layers, trained with a data layer. The size of the input is in deploy.prototxt."""
    x, w, b, wd, bd = draw(2, 2, 8, 8), draw(3, 2, 3, 3), draw(3), draw(4, 3 * 3 * 3), draw(4)
    text = '''name: "first"  # as deploy.prototxt
input: "data" input_dim: 1 input_dim: 2 input_dim: 8 input_dim: 8
layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1 weight_decay: 1
         convolution_param { num_output: 3 kernel_size: 3 weight_filler { type: "gaussian" std: 0.01 } } }
layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
layers { name: "norm" type: LRN bottom: "conv" top: "norm" lrn_param { local_size: 3 alpha: 0.1 beta: 0.75 } }
layers { name: "pool" type: POOLING bottom: "norm" top: "pool" pooling_param { pool: MAX kernel_size: 3 stride: 2 %s } }
layers { name: "fc" type: INNER_PRODUCT bottom: "pool" top: "fc" inner_product_param { num_output: 4 } }
layers { name: "prob" type: SOFTMAX bottom: "fc" top: "prob" }
'''
    save("first", [
        old_layer("data", 5, (), ["data", "label"]),
        old_layer("conv", 4, ["data"], ["conv"], [w, b], msg(10, num(1, 3) + num(4, 3))),
        old_layer("relu", 18, ["conv"], ["conv"]),
        old_layer("norm", 15, ["conv"], ["norm"], (), msg(18, num(1, 3) + flt(2, 0.1) + flt(3, 0.75))),
        old_layer("pool", 17, ["norm"], ["pool"], (), msg(19, num(1, 0) + num(2, 3) + num(3, 2))),
        old_layer("fc", 14, ["pool"], ["fc"], [wd, bd], msg(17, num(1, 4))),
        old_layer("loss", 21, ["fc", "label"], ["loss"])])
    y = lrn(np.maximum(conv(x, w, b, 1, 0), 0), 3, 0.1, 0.75, 1.0)
    up = pool(y, 3, 2, 0, False)  # 6 rows: windows begin at 0, 2 and 4; the last one reaches beyond the rows
    open("cases/first.prototxt", "w").write(text % "")
    np.save("cases/first.input.npy", x)
    np.save("cases/first.output.npy", (up.reshape(2, -1) @ wd.T.astype("f8") + bd).astype("f4"))
    wd2 = wd[:, :12]
    save("floor", [layer("conv", "Convolution", ["data"], ["conv"], [w, b]), layer("fc", "InnerProduct", ["x"], ["y"], [wd2, bd])])
    for name, how in ("floor", "round_mode: FLOOR"), ("floor_fork", "ceil_mode: false"):
        open(f"cases/{name}.prototxt", "w").write(text % how)
    down = up[:, :, :2, :2]
    np.save("cases/floor.output.npy", (down.reshape(2, -1) @ wd2.T.astype("f8") + bd).astype("f4"))


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
    write("first_format", msg(1, "net") + msg(2, msg(1, msg(1, "conv") + msg(2, "conv"))))
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
    one("eltwise_min", "Eltwise", [], msg(110, num(1, 3)), bottom=("data", "data"))
    one("field_of_fork", "Pooling", [], msg(121, num(2, 2) + num(77, 1)))
    one("settings_of_fork", "ReLU", [], msg(8266715, num(1, 1)))
    one("layer_of_fork", "ReLU", [], num(44, 1))
    one("scale_train", "Dropout", [], msg(108, num(2, 0)))
    one("convolution_axis", "Convolution", [w], msg(106, num(1, 2) + num(2, 0) + num(4, 1) + num(16, 2)))
    one("round_mode", "Pooling", [], msg(121, num(2, 3) + num(3, 2) + num(13, 1)))
    one("stage", "ReLU", [], msg(8, msg(4, "deploy")))
    one("reshape_batch", "Reshape", [], msg(133, msg(1, num(1, 4, 12))))
    one("reshape_mixes", "Reshape", [], msg(133, msg(1, num(1, -1, 12))))
    one("reshape_count", "Reshape", [], msg(133, msg(1, num(1, 0, 7))))
    one("permute_batch", "Permute", [], msg(202, num(1, 1)))
    one("permute_twice", "Permute", [], msg(202, num(1, 0) + num(1, 1) + num(1, 1)))
    one("tiles_many", "Tile", [], msg(138, num(2, 100000)))
    one("crop_outside", "Crop", [], msg(144, num(2, 3)), bottom=("data", "data"))
    one("lrn_even", "LRN", [], msg(118, num(1, 4)))
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
usual()
first_format()
hostile()
