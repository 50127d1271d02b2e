"""Makes several/: models with several inputs, random rows of them, and the outputs of ONNX Runtime 1.30.

    NODE_PATH=... /usr/bin/python3 make_several.py

Needs Debian's python3-onnx (1.12), and node with onnxruntime-node. NAME.onnx is a model, NAME.npz has its inputs and, as
"=OUTPUT", its outputs. If the file fixes the batch to 1, each row was computed in a separate run.
"""
import json
import os
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

here = os.path.dirname(os.path.abspath(__file__))
node = helper.make_node
rng = np.random.RandomState(3)
f32 = lambda *s: rng.uniform(-1, 1, s).astype(np.float32)
i64 = lambda *v: np.array(v, np.int64)
TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "int32": TensorProto.INT32, "bool": TensorProto.BOOL,
         "uint8": TensorProto.UINT8, "float64": TensorProto.DOUBLE}
ort = subprocess.Popen(["node", os.path.join(here, "../../../scripts/peers/reference.js")], stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, text=True)
ort.stdout.readline()


def run(path, feeds):
    with tempfile.TemporaryDirectory() as at:
        inputs = []
        for i, (name, x) in enumerate(feeds.items()):
            file = os.path.join(at, "%d" % i)
            x.tofile(file)
            inputs.append({"name": name, "input": file, "shape": list(x.shape), "type": x.dtype.name})
        ort.stdin.write(json.dumps({"model": path, "inputs": inputs}) + "\n")
        ort.stdin.flush()
        answer = json.loads(ort.stdout.readline())
    if "error" in answer:
        raise RuntimeError(answer["error"])
    out = {}
    for o in answer["outputs"]:
        out[o["name"]] = np.fromfile(o["file"], o["type"]).reshape(o["shape"])
        os.remove(o["file"])
    return out


def case(name, nodes, inputs, rows, constants={}, outputs=("y",), opset=13):
    """inputs maps names to (shape in the file, rows). If the shape begins with "N", all rows are one run; otherwise each row
    is a run."""
    init = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info(k, TYPES[x.dtype.name], shape)
                                            for k, (shape, x) in inputs.items()],
                              [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs], init)
    path = os.path.join(here, "several", name + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    if all(shape and shape[0] == "N" for shape, _ in inputs.values()):
        want = run(path, {k: x for k, (_, x) in inputs.items()})
    else:
        each = [run(path, {k: x[i].reshape([n if isinstance(n, int) else 1 for n in shape])
                           for k, (shape, x) in inputs.items()}) for i in range(rows)]
        want = {o: np.stack([e[o] for e in each]) for o in outputs}
    np.savez(path[:-5] + ".npz", **{k: x for k, (_, x) in inputs.items()}, **{"=" + o: v for o, v in want.items()})


case("image-state", [node("Conv", ["image", "w"], ["c"], pads=[1, 1, 1, 1]), node("Flatten", ["c"], ["f"]),
                     node("Concat", ["f", "state"], ["j"], axis=1), node("Gemm", ["j", "g", "b"], ["y"]),
                     node("Tanh", ["y"], ["state_out"])],
     {"image": (("N", 3, 4, 5), f32(3, 3, 4, 5)), "state": (("N", 6), f32(3, 6))}, 3,
     {"w": f32(2, 3, 3, 3), "g": f32(46, 6), "b": f32(6)}, ("y", "state_out"))
mask = (rng.uniform(size=(4, 7)) < .6).astype(np.int64)
case("mean-mask", [node("Cast", ["mask"], ["m"], to=1), node("Unsqueeze", ["m", "two"], ["u"]),
                   node("Mul", ["e", "u"], ["x"]), node("ReduceSum", ["x", "one"], ["s"], keepdims=0),
                   node("ReduceSum", ["u", "one"], ["n"], keepdims=0), node("Add", ["n", "eps"], ["d"]), node("Div", ["s", "d"], ["y"])],
     {"e": (("N", 7, 5), f32(4, 7, 5)), "mask": (("N", 7), mask)}, 4, {"two": i64(2), "one": i64(1), "eps": np.float32(.5)})
case("truths", [node("Where", ["keep", "a", "b"], ["y"])],
     {"keep": (("N", 5), rng.uniform(size=(3, 5)) < .5), "a": (("N", 5), f32(3, 5)), "b": (("N", 5), f32(3, 5))}, 3)
case("bytes", [node("Cast", ["p"], ["f"], to=1), node("Cast", ["n"], ["g"], to=1), node("Mul", ["f", "g"], ["y"])],
     {"p": (("N", 4), rng.randint(0, 256, (2, 4)).astype(np.uint8)), "n": (("N", 4), rng.randint(-99, 99, (2, 4)).astype(np.int32))}, 2)
# As in voice detectors: the first axis of the state is the layers, and the rate is a scalar.
case("state-rate", [node("Cast", ["rate"], ["r"], to=1), node("Mul", ["x", "r"], ["s"]), node("MatMul", ["s", "w"], ["p"]),
                    node("Gather", ["h", "zero"], ["h0"], axis=0), node("Gather", ["h", "last"], ["h1"], axis=0),
                    node("Add", ["p", "h0"], ["q"]), node("Tanh", ["q"], ["a"]), node("Add", ["a", "h1"], ["t"]), node("Sigmoid", ["t"], ["b"]),
                    node("Unsqueeze", ["a", "front"], ["a1"]), node("Unsqueeze", ["b", "front"], ["b1"]),
                    node("Concat", ["a1", "b1"], ["hn"], axis=0), node("ReduceMean", ["b"], ["y"], axes=[1], keepdims=1)],
     {"x": ((1, 8), f32(3, 8)), "h": ((2, 1, 4), f32(3, 2, 1, 4)), "rate": ((), np.array([8, 16, 3], np.int64))}, 3,
     {"w": f32(8, 4), "zero": np.int64(0), "last": np.int64(1), "front": i64(0)}, ("y", "hn"))
case("state-named", [node("Squeeze", ["h", "front"], ["h0"]), node("Add", ["x", "h0"], ["y"])],
     {"x": (("batch", 4), f32(3, 4)), "h": ((1, "batch", 4), f32(3, 1, 4))}, 3, {"front": i64(0)})
case("matrices", [node("MatMul", ["a", "b"], ["p"]), node("Softmax", ["p"], ["y"], axis=0)],
     {"a": ((3, 4), f32(2, 3, 4)), "b": ((4, 5), f32(2, 4, 5))}, 2)
case("unused", [node("Relu", ["a"], ["y"])], {"a": (("N", 4), f32(2, 4)), "b": (("N", 3), f32(2, 3))}, 2)
case("doubles", [node("Cast", ["a"], ["f"], to=1), node("Sub", ["f", "b"], ["y"])],
     {"a": (("N", 4), f32(2, 4).astype(np.float64)), "b": (("N", 4), f32(2, 4))}, 2)
