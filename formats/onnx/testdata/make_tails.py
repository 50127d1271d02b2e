"""Makes tails/: detectors that end in operators with results of any length, one sample, and ONNX Runtime's outputs.

    NODE_PATH=... /usr/bin/python3 make_tails.py

Needs Debian's python3-onnx (1.12), and node with onnxruntime-node 1.30. NAME.onnx is a model with the input x.
NAME.npz has a sample as x and, as "=OUTPUT", the outputs for a batch of it alone.
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
i64 = lambda *v: np.array(v, np.int64)
f32 = lambda *v: np.array(v, np.float32)
ort = subprocess.Popen(["node", os.path.join(here, "../../../scripts/peers/reference.js")], stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, text=True)
ort.stdout.readline()
TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "i32": TensorProto.INT32, "b": TensorProto.BOOL}


def run(path, x):
    with tempfile.TemporaryDirectory() as at:
        file = os.path.join(at, "x")
        x.tofile(file)
        ort.stdin.write(json.dumps({"model": path, "inputs": [
            {"name": "x", "input": file, "shape": list(x.shape), "type": "float32"}]}) + "\n")
        ort.stdin.flush()
        answer = json.loads(ort.stdout.readline())
    if "error" in answer:
        raise RuntimeError(answer["error"])
    out = {}
    for o in answer["outputs"]:
        out[o["name"]] = np.fromfile(o["file"], o["type"]).reshape(o["shape"])
        os.remove(o["file"])
    return out


def case(name, nodes, sample, constants, outputs, batch="n", opset=13):
    """outputs maps names to (kind, dims). x is [batch, *sample.shape], or the sample itself if batch is None."""
    shape = list(sample.shape) if batch is None else [batch] + list(sample.shape)
    init = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(k, TYPES[t], dims) for k, (t, dims) in outputs.items()], init)
    path = os.path.join(here, "tails", name + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7), path)
    want = run(path, sample if batch is None else sample[None])
    np.savez(path[:-5], x=sample, **{"=" + k: v for k, v in want.items()})
    print(name, {k: v.shape for k, v in want.items()})


def picture(seed, count, classes, side=100, ties=False):
    """[4 + classes, count]: centres, sizes in pixels, scores."""
    rng = np.random.RandomState(seed)
    b = np.concatenate([rng.uniform(0, side, (2, count)), rng.uniform(5, 40, (2, count))])
    s = rng.uniform(0, 1, (classes, count))
    if ties:
        s = np.round(s * 4) / 4
    return np.concatenate([b, s]).astype(np.float32)


head = [node("Mul", ["x", "w"], ["d"])]
split = head + [node("Split", ["d", "parts"], ["xywh", "scores"], axis=1),
                node("Transpose", ["xywh"], ["boxes"], perm=[0, 2, 1])]


def parts(classes, count):
    return {"w": np.ones(count, np.float32), "parts": i64(4, classes)}


rows = {"y": ("i", ["k", 3])}
nms = lambda *more, **a: node("NonMaxSuppression", ["boxes", "scores", *more], ["y"], **a)
limits = {"most": i64(7), "iou": f32(0.4), "least": f32(0.3)}
for seed, (name, classes, count, ties) in enumerate((("plain", 3, 60, False), ("ties", 3, 60, True), ("one-class", 1, 200, False))):
    case("nms-" + name, split + [nms("most", "iou", "least", center_point_box=1)], picture(seed, count, classes, ties=ties),
         {**parts(classes, count), **limits}, rows)
case("nms-corners", split + [nms("most", "iou")], picture(4, 50, 2), {**parts(2, 50), **limits}, rows)
case("nms-most-absent", split + [nms("", "iou", "least", center_point_box=1)], picture(5, 50, 2), {**parts(2, 50), **limits}, rows)
case("nms-most-zero", split + [nms("zero", "iou", center_point_box=1)], picture(5, 50, 2),
     {**parts(2, 50), **limits, "zero": i64(0)}, rows)
case("nms-no-box", split + [nms("most", "iou", "high", center_point_box=1)], picture(5, 50, 2),
     {**parts(2, 50), **limits, "high": f32(2)}, rows)
case("nms-opset-10", [node("Mul", ["x", "w"], ["d"]), node("Split", ["d"], ["xywh", "scores"], axis=1, split=[4, 2]),
                      node("Transpose", ["xywh"], ["boxes"], perm=[0, 2, 1]), nms("most", "iou", "least")],
     picture(6, 40, 2), {"w": np.ones(40, np.float32), **limits}, rows, opset=10)
# Selected boxes with their scores, as tools that add NMS to YOLO write them.
gathered = split + [nms("most", "iou", "least", center_point_box=1),
                    node("Slice", ["y", "zero", "one", "one"], ["picture"]), node("Slice", ["y", "one", "two", "one"], ["class"]),
                    node("Slice", ["y", "two", "three", "one"], ["box"]),
                    node("Concat", ["picture", "box"], ["at"], axis=1), node("GatherND", ["boxes", "at"], ["found"]),
                    node("GatherND", ["scores", "y"], ["probability"]), node("Squeeze", ["class", "one"], ["label"]),
                    node("Shape", ["label"], ["number"])]
gather_limits = {**limits, "zero": i64(0), "one": i64(1), "two": i64(2), "three": i64(3)}
gather_outputs = {"found": ("f", ["k", 4]), "probability": ("f", ["k"]), "label": ("i", ["k"]), "number": ("i", [1])}
case("gathered", gathered, picture(7, 80, 3), {**parts(3, 80), **gather_limits}, gather_outputs)
case("gathered-batch-1", gathered, picture(8, 80, 3), {**parts(3, 80), **gather_limits}, gather_outputs, batch=1)
# A fixed number of rows, with zeros in rows without a box, and a batch axis.
padded = gathered[:-2] + [
    node("Unsqueeze", ["probability", "one"], ["column"]), node("Cast", ["class"], ["real"], to=TensorProto.FLOAT),
    node("Concat", ["found", "column", "real"], ["table"], axis=1), node("Shape", ["table"], ["size"]),
    node("Slice", ["size", "zero", "one"], ["have"]), node("Sub", ["want", "have"], ["lack"]),
    node("Concat", ["none", "lack", "zero"], ["pads"], axis=0), node("Pad", ["table", "pads"], ["all"]),
    node("Unsqueeze", ["all", "zero"], ["rows"])]
case("padded", padded, picture(9, 80, 3), {**parts(3, 80), **gather_limits, "want": i64(50), "none": i64(0, 0)},
     {"rows": ("f", ["n", 50, 6])})
# All boxes above a threshold, the best first.
above = head + [node("Greater", ["d", "least"], ["b"]), node("NonZero", ["b"], ["at"]), node("Transpose", ["at"], ["tuples"]),
                node("GatherND", ["d", "tuples"], ["v"]), node("Shape", ["v"], ["n"]),
                node("TopK", ["v", "n"], ["sorted", "order"])]
case("nonzero", above, picture(10, 30, 2, ties=True), {"w": np.ones(30, np.float32), "least": f32(0.5)},
     {"at": ("i", [3, "k"]), "sorted": ("f", ["k"]), "order": ("i", ["k"])})
case("topk-300", head + [node("TopK", ["d", "many"], ["v", "i"], axis=2)], picture(11, 400, 1),
     {"w": np.ones(400, np.float32), "many": i64(300)}, {"v": ("f", ["n", 5, 300]), "i": ("i", ["n", 5, 300])})
# The boxes with the best scores of all classes, as in DETR's post-processing.
case("best-of-all", split + [node("Transpose", ["scores"], ["by_box"], perm=[0, 2, 1]), node("Reshape", ["by_box", "flat"], ["all"]),
                             node("TopK", ["all", "many"], ["best", "at"], axis=1), node("Div", ["at", "classes"], ["place"]),
                             node("Unsqueeze", ["place", "two"], ["column"]), node("Expand", ["column", "four"], ["index"]),
                             node("GatherElements", ["boxes", "index"], ["found"], axis=1), node("Mod", ["at", "classes"], ["label"])],
     picture(14, 40, 3, ties=True), {**parts(3, 40), "flat": i64(0, 120), "many": i64(9), "classes": i64(3), "two": i64(2),
                                     "four": i64(1, 1, 4)},
     {"found": ("f", ["n", 9, 4]), "best": ("f", ["n", 9]), "label": ("i", ["n", 9])})
# torchvision's suppression is in a branch that runs if there are boxes.
inner = helper.make_graph([node("NonMaxSuppression", ["boxes", "scores", "many", "iou"], ["found"]),
                           node("Constant", [], ["last"], value=numpy_helper.from_array(i64(2), "t")),
                           node("Gather", ["found", "last"], ["kept"], axis=1)], "then", [],
                          [helper.make_tensor_value_info("kept", TensorProto.INT64, None)])
none = helper.make_graph([node("Constant", [], ["nothing"], value=numpy_helper.from_array(np.zeros((0, 1), np.int64), "t"))], "else",
                         [], [helper.make_tensor_value_info("nothing", TensorProto.INT64, None)])
branch = split + [node("ReduceMax", ["scores"], ["best"], keepdims=0), node("Greater", ["best", "least"], ["any"]),
                  node("If", ["any"], ["y"], then_branch=inner, else_branch=none)]
for name, scale in ("branch", 1), ("branch-empty", 0.1):
    p = picture(12, 40, 1)
    p[4:] *= scale
    case(name, branch, p, {**parts(1, 40), **limits, "many": i64(300)}, {"y": ("i", ["k", 1])})
# A file without a batch.
case("whole", [node("Mul", ["x", "w"], ["e"]), node("Unsqueeze", ["e", "zero"], ["d"])] + split[1:] +
     [nms("most", "iou", "least")], picture(13, 40, 2), {**parts(2, 40), **limits, "zero": i64(0)}, rows, batch=None)
