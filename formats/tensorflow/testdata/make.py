"""Makes cases/ (small checkpoints) and hostile/ (indexes that have to be
refused) without TensorFlow, by the layouts of LevelDB's table format and
tensor_bundle.proto. Run here: python3 make.py"""
import os, struct

TABLE = []
for i in range(256):
    c = i
    for _ in range(8):
        c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    TABLE.append(c)


def masked_crc(data):
    c = 0xFFFFFFFF
    for b in data:
        c = c >> 8 ^ TABLE[(c ^ b) & 255]
    c ^= 0xFFFFFFFF
    return ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(n):
    out = b""
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def text(field, b):
    return varint(field << 3 | 2) + varint(len(b)) + b


def entries(pairs, share=True):
    out, last = b"", b""
    for k, v in pairs:
        n = len(os.path.commonprefix([k, last])) if share else 0
        out += varint(n) + varint(len(k) - n) + varint(len(v)) + k[n:] + v
        last = k
    return out + struct.pack("<II", 0, 1)


def sealed(block, kind=0):
    return block + bytes([kind]) + struct.pack("<I", masked_crc(block + bytes([kind])))


def table(data, index=None, kind=0):
    """Returns a table with one data block of these bytes."""
    out = sealed(data, kind)
    meta = len(out)
    out += sealed(entries([]))
    at = len(out)
    block = entries([(b"z", varint(0) + varint(len(data)))]) if index is None else index
    out += sealed(block)
    footer = varint(meta) + varint(8) + varint(at) + varint(len(block))
    return out + footer.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db")


HEADER = (b"", number(1, 1) + text(3, number(1, 1)))


def entry(data, offset, shape, dtype=1, shard=0, size=None, more=b""):
    dims = b"".join(text(2, number(1, n)) for n in shape)
    return (number(1, dtype) + text(2, dims) + (number(3, shard) if shard else b"") + number(4, offset)
            + number(5, len(data) if size is None else size) + b"\x35" + struct.pack("<I", masked_crc(data)) + more)


def floats(*v):
    return struct.pack(f"<{len(v)}f", *v)


def put(path, b):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "wb").write(b)


def good():
    """A checkpoint of two shards, with the statistics of two replicas."""
    parts = {"bn/moving_mean": floats(1, 2), "bn/moving_mean/replica_1": floats(3, 4),
             "bn/moving_variance": floats(1, 1), "bn/moving_variance/replica_1": floats(1, 1),
             "conv/kernel": floats(*range(12)), "conv/kernel/replica_1": floats(*range(12))}
    shapes = {"conv/kernel": (1, 2, 2, 3), "conv/kernel/replica_1": (1, 2, 2, 3)}
    files, pairs = [b"", b""], [(b"", number(1, 2) + text(3, number(1, 1)))]
    for i, (name, data) in enumerate(sorted(parts.items())):
        shape = shapes.get(name, (len(data) // 4,))
        pairs.append((name.encode(), entry(data, len(files[i % 2]), shape, shard=i % 2)))
        files[i % 2] += data
    put("cases/replicas.index", table(entries(pairs)))
    for i, b in enumerate(files):
        put(f"cases/replicas.data-0000{i}-of-00002", b)


def loop():
    """The checkpoint of a training by tf.train.Checkpoint(model=..., opt=..., step=..., best=...). In addition to the model it
    has an optimizer under its argument's name, and single values. only.index has only these values."""
    whole = lambda n: struct.pack("<q", n)
    beside = {"best_acc": (floats(0.7), (), 1), "opt/beta_1": (floats(0.9), (), 1), "opt/iter": (whole(7), (), 9),
              "opt/_variables/1": (floats(1, 2), (2,), 1), "step": (whole(70), (), 9),
              "model/bn/moving_mean/biased": (floats(1, 2), (2,), 1), "model/bn/moving_mean/local_step": (floats(9), (), 1),
              "model/conv/kernel/LARSOptimizer": (floats(3), (1,), 1)}
    model = {"model/bn/moving_mean": (floats(1, 2), (2,), 1), "model/temperature": (floats(2), (), 1),
             "optical_flow/kernel": (floats(5), (1,), 1)}
    for name, parts in ("loop", {**beside, **model}), ("only", beside):
        data, pairs = b"", [(b"", number(1, 1) + text(3, number(1, 1)))]
        for key, (b, shape, dtype) in sorted(parts.items()):
            pairs.append(((key + "/.ATTRIBUTES/VARIABLE_VALUE").encode(), entry(b, len(data), shape, dtype)))
            data += b
        put(f"cases/{name}.index", table(entries(sorted(pairs))))
        put(f"cases/{name}.data-00000-of-00001", data)


def story():
    """A dense layer and a batch norm of tf.train.Saver, with averages of the trained variables. For the input
    (1, 2, 3, 4) the averages give (1, -3.5, 10): 30, 70 and 110 less the means, over 2, 4 and 10 (with an eps of 0.75), times 1, 2
    and 1, plus 0.5, 0.5 and 0."""
    plain = {"fc/weights": ((0,) * 12, (4, 3)), "fc/biases": ((0,) * 3, (3,)), "bn/gamma": ((9,) * 3, (3,)),
             "bn/beta": ((9,) * 3, (3,))}
    mean = {"fc/weights": ((1, 2, 3, 2, 5, 8, 3, 6, 9, 4, 10, 16), (4, 3)), "fc/biases": ((0, 0, 0), (3,)),
            "bn/gamma": ((1, 2, 1), (3,)), "bn/beta": ((0.5, 0.5, 0), (3,))}
    parts = {**plain, **{k + "/ExponentialMovingAverage": v for k, v in mean.items()},
             **{k + "/Momentum": v for k, v in plain.items()},
             "bn/moving_mean": ((29, 78, 10), (3,)), "bn/moving_variance": ((3.25, 15.25, 99.25), (3,))}
    data, pairs = b"", [(b"", number(1, 1) + text(3, number(1, 1)))]
    for key, (v, shape) in sorted(parts.items()):
        pairs.append((key.encode(), entry(floats(*v), len(data), shape)))
        data += floats(*v)
    put("cases/story/model.ckpt-1000.index", table(entries(pairs)))
    put("cases/story/model.ckpt-1000.data-00000-of-00001", data)


def averages():
    """A checkpoint of tf.train.Saver with variables of tf.train.ExponentialMovingAverage and Momentum. The running statistics
    have no average, and scale has only an average. A file called checkpoint names this checkpoint by a path on another
    machine. slots.index has the average as a slot of an optimizer, as Keras's averaging optimizers store it."""
    parts = {"bn/moving_mean": (floats(7, 8), (2,)), "conv/weights": (floats(1, 2), (2,)),
             "conv/weights/ExponentialMovingAverage": (floats(1.5, 2.5), (2,)), "conv/weights/Momentum": (floats(9, 9), (2,)),
             "scale/ExponentialMovingAverage": (floats(3), (1,))}
    slots = {"dense/kernel/.ATTRIBUTES/VARIABLE_VALUE": (floats(1, 2), (2,)),
             "dense/kernel/.OPTIMIZER_SLOT/optimizer/average/.ATTRIBUTES/VARIABLE_VALUE": (floats(4, 5), (2,)),
             "dense/kernel/.OPTIMIZER_SLOT/optimizer/momentum/.ATTRIBUTES/VARIABLE_VALUE": (floats(9, 9), (2,))}
    other = {"conv/weights": (floats(1, 2), (2,)), "conv/weights/ExponentialMovingAverage": (floats(1), (1,))}
    for name, parts in ("averages/model.ckpt-1000", parts), ("slots", slots), ("averages_differ", other):
        data, pairs = b"", [(b"", number(1, 1) + text(3, number(1, 1)))]
        for key, (b, shape) in sorted(parts.items()):
            pairs.append((key.encode(), entry(b, len(data), shape)))
            data += b
        put(f"cases/{name}.index", table(entries(pairs)))
        put(f"cases/{name}.data-00000-of-00001", data)
    story()
    put("cases/averages/checkpoint", b'model_checkpoint_path: "/home/someone/run/model.ckpt-1000"\n'
        b'all_model_checkpoint_paths: "/home/someone/run/model.ckpt-1000"\n')


def hostile():
    w = floats(1, 2)
    put("hostile/shard", w)

    def write(name, b):
        put(f"hostile/{name}.index", b)

    def one(name, value, key=b"w", **kw):
        write(name, table(entries([HEADER, (key, value)], **kw)))

    fine = entry(w, 0, (2,))
    one("crc_of_elements", entry(floats(9, 9), 0, (2,)))
    one("beyond_shard", entry(w, 4, (2,)))
    one("offset_near_2_64", entry(w, 2**64 - 4, (2,)))
    one("size_differs", entry(w, 0, (3,)))
    one("length_overflow", entry(w, 0, (2**62, 8)))
    one("length_negative", entry(w, 0, (2**64 - 2,)))
    one("rank_9", entry(w, 0, (1,) * 9))
    one("no_such_shard", entry(w, 0, (2,), shard=7))
    one("no_such_type", entry(w, 0, (2,), dtype=99))
    one("partitioned", entry(w, 0, (2,), more=text(7, b"")))
    one("truncated_proto", fine[:-2])
    write("no_header", table(entries([(b"w", fine)])))
    write("shards_many", table(entries([(b"", number(1, 2**63)), (b"w", fine)])))
    write("keys_not_ascending", table(entries([HEADER, (b"w", fine), (b"a", fine)])))
    write("key_twice", table(entries([HEADER, (b"w", fine), (b"w", fine)])))
    write("nothing_in_it", table(entries([HEADER])))
    write("empty_block", table(b""))
    write("restarts_near_2_32", table(b"\0\0\0\0" + struct.pack("<I", 2**32 - 1)))
    write("shared_too_long", table(varint(9) + varint(1) + varint(0) + b"x" + struct.pack("<II", 0, 1)))
    write("value_too_long", table(varint(0) + varint(1) + varint(2**63) + b"x" + struct.pack("<II", 0, 1)))
    write("compressed", table(entries([HEADER, (b"w", fine)]), kind=1))
    write("block_beyond_file", table(b"", index=entries([(b"z", varint(0) + varint(2**62))])))
    twice = entries([HEADER, (b"w", fine)])
    place = varint(0) + varint(len(twice))
    write("block_twice", table(twice, index=entries([(b"y", place), (b"z", place)])))
    damaged = bytearray(table(entries([HEADER, (b"w", fine)])))
    damaged[5] ^= 1
    write("crc_of_block", bytes(damaged))
    write("footer_only", table(entries([HEADER]))[-48:])
    write("key_long", table(entries([HEADER, (b"k" * 2000, fine)])))
    # Keys that share 1,000 bytes with the key before: 6 bytes of file for each.
    slot = b"x/.OPTIMIZER_SLOT/o/m/" + b"k" * 1000
    write("key_bomb", table(entries([HEADER] + [(slot + struct.pack(">H", i), b"") for i in range(10000)])))


good()
loop()
averages()
hostile()
