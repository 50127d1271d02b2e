#!/usr/bin/python3
"""Small networks that end in every way, x.npy, and in expected.json what ONNX
Runtime gives for x.npy, with the probabilities of the classes where the answer
is classes, computed here in float64. Needs Debian's python3-onnx and
python3-numpy, node, and NODE_PATH with onnxruntime-node (make test-peers
installs it).

usage: make.py    (in this folder)
"""
import json
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(3)
FEATURES = 4


def dense(x, y, width):
    w = random.normal(size=(width, FEATURES)).astype(np.float32)
    b = random.normal(size=width).astype(np.float32)
    return (helper.make_node("Gemm", [x, y + ".w", y + ".b"], [y], transB=1),
            [numpy_helper.from_array(w, y + ".w"), numpy_helper.from_array(b, y + ".b")])


def save(name, nodes, outputs, weights, opset=13):
    info = lambda n, shape: helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N"] + shape)
    g = helper.make_graph(nodes, name, [info("x", [FEATURES])], [info(n, s) for n, s in outputs], weights)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", opset)])
    m.ir_version = 7
    onnx.checker.check_model(m)
    onnx.save(m, name + ".onnx")


def headed(name, width, output, ending=None, **attributes):
    n, w = dense("x", "head" if ending else output, width)
    nodes = [n] + ([helper.make_node(ending, ["head"], [output], **attributes)] if ending else [])
    save(name, nodes, [(output, [width])], w)


headed("binary", 1, "p", "Sigmoid")
headed("tags", 3, "tags", "Sigmoid")
headed("pose", 3, "pose")
headed("age", 1, "age")
headed("named", 3, "logits")
headed("softmax", 3, "prob", "Softmax", axis=1)
headed("logarithms", 3, "y", "LogSoftmax", axis=1)
headed("bounded", 4, "y", "Tanh")

n, w = dense("x", "flat", 4)
shape = numpy_helper.from_array(np.array([-1, 2, 2], dtype=np.int64), "shape")
save("map", [n, helper.make_node("Reshape", ["flat", "shape"], ["places"]),
             helper.make_node("Softmax", ["places"], ["map"], axis=1)], [("map", [2, 2])], w + [shape])
n, w = dense("x", "scores.in", 4)
m, v = dense("x", "boxes", 3)
save("two", [n, helper.make_node("Reshape", ["scores.in", "shape"], ["scores.at"]),
             helper.make_node("Softmax", ["scores.at"], ["scores/at:0"], axis=2), m],
     [("scores/at:0", [2, 2]), ("boxes", [3])], w + v + [shape])

x = np.array([[0.5, -1, 2, 0.25], [-0.75, 1.5, 0, 1]], dtype=np.float32)
np.save("x.npy", x)
RUN = """
const ort = require('onnxruntime-node');
(async () => {
  const s = await ort.InferenceSession.create(process.argv[1]);
  const x = new ort.Tensor('float32', Float32Array.from(JSON.parse(process.argv[2])), [2, 4]);
  const out = await s.run({x: x});
  const all = {};
  for (const k of s.outputNames) all[k] = {shape: out[k].dims, data: Array.from(out[k].data)};
  console.log(JSON.stringify(all));
})();
"""
softmax = lambda v: np.exp(v - v.max(1, keepdims=True)) / np.exp(v - v.max(1, keepdims=True)).sum(1, keepdims=True)
expected = {}
for name in ["binary", "tags", "pose", "age", "named", "softmax", "logarithms", "bounded", "map", "two"]:
    outputs = json.loads(subprocess.check_output(
        ["node", "-e", RUN, name + ".onnx", json.dumps(x.ravel().tolist())]))
    p = None
    first = next(iter(outputs.values()))
    v = np.array(first["data"]).reshape(first["shape"])
    if name == "binary":
        p = np.concatenate([1 - v, v], 1)
    elif name == "softmax":
        p = v
    elif name in ("named", "logarithms"):
        p = softmax(v)
    expected[name] = {"outputs": outputs, "probabilities": None if p is None else p.tolist()}
with open("expected.json", "w") as f:
    json.dump(expected, f, indent=1)
    f.write("\n")
