"""Makes the files of this folder, which must all be refused, and WANT, which has the text of each refusal.

    /usr/bin/python3 make.py

They are damaged copies of base.h5 and same-archive.keras, and files written by h5py with a
hostile description. Damaged HDF5 structures are in internal/hdf5/testdata/hostile.
"""
import io
import json
import os
import struct
import zipfile
import zlib

import h5py
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
above = lambda name: open(os.path.join(here, "..", name), "rb").read()
wanted = []


def put(name, want, data):
    with open(os.path.join(here, name), "wb") as f:
        f.write(data)
    wanted.append(name + "\t" + want)


def h5(config, weights=()):
    """A file with a description and weights: (layer, [(name, array)])."""
    b = io.BytesIO()
    with h5py.File(b, "w") as f:
        f.attrs["keras_version"] = np.bytes_("2.2.4")
        f.attrs["backend"] = np.bytes_("tensorflow")
        if len(config) < 60000:
            f.attrs["model_config"] = np.bytes_(config)
        else:  # as a string of variable length, which is stored in the heap
            f.attrs["model_config"] = config
        g = f.create_group("model_weights")
        g.attrs["layer_names"] = np.array([n.encode() for n, _ in weights]) if weights else np.zeros((0,))
        for layer, arrays in weights:
            s = g.create_group(layer)
            s.attrs["weight_names"] = np.array([n.encode() for n, _ in arrays]) if arrays else np.zeros((0,))
            for n, a in arrays:
                s.create_dataset(n, data=a)
    return b.getvalue()


def layer(cls, name, inbound, **config):
    config["name"] = name
    nodes = [[[i, 0, 0, {}] for i in inbound]] if inbound else []
    return {"class_name": cls, "name": name, "config": config, "inbound_nodes": nodes}


def functional(layers, out, name="model"):
    return {"class_name": "Model", "name": name, "config": {"name": name, "layers": layers,
            "input_layers": [["in", 0, 0]], "output_layers": [[out, 0, 0]]}}


source = layer("InputLayer", "in", [], batch_input_shape=[None, 8, 8, 2])
relu = lambda name, inbound: layer("Activation", name, inbound, activation="relu")
describe = lambda layers, out: json.dumps(functional([source] + layers, out))
conv = lambda **k: layer("Conv2D", "c", ["in"], **dict(dict(filters=3, kernel_size=[3, 3], strides=[1, 1], padding="same",
                         use_bias=False, activation="linear"), **k))
kernel = [("c", [("c/kernel:0", np.zeros((3, 3, 2, 3), np.float32))])]

# Descriptions.
good = describe([relu("r", ["in"])], "r")
put("key-twice.h5", "occurs twice", h5(good.replace('"class_name": "Model"', '"class_name": "Model", "class_name": "Model"', 1)))
put("key-twice-inside.h5", "occurs twice", h5(good.replace('"activation": "relu"', '"activation": "relu", "activation": "tanh"', 1)))
put("text-behind.h5", "model_config", h5(good + "]"))
put("cut.h5", "model_config", h5(good[:-9]))
put("brackets.h5", "nested more than 256 deep", h5("[" * 200000))
put("objects.h5", "nested more than 256 deep", h5('{"a":' * 50000))
put("number.h5", "model_config", h5("7"))
put("code.h5", "Lambda", h5(describe([layer("Lambda", "l", ["in"], function=["4wEAAAA=", None, None], function_type="lambda")], "l")))
put("recurrent.h5", "r (LSTM: recurrent)", h5(json.dumps(functional([source, layer("LSTM", "r", ["in"], units=2)], "r")),
    [("in", []), ("r", [("r/%s:0" % n, np.zeros(2, "f4")) for n in ("kernel", "recurrent_kernel", "bias")])]))
put("unknown.h5", "MyLayer", h5(describe([layer("MyLayer", "m", ["in"])], "m")))
put("subclassed.h5", "only Sequential and functional", h5(json.dumps({"class_name": "MyModel", "config": {}})))
put("cycle.h5", "takes its own result", h5(describe([relu("r1", ["r2"]), relu("r2", ["r1"])], "r2")))
put("itself.h5", "takes its own result", h5(describe([relu("r1", ["r1"])], "r1")))
put("nowhere.h5", "nobody", h5(describe([relu("r", ["nobody"])], "r")))
put("output-nowhere.h5", "nobody", h5(describe([relu("r", ["in"])], "nobody")))
put("layer-twice.h5", "two layers called", h5(describe([relu("r", ["in"]), relu("r", ["in"])], "r")))
put("node-2-31.h5", "r", h5(describe([relu("r", ["in"])], "r").replace('[["in", 0, 0, {}]]', '[["in", 2147483648, 0, {}]]')))
put("node-text.h5", "r", h5(describe([relu("r", ["in"])], "r").replace('[["in", 0, 0, {}]]', '[["in", "0", 0, {}]]')))

inner = functional([source, relu("r", ["in"])], "r", "m0")
for i in range(1, 12):
    inner = functional([source, dict(inner, inbound_nodes=[[["in", 0, 0, {}]]])], "m%d" % (i - 1), "m%d" % i)
put("nested.h5", "nested more than", h5(json.dumps(inner)))

inner = functional([source, relu("r", ["in"])], "r", "m0")
for i in range(1, 7):  # every model calls its nested model 12 times: 12^6 calls in total
    inside = dict(inner, inbound_nodes=[[["in", 0, 0, {}]]] + [[["m%d" % (i - 1), k, 0, {}]] for k in range(11)])
    inner = functional([source, inside], "m%d" % (i - 1), "m%d" % i)
    inner["config"]["output_layers"] = [["m%d" % (i - 1), 11, 0]]
put("laughs.h5", "calls", h5(json.dumps(inner)))

for name, want, change in [
    ("filters-2-40", "has the shape", dict(filters=2**40)), ("filters-negative", "want at least 1", dict(filters=-3)),
    ("kernel-2-31", "want 1 to 65536", dict(kernel_size=[2**31, 3])), ("kernel-0", "want 1 to 65536", dict(kernel_size=[0, 3])),
    ("stride-0", "want 1 to 65536", dict(strides=[0, 1])), ("stride-text", "strides", dict(strides="1")),
    ("dilation-huge", "c", dict(dilation_rate=[65536, 65536], padding="valid")), ("groups-0", "groups", dict(groups=0)),
    ("padding-unknown", "padding", dict(padding="around")), ("activation-unknown", "activation", dict(activation="mine")),
]:
    put(name + ".h5", want, h5(describe([conv(**change)], "c"), kernel))
put("input-huge.h5", "want 1 to 1073741824", h5(describe([relu("r", ["in"])], "r").replace("[null, 8, 8, 2]", "[null, 2147483647, 2147483647, 2]")))
put("input-open.h5", "in", h5(describe([relu("r", ["in"])], "r").replace("[null, 8, 8, 2]", "[null, null, null, 2]")))
put("upsample-huge.h5", "size is", h5(describe([layer("UpSampling2D", "u", ["in"], size=[65537, 65536])], "u")))
put("pad-huge.h5", "p", h5(describe([layer("ZeroPadding2D", "p", ["in"], padding=[[2**31, 2**31], [2**31, 2**31]])], "p")))
put("weight-text.h5", "want numbers", h5(describe([conv()], "c"), [("c", [("c/kernel:0", np.array([b"code"]))])]))
put("weight-missing.h5", "has 0 weights in the file", h5(describe([conv()], "c"), [("c", [])]))
put("weight-not-named.h5", "has no weight kernel", h5(describe([conv()], "c")))
put("weight-of-nobody.h5", "has weights of a layer", h5(describe([conv()], "c"), kernel + [("d", [("d/kernel:0", np.zeros(1, np.float32))])]))

# Models that look almost like those of multi_gpu_model. They are refused.
template = functional([source, relu("r", ["in"])], "r", "template")
cut = lambda i, parts: layer("Lambda", "lambda_%d" % (i + 1), ["in"], function=["", None, None], function_type="lambda",
                             arguments={"i": i, "parts": parts})
twice = dict(template, inbound_nodes=[[["lambda_1", 0, 0, {}]], [["lambda_2", 0, 0, {}]]])
join = dict(layer("Concatenate", "joined", [], axis=0), inbound_nodes=[[["template", 1, 0, {}], ["template", 2, 0, {}]]])
put("replicas-same-part.h5", "lambda_2", h5(describe([cut(0, 2), dict(cut(0, 2), name="lambda_2", config=dict(cut(0, 2)["config"], name="lambda_2")), twice, join], "joined")))
put("replicas-other-axis.h5", "joined", h5(describe([cut(0, 2), cut(1, 2), twice, dict(join, config={"name": "joined", "axis": 1})], "joined")))
put("replicas-one-missing.h5", "lambda_", h5(describe([cut(0, 3), cut(1, 3), twice, join], "joined")))

# Files.
base = above("base.h5")
put("truncated.h5", "truncated", base[:len(base) // 2])
put("signature-alone.h5", "hdf5", base[:8])
put("lfs.h5", "not a file of Keras", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")


def archive(members, method=zipfile.ZIP_STORED):
    b = io.BytesIO()
    with zipfile.ZipFile(b, "w", method) as z:
        for name, data in members:
            z.writestr(zipfile.ZipInfo(name), data, method)
    return b.getvalue()


with zipfile.ZipFile(io.BytesIO(above("same-archive.keras"))) as z:
    config, weights = z.read("config.json"), z.read("model.weights.h5")
whole = [("config.json", config), ("model.weights.h5", weights)]
put("bomb.keras", "compressed", archive([("config.json", b" " * 3000000 + config), whole[1]], zipfile.ZIP_DEFLATED))
put("crc.keras", "CRC-32", archive(whole).replace(weights, weights[:-1] + bytes([weights[-1] ^ 1])))
put("crc-config.keras", "CRC-32", archive(whole).replace(b"relu", b"rely", 1))
put("no-config.keras", "not one of Keras", archive(whole[1:]))
put("npz.keras", "not supported", archive([whole[0], ("model.weights.npz", b"")]))
put("outside.keras", "no model.weights.h5", archive([whole[0], ("../model.weights.h5", weights)]))
put("member-twice.keras", "occurs twice", archive(whole + whole[1:]))
put("key-twice.keras", "occurs twice", archive([("config.json", config.replace(b'"class_name"', b'"class_name": "Model", "class_name"', 1)), whole[1]]))
two = bytearray(archive(whole + [("other.h5", weights[:64])]))
first = two.rindex(b"PK\x01\x02", 0, two.rindex(b"PK\x01\x02"))  # directory entry of the weights
last = two.rindex(b"PK\x01\x02")
two[last + 42:last + 46] = two[first + 42:first + 46]  # the offset of the other member
put("overlap.keras", "overlap", bytes(two))
one = bytearray(archive(whole))
at = one.rindex(b"PK\x01\x02")
one[at + 20:at + 28] = struct.pack("<II", 0x7fffffff, 0x7fffffff)
put("member-2-31.keras", "beyond", bytes(one))
put("truncated.keras", "zip", archive(whole)[:-40])

with open(os.path.join(here, "WANT"), "w") as f:
    f.write("\n".join(wanted) + "\n")
