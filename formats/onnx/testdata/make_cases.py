"""Makes cases/: a model for every form of each operator in operator sets 6 to 21, and the results
of ONNX Runtime 1.30.

    NODE_PATH=... /usr/bin/python3 make_cases.py [PREFIX...]

makes all cases, or those whose names begin with one of the prefixes.

Needs Debian's python3-onnx (1.12), and node with onnxruntime-node. The input is
x[i] = -1 + 2*((i*2654435761 mod 2^32)/2^32) of shape (2, 4, 6, 5) unless the
case says otherwise.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

here = os.path.dirname(os.path.abspath(__file__))
node = helper.make_node


def case(name, nodes, constants={}, opset=13, shape=("N", 4, 6, 5), rows=2):
    if len(sys.argv) > 1 and not name.startswith(tuple(sys.argv[1:])):
        return
    init = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], init)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=min(8, 4 + opset // 4))
    path = os.path.join(here, "cases", name + ".onnx")
    onnx.save(model, path)
    dims = [rows if d == "N" else d for d in shape]
    i = np.arange(int(np.prod(dims)), dtype=np.uint64)
    x = (-1 + 2 * ((i * 2654435761) % 2**32).astype(np.float64) / 2**32).astype(np.float32)
    with tempfile.NamedTemporaryFile() as f:
        f.write(x.tobytes())
        f.flush()
        out = subprocess.run(["node", os.path.join(here, "ort.js"), path, "float32", ",".join(map(str, dims)), f.name],
                             stdout=subprocess.PIPE)
    if out.returncode != 0:
        print(name, "is not run by ONNX Runtime")
        os.remove(path)
        return
    y = json.loads(out.stdout)["y"]
    np.save(path[:-5], np.frombuffer(base64.b64decode(y["data"]), np.float32).reshape(y["dims"]))


rng = np.random.RandomState(7)
f32 = lambda *s: rng.uniform(-1, 1, s).astype(np.float32)
i64 = lambda *v: np.array(v, np.int64)
one = lambda op, n=1, **a: [node(op, ["x"] + ["c%d" % i for i in range(1, n)], ["y"], **a)]

# Windows.
w = f32(6, 4, 3, 2)
for pad in "SAME_UPPER", "SAME_LOWER", "VALID":
    case("conv-" + pad.lower(), [node("Conv", ["x", "w"], ["y"], auto_pad=pad, strides=[2, 1])], {"w": w})
case("conv-groups", [node("Conv", ["x", "w", "b"], ["y"], group=2, pads=[1, 0, 2, 1])], {"w": f32(6, 2, 3, 2), "b": f32(6)})
case("conv-line", [node("Conv", ["x", "w"], ["y"], pads=[2, 1], strides=[2])], {"w": f32(3, 4, 3)}, shape=("N", 4, 9))
case("conv-transpose", [node("ConvTranspose", ["x", "w", "b"], ["y"], strides=[2, 3], pads=[1, 0, 0, 1], output_padding=[1, 2],
                             dilations=[2, 1], group=2)], {"w": f32(4, 3, 2, 3), "b": f32(6)})
for op in "MaxPool", "AveragePool":
    case(op.lower() + "-pads", one(op, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]))
    case(op.lower() + "-ceil", one(op, kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1), opset=10)
    case(op.lower() + "-same", one(op, kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_UPPER"))
    case(op.lower() + "-line", one(op, kernel_shape=[3], strides=[2]), shape=("N", 4, 9))
case("averagepool-count", one("AveragePool", kernel_shape=[3, 2], pads=[1, 0, 1, 1], count_include_pad=1), opset=7)
case("globalmaxpool", one("GlobalMaxPool"))
case("globalaveragepool-line", one("GlobalAveragePool"), shape=("N", 4, 9))

# Matrices.
flat = [node("Flatten", ["x"], ["f"])]
case("gemm-alpha", flat + [node("Gemm", ["f", "w", "b"], ["y"], alpha=0.5, beta=2.0)], {"w": f32(120, 3), "b": f32(1)})
case("matmul-add", flat + [node("MatMul", ["f", "w"], ["m"]), node("Add", ["m", "b"], ["y"])], {"w": f32(120, 3), "b": f32(3)})

# Batch norms of all versions.
bn = {"g": f32(4), "b": f32(4), "m": f32(4), "v": np.abs(f32(4)) + 0.1}
for opset in 7, 9, 14, 15:
    extra = {"spatial": 1} if opset < 9 else {}
    case("batchnorm-%d" % opset, [node("BatchNormalization", ["x", "g", "b", "m", "v"], ["y"], epsilon=0.01, **extra)], bn, opset)
case("batchnorm-constants", [
    node("Constant", [], ["g"], value=numpy_helper.from_array(bn["g"])),
    node("ConstantOfShape", ["s"], ["b"], value=numpy_helper.from_array(np.array([0.5], np.float32))),
    node("BatchNormalization", ["x", "g", "b", "m", "v"], ["y"])], {"s": i64(4), "m": bn["m"], "v": bn["v"]})

# Activations.
for op, a in [("LeakyRelu", {"alpha": 0.3}), ("Elu", {"alpha": 0.5}), ("Selu", {}), ("HardSigmoid", {}), ("Softsign", {}),
              ("Abs", {}), ("Neg", {}), ("Softplus", {})]:
    case(op.lower(), one(op, **a))
case("hardswish", one("HardSwish"), opset=14)
case("clip-6", one("Clip", min=-0.25, max=0.5), opset=6)
case("clip-11", [node("Clip", ["x", "", "c"], ["y"])], {"c": np.float32(0.25)}, opset=11)
case("clip-relu6", [node("Mul", ["x", "k"], ["s"]), node("Clip", ["s", "a", "b"], ["y"])],
     {"k": np.float32(9), "a": np.float32(0), "b": np.float32(6)})
wide = [node("Mul", ["x", "wide"], ["w"])]
numbers = {"wide": np.float32(5), "root": np.float32(2**0.5), "one": np.float32(1), "half": np.float32(0.5), "three": np.float32(3),
           "cube": np.float32(0.044715), "scale": np.float32((2 / np.pi)**0.5)}
gate = [node("Div", ["w", "root"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["e", "one"], ["g"])]
gate_tanh = [node("Pow", ["w", "three"], ["p"]), node("Mul", ["p", "cube"], ["c"]), node("Add", ["w", "c"], ["a"]),
             node("Mul", ["scale", "a"], ["i"]), node("Tanh", ["i"], ["t"]), node("Add", ["one", "t"], ["g"])]
case("erf", wide + [node("Erf", ["w"], ["y"])], {"wide": np.float32(3)})
case("gelu-20", wide + [node("Gelu", ["w"], ["y"])], {"wide": np.float32(5)}, opset=20)
case("gelu-20-tanh", wide + [node("Gelu", ["w"], ["y"], approximate="tanh")], {"wide": np.float32(5)}, opset=20)
case("mish-18", wide + [node("Mish", ["w"], ["y"])], {"wide": np.float32(9)}, opset=18)
case("gelu-parts", wide + gate + [node("Mul", ["w", "g"], ["m"]), node("Mul", ["m", "half"], ["y"])], numbers)
case("gelu-parts-tanh", wide + gate_tanh + [node("Mul", ["half", "w"], ["h"]), node("Mul", ["h", "g"], ["y"])], numbers)
case("mish-parts", wide + [node("Softplus", ["w"], ["s"]), node("Tanh", ["s"], ["t"]), node("Mul", ["w", "t"], ["y"])], {"wide": np.float32(9)})
case("prelu", one("PRelu", 2), {"c1": f32(4, 1, 1)})
case("softmax-12", one("Softmax", axis=2), opset=12)
case("softmax-13", one("Softmax", axis=1))
case("logsoftmax-13", one("LogSoftmax"))

# Arithmetic with constants that broadcast.
for op in "Add", "Sub", "Mul", "Div":
    case(op.lower() + "-channel", [node(op, ["x", "c"], ["y"])], {"c": f32(4, 1, 1) + 2})
    case(op.lower() + "-scalar", [node(op, ["x", "c"], ["y"])], {"c": np.array([0.3], np.float32)})
    case(op.lower() + "-reversed", [node("Exp", ["x"], ["e"]), node(op, ["c", "e"], ["y"])], {"c": np.float32(2)})
case("add-batch", [node("Add", ["x", "c"], ["y"])], {"c": f32(1, 4, 6, 1)})
case("div-two", [node("Div", ["x", "c"], ["y"])], {"c": np.float32(2)})
case("sum", [node("Relu", ["x"], ["a"]), node("Sum", ["x", "a", "x"], ["y"])])
case("excite", [node("GlobalAveragePool", ["x"], ["g"]), node("Sigmoid", ["g"], ["s"]), node("Mul", ["x", "s"], ["y"])])

# Axes given as attributes and as operands.
case("reducemean-11", one("ReduceMean", axes=[-1, 2], keepdims=0), opset=11)
case("reducemean-18", one("ReduceMean", 2, keepdims=1), {"c1": i64(1)}, opset=18)
case("reducesum-13", one("ReduceSum", 2, keepdims=0), {"c1": i64(2, 3)})
case("squeeze-11", [node("GlobalAveragePool", ["x"], ["g"]), node("Squeeze", ["g"], ["y"], axes=[2, 3])], opset=11)
case("squeeze-13", [node("GlobalAveragePool", ["x"], ["g"]), node("Squeeze", ["g", "a"], ["y"])], {"a": i64(-1, 2)})
case("unsqueeze-11", one("Unsqueeze", axes=[1, 5]), opset=11)
case("unsqueeze-13", one("Unsqueeze", 2), {"c1": i64(-1)})
case("slice-9", one("Slice", axes=[2, 3], starts=[1, -3], ends=[5, 9223372036854775807]), opset=9)
case("slice-10", one("Slice", 5), {"c1": i64(1, 0), "c2": i64(6, -1), "c3": i64(2, -1), "c4": i64(2, 1)}, opset=10)
case("split-11", [node("Split", ["x"], ["a", "b"], axis=1, split=[1, 3]), node("Concat", ["b", "a"], ["y"], axis=1)], opset=11)
case("split-13", [node("Split", ["x", "s"], ["a", "b"], axis=1), node("Concat", ["b", "a"], ["y"], axis=1)], {"s": i64(3, 1)})
case("split-18", [node("Split", ["x"], ["a", "b"], axis=3, num_outputs=2), node("Concat", ["b", "a"], ["y"], axis=-1)], opset=18)
case("pad-10", one("Pad", pads=[0, 0, 1, 2, 0, 1, 0, -1], value=0.5), opset=10)
case("pad-13", [node("Pad", ["x", "p"], ["y"])], {"p": i64(0, 0, 1, 2, 0, 1, 0, 0)})
case("pad-18", [node("Pad", ["x", "p", "v", "a"], ["y"], mode="constant")], {"p": i64(1, 2), "v": np.float32(3), "a": i64(-1)}, opset=18)
case("pad-reflect", one("Pad", 2, mode="reflect"), {"c1": i64(0, 0, 2, 1, 0, 0, 1, 3)})
case("pad-edge", one("Pad", 2, mode="edge"), {"c1": i64(0, 1, 2, 0, 0, 0, 0, 3)})
case("dropout-11", one("Dropout", ratio=0.3), opset=11)
case("dropout-13", one("Dropout", 2), {"c1": np.float32(0.3)})
case("expand", [node("GlobalAveragePool", ["x"], ["g"]), node("Expand", ["g", "s"], ["y"])], {"s": i64(1, 4, 3, 2)})

# Computed shapes.
case("view", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"], axis=0), node("Unsqueeze", ["n", "zero1"], ["n1"]),
              node("Concat", ["n1", "rest"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
     {"zero": np.int64(0), "zero1": i64(0), "rest": i64(-1, 3)})
case("view-15", [node("Shape", ["x"], ["s"], start=0, end=2), node("Concat", ["s", "rest"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
     {"rest": i64(-1)}, opset=15)
case("reshape-copy", one("Reshape", 2), {"c1": i64(0, 0, -1)})
case("depthtospace-dcr", one("DepthToSpace", blocksize=2))
case("depthtospace-crd", one("DepthToSpace", blocksize=2, mode="CRD"))
case("spacetodepth", one("SpaceToDepth", blocksize=2), shape=("N", 3, 6, 4))
case("shuffle", [node("Reshape", ["x", "a"], ["r"]), node("Transpose", ["r"], ["t"], perm=[0, 2, 1, 3, 4]), node("Reshape", ["t", "b"], ["y"])],
     {"a": i64(0, 2, 2, 6, 5), "b": i64(-1, 4, 6, 5)})

# Resizing in all supported modes.
case("upsample-9", one("Upsample", 2, mode="nearest"), {"c1": np.array([1, 1, 2, 3], np.float32)}, opset=9)
case("upsample-7", one("Upsample", mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]), opset=7)
case("resize-10", one("Resize", 2, mode="nearest"), {"c1": np.array([1, 1, 2, 1], np.float32)}, opset=10)
for coords in "half_pixel", "pytorch_half_pixel", "align_corners":
    case("resize-linear-" + coords, [node("Resize", ["x", "", "", "s"], ["y"], mode="linear", coordinate_transformation_mode=coords)],
         {"s": i64(2, 4, 9, 7)}, shape=(2, 4, 6, 5))
case("resize-nearest-half", [node("Resize", ["x", "", "s"], ["y"], mode="nearest")], {"s": np.array([1, 1, 3, 2], np.float32)})
case("resize-nearest-floor", [node("Resize", ["x", "", "s"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric",
                                  nearest_mode="floor")], {"s": np.array([1, 1, 1.5, 0.6], np.float32)})

# A matrix that is used both as it is and transposed.
case("gemm-both", [node("Flatten", ["x"], ["f"]), node("Gemm", ["f", "w"], ["a"], transB=1), node("Gemm", ["a", "w"], ["b"]),
                   node("Gemm", ["b", "w"], ["y"], transB=1, alpha=0.5)], {"w": np.random.RandomState(11).uniform(-1, 1, (5, 5)).astype(np.float32)}, shape=("N", 5))

# Weights that are not initializers: values of Constants in every form, and filled, copied, transposed and quantised ones.
rng = np.random.RandomState(13)


def constant(name, array, **how):
    if not how:
        how = {"value": numpy_helper.from_array(np.asarray(array), name)}
    return node("Constant", [], [name], **how)


def typed(array):
    return helper.make_tensor("", TensorProto.FLOAT, array.shape, array.flatten().tolist())


w, bn = f32(4, 4, 3, 3), {k: f32(4) for k in "gbm"}
bn["v"] = np.abs(f32(4)) + 0.1
layers = [node("Conv", ["x", "w"], ["c"]), node("BatchNormalization", ["c", "g", "b", "m", "v"], ["n"]), node("Relu", ["n"], ["y"])]
case("constants-value", [constant("w", w), constant("g", 0, value=typed(bn["g"])), constant("b", 0, value_floats=bn["b"].tolist()),
                         constant("m", bn["m"]), constant("v", bn["v"])] + layers)
case("constants-half", [constant("w16", w.astype(np.float16)), node("Cast", ["w16"], ["w"], to=1)] + layers, bn)
case("constants-double", [constant("w64", w.astype(np.float64)), node("Cast", ["w64"], ["w"], to=1)] + layers, bn)
case("constants-filled", [node("ConstantOfShape", ["four"], ["g"], value=helper.make_tensor("", TensorProto.FLOAT, [1], [1.5])),
                          node("ConstantOfShape", ["four"], ["b"])] + layers, {"w": w, "m": bn["m"], "v": bn["v"], "four": i64(4)})
case("constants-identity", [node("Identity", ["w1"], ["w2"]), node("Identity", ["w2"], ["w"]), constant("g1", bn["g"]),
                            node("Identity", ["g1"], ["g"])] + layers, {"w1": w, "b": bn["b"], "m": bn["m"], "v": bn["v"]})
case("constants-turned", [node("Transpose", ["w1"], ["w"], perm=[3, 2, 0, 1]), node("Unsqueeze", ["s1", "zero"], ["s2"]),
                          node("Squeeze", ["s2", "zero"], ["s3"]), node("Add", ["s3", "s3"], ["v"])] + layers,
     {"w1": np.ascontiguousarray(w.transpose(2, 3, 1, 0)), "s1": bn["v"] / 2, "zero": i64(0), "g": bn["g"], "b": bn["b"], "m": bn["m"]})
quantised = np.clip(np.round(w * 90), -128, 127).astype(np.int8)
case("constants-dequantised", [node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=0)] + layers,
     {"q": quantised, "s": np.abs(f32(4)) / 90 + 0.001, "z": np.array([0, 3, -2, 0], np.int8), **bn})
case("constants-dequantised-one", [constant("q", (quantised.astype(int) + 128).astype(np.uint8)), constant("s", np.float32(0.01)),
                                   constant("z", np.uint8(128)), node("DequantizeLinear", ["q", "s", "z"], ["w"])] + layers, bn)
case("constants-fake", [node("QuantizeLinear", ["w1", "s", "z"], ["q"], axis=0), node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=0)] + layers,
     {"w1": w, "s": np.abs(f32(4)) / 90 + 0.001, "z": np.array([0, 3, -2, 0], np.int8), **bn})

# Resizing by fractional scales. The coordinates follow from the scales, not from the rounded sizes.
rng = np.random.RandomState(17)


def resize(name, scales=None, sizes=None, opset=18, shape=("N", 4, 6, 5), **a):
    by = {"s": np.array(scales, np.float32)} if scales else {"z": i64(*sizes)}
    inputs = ["x", "", "s"] if scales else ["x", "", "", "z"]
    case("resize-" + name, [node("Resize", inputs, ["y"], **a)], by, opset, shape)


up, down, whole = [1, 1, 1.3, 1.7], [1, 1, 0.7, 0.45], [1, 1, 3, 2]
for coords in "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric":
    for way, scales in ("up", up), ("down", down), ("whole", whole):
        resize("linear-%s-%s" % (coords, way), scales, opset=19, mode="linear", coordinate_transformation_mode=coords)
    resize("cubic-%s" % coords, up, opset=19, mode="cubic", coordinate_transformation_mode=coords)
    resize("cubic-%s-down" % coords, down, opset=19, mode="cubic", coordinate_transformation_mode=coords, cubic_coeff_a=-0.5, exclude_outside=1)
    for rounding in "round_prefer_floor", "round_prefer_ceil", "floor", "ceil":
        resize("nearest-%s-%s" % (coords, rounding), up, opset=19, mode="nearest", coordinate_transformation_mode=coords, nearest_mode=rounding)
        resize("nearest-%s-%s-down" % (coords, rounding), down, opset=19, mode="nearest", coordinate_transformation_mode=coords, nearest_mode=rounding)
case("resize-nearest-tf", one("Resize", 3, mode="nearest", coordinate_transformation_mode="tf_half_pixel_for_nn"),
     {"c1": np.zeros(0, np.float32), "c2": np.array(up, np.float32)}, 11)
for mode in "linear", "cubic":
    resize("antialias-%s" % mode, down, antialias=1, mode=mode)
    resize("antialias-%s-sizes" % mode, sizes=[2, 4, 3, 2], shape=(2, 4, 6, 5), antialias=1, mode=mode)
    resize("antialias-%s-up" % mode, up, antialias=1, mode=mode)
    resize("antialias-%s-exclude" % mode, down, antialias=1, mode=mode, exclude_outside=1)
resize("axes", [0.5, 2.5], axes=[3, -2], mode="linear")
resize("not-larger", sizes=[9, 7], axes=[2, 3], mode="linear", keep_aspect_ratio_policy="not_larger")
resize("not-smaller", sizes=[9, 7], axes=[2, 3], mode="linear", keep_aspect_ratio_policy="not_smaller")
resize("one", sizes=[2, 4, 1, 1], shape=(2, 4, 6, 5), mode="linear")
resize("one-pytorch", sizes=[2, 4, 1, 3], shape=(2, 4, 6, 5), mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
resize("nearest-sizes", sizes=[2, 4, 10, 3], shape=(2, 4, 6, 5), mode="nearest")
for opset, op in (9, "Upsample"), (10, "Resize"):
    for mode in "nearest", "linear":
        for way, scales in ("up", up), ("down", down), ("whole", whole):
            if op == "Resize" or way != "down":
                case("resize-%d-%s-%s" % (opset, mode, way), one(op, 2, mode=mode), {"c1": np.array(scales, np.float32)}, opset)

# Largest and smallest elements, and local response normalisation.
case("reducemax-11", one("ReduceMax", axes=[-1, 2], keepdims=0), opset=11)
case("reducemax-18", one("ReduceMax", 2, keepdims=1), {"c1": i64(1)}, opset=18)
case("reducemin-13", one("ReduceMin", axes=[3, 1], keepdims=1))
case("reducemean-noop", one("ReduceMean", noop_with_empty_axes=1), opset=18)
for size in 1, 3:
    case("lrn-%d" % size, one("LRN", size=size, alpha=0.9, bias=1.5))
case("lrn-beta", one("LRN", size=5, alpha=0.9, beta=0.6))
case("lrn-root", one("LRN", size=3, alpha=0.9, beta=0.5))

# A batch of 1 that is dropped, and heads that pick a class. The output of such a head in bnctl is the scores.
gap = [node("GlobalAveragePool", ["x"], ["g"])]
b1 = dict(shape=(1, 4, 6, 5), rows=1)
case("bare-reshape", gap + [node("Reshape", ["g", "s"], ["r"]), node("Softmax", ["r"], ["y"], axis=0)], {"s": i64(-1)}, **b1)
case("bare-matrix", [node("Reshape", ["x", "s"], ["r"]), node("Softmax", ["r"], ["y"], axis=1)], {"s": i64(-1, 5)}, **b1)
case("bare-back", [node("Reshape", ["x", "s"], ["r"]), node("Relu", ["r"], ["a"]), node("Reshape", ["a", "t"], ["b"]), node("GlobalMaxPool", ["b"], ["y"])],
     {"s": i64(24, 5), "t": i64(1, 4, 6, 5)}, **b1)
case("bare-squeeze", gap + [node("Squeeze", ["g"], ["y"])], **b1)
case("bare-squeeze-axes", [node("Squeeze", ["x", "a"], ["q"]), node("ReduceMean", ["q"], ["m"], axes=[0], keepdims=0), node("Unsqueeze", ["m", "a"], ["y"])],
     {"a": i64(0)}, **b1)
case("bare-flatten", [node("Flatten", ["x"], ["f"], axis=2), node("LogSoftmax", ["f"], ["y"], axis=-1)], **b1)
case("bare-shape", [node("Squeeze", ["x", "a"], ["q"]), node("Shape", ["q"], ["s"]), node("Slice", ["s", "a", "one"], ["c"]),
                    node("Concat", ["c", "rest"], ["t"], axis=0), node("Reshape", ["q", "t"], ["y"])], {"a": i64(0), "one": i64(1), "rest": i64(-1)}, **b1)

# Windows with attributes that affect each other.
rng = np.random.RandomState(19)
for op in "MaxPool", "AveragePool":
    for opset in 12, 19:
        for pad in "SAME_LOWER", "SAME_UPPER", "VALID":
            case("%s-%s-ceil-%d" % (op.lower(), pad.lower(), opset), one(op, kernel_shape=[3, 2], strides=[2, 3], auto_pad=pad, ceil_mode=1), opset=opset)
        case("%s-pads-ceil-%d" % (op.lower(), opset), one(op, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 2], ceil_mode=1), opset=opset)
    case(op.lower() + "-same_lower", one(op, kernel_shape=[2, 3], strides=[1, 2], auto_pad="SAME_LOWER"))
case("averagepool-count-same", one("AveragePool", kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER", count_include_pad=1))
case("maxpool-order", one("MaxPool", kernel_shape=[3, 2], storage_order=1))
flat = [node("Flatten", ["x"], ["f"], axis=-3)]
case("gemm-row", flat + [node("Gemm", ["f", "w", "b"], ["y"], transB=1, alpha=1.5, beta=0.5)], {"w": f32(3, 120) / 8, "b": f32(1, 3)})
case("clip-above", [node("Clip", ["x", "a", "b"], ["y"])], {"a": np.float32(0.5), "b": np.float32(-0.5)})
case("softmax-12-default", one("Softmax"), opset=12)
case("pad-reflect-18", [node("Pad", ["x", "p", "", "a"], ["y"], mode="reflect")], {"p": i64(1, 2, 2, 0), "a": i64(2, -1)}, opset=18)
case("slice-steps", one("Slice", 5), {"c1": i64(1, 0), "c2": i64(6, 9), "c3": i64(-2, 3), "c4": i64(3, 2)})
case("batchnorm-outputs", [node("BatchNormalization", ["x", "g", "b", "m", "v"], ["y"], momentum=0.5)], {"g": f32(4), "b": f32(4), "m": f32(4), "v": f32(4) ** 2}, 9)

# Parts of exported segmentation networks: learned upsampling, and maps that are scaled to the size of the input,
# which may be open.
f32 = lambda *s, rng=np.random.RandomState(13): rng.uniform(-1, 1, s).astype(np.float32)
for name, shape, a in (("twice", (4, 3, 4, 4), dict(strides=[2, 2], pads=[1, 1, 1, 1])),
                       ("group", (4, 3, 3, 3), dict(group=2, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])),
                       ("dilations", (4, 2, 3, 2), dict(dilations=[2, 3], strides=[1, 2])),
                       ("pads", (4, 2, 4, 3), dict(pads=[2, 0, 1, 2], strides=[3, 2]))):
    w = f32(*shape)
    case("convtranspose-" + name, [node("ConvTranspose", ["x", "w"], ["y"], **a)], {"w": w})
w = f32(3, 4, 3, 3)
for name, mode in (("linear", dict(mode="linear", coordinate_transformation_mode="pytorch_half_pixel")),
                   ("corners", dict(mode="linear", coordinate_transformation_mode="align_corners")),
                   ("nearest", dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"))):
    for way, size in ("small", (6, 5)), ("large", (13, 10)):
        case("likeinput-%s-%s" % (name, way), [
            node("Conv", ["x", "w"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]), node("Shape", ["x"], ["s"]),
            node("Slice", ["s", "two", "four"], ["hw"]), node("Shape", ["c"], ["t"]),
            node("Slice", ["t", "zero", "two"], ["nc"]), node("Concat", ["nc", "hw"], ["sizes"], axis=0),
            node("Resize", ["c", "", "", "sizes"], ["y"], **mode)],
             {"w": w, "zero": i64(0), "two": i64(2), "four": i64(4)}, shape=("N", 4) + size)

# Resizing in 1-D, and casts of constants, which keep the bits that fit.
line = dict(shape=("N", 4, 7))
case("resize-line-nearest", [node("Resize", ["x", "", "s"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric",
                                  nearest_mode="floor")], {"s": np.array([1, 1, 2], np.float32)}, **line)
case("resize-line-linear", [node("Resize", ["x", "", "s"], ["y"], mode="linear")], {"s": np.array([1, 1, 1.7], np.float32)}, **line)
case("resize-line-axes", [node("Resize", ["x", "", "", "z"], ["y"], mode="linear", coordinate_transformation_mode="align_corners", axes=[-1])],
     {"z": i64(5)}, 18, **line)
case("resize-line-7", one("Upsample", mode="nearest", scales=[1.0, 1.0, 3.0]), opset=7, **line)
case("fold-cast", [node("Cast", ["w1"], ["u"], to=TensorProto.UINT8), node("Cast", ["u"], ["b"], to=TensorProto.BOOL), node("Cast", ["b"], ["f"], to=1),
                   node("Cast", ["w2"], ["i"], to=TensorProto.INT8), node("Cast", ["i"], ["g"], to=1), node("Add", ["f", "g"], ["s"]),
                   node("Div", ["s", "d"], ["t"]), node("Mul", ["x", "t"], ["y"])], {"d": np.float32(128), "w1": i64(0, 256, 7, 511, -1), "w2": i64(130, -3, 127, 128, -200)})

# Products of two computed values, as in attention: scores, softmax, values. With a batch of 1 the values are
# unbatched, and PyTorch's attention moves their batch axis.
f32 = lambda *s, rng=np.random.RandomState(17): rng.uniform(-1, 1, s).astype(np.float32)
turned = [node("Transpose", ["x"], ["t"], perm=[0, 1, 3, 2])]
case("matmul-two", turned + [node("MatMul", ["x", "t"], ["y"])])
case("matmul-two-left", turned + [node("MatMul", ["t", "x"], ["y"])])
case("matmul-two-repeated", [node("Slice", ["x", "zero", "one", "one"], ["k"]), node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]),
                             node("MatMul", ["x", "t"], ["y"])], {"zero": i64(0), "one": i64(1)})
case("matmul-heads-right", [node("MatMul", ["x", "w"], ["y"])], {"w": f32(4, 5, 3)})
case("matmul-heads-left", [node("MatMul", ["w", "x"], ["y"])], {"w": f32(4, 3, 6)})
case("matmul-tokens", [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["y"])], {"w": f32(5, 7), "b": f32(7)})
attention = [node("MatMul", ["q", "k"], ["s"]), node("Div", ["s", "root"], ["d"]), node("Softmax", ["d"], ["p"], axis=-1),
             node("MatMul", ["p", "v"], ["a"])]
for opset in 11, 13, 17:
    case("attention-%d" % opset, [node("Mul", ["x", "c"], ["q"]), node("Transpose", ["x"], ["k"], perm=[0, 1, 3, 2]),
                                  node("Relu", ["x"], ["v"])] + attention + [node("Transpose", ["a"], ["u"], perm=[0, 2, 1, 3]),
                                  node("Reshape", ["u", "r"], ["y"])],
         {"c": f32(4, 1, 5), "root": np.float32(np.sqrt(5)), "r": i64(0, 6, 20)}, opset)
case("einsum-scores", [node("Relu", ["x"], ["k"]), node("Einsum", ["x", "k"], ["y"], equation="bhqd,bhkd->bhqk")])
case("einsum-values", [node("Softmax", ["x"], ["p"], axis=-1), node("Transpose", ["x"], ["v"], perm=[0, 3, 1, 2]),
                       node("Einsum", ["p", "v"], ["y"], equation="bhqk,bkhd->bqhd")])
case("einsum-weight", [node("Einsum", ["x", "w"], ["y"], equation="bchw,oc->bohw")], {"w": f32(3, 4)})
case("einsum-turn", [node("Einsum", ["x"], ["y"], equation="bchw->bwch")])
whole = dict(shape=(1, 4, 6, 5), rows=1)
case("bare-gemm-two", [node("Reshape", ["x", "r"], ["a"]), node("Gemm", ["a", "a", "c"], ["y"], transB=1, alpha=0.5, beta=2.0)],
     {"r": i64(24, 5), "c": f32(24)}, **whole)
case("bare-matmul-vector", [node("Reshape", ["x", "r"], ["a"]), node("ReduceMean", ["a"], ["v"], axes=[0], keepdims=0),
                            node("MatMul", ["a", "v"], ["y"])], {"r": i64(24, 5)}, **whole)
case("bare-matmul-row", [node("Reshape", ["x", "r"], ["a"]), node("ReduceMean", ["a"], ["v"], axes=[1], keepdims=0),
                         node("MatMul", ["v", "a"], ["y"])], {"r": i64(24, 5)}, **whole)
case("bare-attention", [node("Reshape", ["x", "r"], ["e"]), node("Transpose", ["e"], ["t"], perm=[1, 0, 2]),
                        node("MatMul", ["t", "w"], ["m"]), node("Add", ["b", "m"], ["n"]),
                        node("Split", ["n"], ["q3", "k3", "v3"], axis=-1), node("Reshape", ["q3", "h"], ["q2"]),
                        node("Reshape", ["k3", "h"], ["k2"]), node("Reshape", ["v3", "h"], ["v2"]),
                        node("Transpose", ["q2"], ["q"], perm=[1, 0, 2]), node("Transpose", ["k2"], ["k"], perm=[1, 2, 0]),
                        node("Transpose", ["v2"], ["v"], perm=[1, 0, 2])] + attention +
     [node("Transpose", ["a"], ["u"], perm=[1, 0, 2]), node("Reshape", ["u", "o"], ["f"]), node("MatMul", ["f", "z"], ["g"]),
      node("Reshape", ["g", "l"], ["g3"]), node("Transpose", ["g3"], ["y"], perm=[1, 0, 2])],
     {"r": i64(1, 10, 12), "w": f32(12, 36), "b": f32(36), "h": i64(10, 3, 4), "root": np.float32(2), "o": i64(10, 12), "z": f32(12, 12),
      "l": i64(10, 1, 12)}, **whole)

# A batch axis that is not the first axis: after the positions of a sequence, and joined with heads or windows.
f32 = lambda *s, rng=np.random.RandomState(18): rng.uniform(-1, 1, s).astype(np.float32)
length = lambda name="x", out="n": [node("Shape", [name], [out + "_s"]), node("Gather", [out + "_s", "first"], [out])]
to_shape = lambda out, *parts: node("Concat", list(parts), [out], axis=0)
for opset in 11, 13, 17:
    wide = {"axes": [0]} if opset < 13 else {}
    unsqueeze = lambda a, b: node("Unsqueeze", [a] if opset < 13 else [a, "z"], [b], **wide)
    case("moved-attention-%d" % opset, length() + [  # a token in front of each sequence, PyTorch's attention
        unsqueeze("n", "n1"), to_shape("want", "n1", "one", "twelve"), node("Shape", ["want"], ["rank"]),
        node("ConstantOfShape", ["rank"], ["ones"], value=numpy_helper.from_array(i64(1))), node("Mul", ["ones", "minus"], ["wild"]),
        node("Equal", ["want", "wild"], ["same"]), node("Where", ["same", "ones", "want"], ["size"]),
        node("Expand", ["token", "size"], ["tokens"]), to_shape("seq", "n1", "ten", "twelve"), node("Reshape", ["x", "seq"], ["e0"]),
        node("Concat", ["tokens", "e0"], ["e"], axis=1), node("Transpose", ["e"], ["t"], perm=[1, 0, 2]),
        node("MatMul", ["t", "w"], ["m"]), node("Add", ["b", "m"], ["q0"]), node("Mul", ["n", "three"], ["heads"]),
        unsqueeze("heads", "h1"), to_shape("h", "eleven", "h1", "four"), node("Reshape", ["q0", "h"], ["q1"]),
        node("Transpose", ["q1"], ["q"], perm=[1, 0, 2]), node("Transpose", ["q1"], ["k"], perm=[1, 2, 0]), node("Relu", ["q"], ["v"])] +
         attention + [node("Transpose", ["a"], ["u"], perm=[1, 0, 2]), to_shape("o", "minus", "twelve"), node("Reshape", ["u", "o"], ["f"]),
                      node("Gemm", ["f", "g", "b"], ["p0"], transB=1), to_shape("back", "eleven", "n1", "twelve"),
                      node("Reshape", ["p0", "back"], ["p1"]), node("Transpose", ["p1"], ["y"], perm=[1, 0, 2])],
         {"first": np.int64(0), "z": i64(0), "one": i64(1), "minus": i64(-1), "three": np.int64(3), "four": i64(4), "ten": i64(10), "eleven": i64(11),
          "twelve": i64(12), "token": f32(1, 1, 12), "w": f32(12, 12), "b": f32(12), "g": f32(12, 12), "root": np.float32(2)}, opset)
case("moved-windows", length() + [node("Reshape", ["x", "cut"], ["c"]), node("Transpose", ["c"], ["t"], perm=[0, 2, 4, 1, 3, 5]),
                                  node("Mul", ["n", "two"], ["windows"]), node("Unsqueeze", ["windows", "z"], ["w1"]),
                                  to_shape("s", "w1", "twelve", "five"), node("Reshape", ["t", "s"], ["w"]),
                                  node("Transpose", ["w"], ["k"], perm=[0, 2, 1]), node("MatMul", ["w", "k"], ["m0"]), node("Add", ["m0", "bias"], ["m1"]),
                                  node("Shape", ["m1"], ["ms"]), node("Gather", ["ms", "first"], ["mn"]), node("Div", ["mn", "two"], ["batch"]),
                                  node("Unsqueeze", ["batch", "z"], ["b1"]), to_shape("q", "b1", "pair", "twelve", "twelve"),
                                  node("Reshape", ["m1", "q"], ["m2"]), node("Add", ["m2", "mask"], ["m3"]), to_shape("r", "minus", "twelve", "twelve"),
                                  node("Reshape", ["m3", "r"], ["m4"]), node("Softmax", ["m4"], ["p"], axis=-1), node("MatMul", ["p", "w"], ["a"]),
                                  node("LayerNormalization", ["a", "g"], ["l"]), to_shape("o", "b1", "minus", "five"), node("Reshape", ["l", "o"], ["y"])],
     {"cut": i64(0, 4, 2, 3, 1, 5), "first": np.int64(0), "two": np.int64(2), "pair": i64(2), "z": i64(0), "twelve": i64(12), "five": i64(5), "minus": i64(-1),
      "bias": f32(1, 12, 12), "mask": f32(1, 2, 12, 12), "g": f32(5)}, 17)
case("moved-everywhere", [node("Transpose", ["x"], ["t"], perm=[1, 2, 0, 3]), node("ReduceMean", ["t"], ["r"], axes=[-1], keepdims=1),
                          node("Sub", ["t", "r"], ["d"]), node("Unsqueeze", ["d", "one"], ["u"]), node("Gather", ["u", "two"], ["g"], axis=2),
                          node("Slice", ["g", "one", "three", "zero"], ["s"]), node("Softmax", ["s"], ["p"], axis=0), node("Flatten", ["p"], ["f"], axis=2),
                          node("Add", ["f", "c"], ["a"]), to_shape("shape", "k", "minus", "five"), node("Reshape", ["a", "shape"], ["b"]),
                          node("Transpose", ["b"], ["y"], perm=[1, 0, 2])],
     {"one": i64(1), "two": np.int64(2), "three": i64(3), "zero": i64(0), "c": f32(2, 1), "k": i64(2), "minus": i64(-1), "five": i64(5)})
case("moved-constant", [node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "one"], ["n"]), to_shape("to", "n", "one", "six", "five"),
                        node("ConstantOfShape", ["to"], ["c"], value=numpy_helper.from_array(np.array([0.5], np.float32))),
                        node("Concat", ["c", "x"], ["y"], axis=1)], {"zero": i64(0), "one": i64(1), "six": i64(6), "five": i64(5)})
case("moved-einsum", [node("Transpose", ["x"], ["t"], perm=[1, 0, 2, 3]), node("Relu", ["t"], ["k"]), node("Einsum", ["t", "k"], ["e"], equation="hbqd,hbkd->bhqk"),
                      node("Einsum", ["e", "k"], ["y"], equation="bhqk,hbkd->bqhd")])

# as_strided by a loop, as PyTorch's second exporter writes it: only the last round remains.
case("strided-loop", [
    node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "one"], ["n"]), node("Range", ["none", "n", "step"], ["r"]),
    node("Mul", ["r", "stride"], ["m"]), node("Cast", ["n"], ["nf"], to=TensorProto.FLOAT), to_shape("af", "nf", "ones"),
    node("Cast", ["af"], ["along"], to=TensorProto.INT64), node("Reshape", ["m", "along"], ["a"]), to_shape("size", "n", "three", "four"),
    node("Expand", ["inner", "size"], ["e"]), node("Add", ["e", "a"], ["i"]), node("CastLike", ["offset", "i"], ["o"]), node("Add", ["i", "o"], ["j"]),
    node("Reshape", ["x", "minus"], ["f"]), node("Gather", ["f", "j"], ["y"])],
     {"zero": i64(0), "one": i64(1), "none": np.int64(0), "step": np.int64(1), "stride": i64(120), "ones": np.array([1, 1], np.float32), "three": i64(3),
      "four": i64(4), "inner": np.arange(3)[:, None] * 7 + np.arange(4) * 2, "offset": np.int64(5), "minus": i64(-1)}, 18)

# Thresholds, hyperbolic functions, and elements that are set to constants.
f32 = lambda *s, rng=np.random.RandomState(19): rng.uniform(-1, 1, s).astype(np.float32)
case("thresholded", one("ThresholdedRelu", alpha=0.3))
case("shrink", one("Shrink", lambd=0.25, bias=0.1))
ties = [node("Mul", ["x", "four"], ["m"]), node("Round", ["m"], ["r"])]  # the k largest elements of an axis
for name, axis in ("hardmax-last", -1), ("hardmax-middle", 2):
    case(name, ties + [node("Hardmax", ["r"], ["y"], axis=axis)], {"four": np.float32(4)})
case("hardmax-11", ties + [node("Hardmax", ["r"], ["y"], axis=2)], {"four": np.float32(4)}, 11)
for op in "Sinh", "Cosh", "Asinh", "Atanh":
    case(op.lower(), [node("Mul", ["x", "c"], ["m"]), node(op, ["m"], ["y"])], {"c": np.float32(0.9)})
case("acosh", [node("Abs", ["x"], ["a"]), node("Add", ["a", "one"], ["b"]), node("Acosh", ["b"], ["y"])], {"one": np.float32(1)})
case("lppool-cubes", [node("LpPool", ["x"], ["y"], kernel_shape=[3, 2], p=3, pads=[1, 0, 1, 1], strides=[2, 1])])
case("prelu-last", [node("PRelu", ["x", "c"], ["y"])], {"c": f32(6, 1)})
for reduction, opset in ("none", 13), ("add", 16), ("mul", 16), ("max", 18), ("min", 18):
    more = {} if reduction == "none" else {"reduction": reduction}
    case("bare-scatter-" + reduction, one("ScatterElements", 3, axis=-1, **more), {"c1": i64([[[3, 0], [-1, 2]]]), "c2": f32(1, 1, 2, 2)}, opset, **whole)
    case("bare-scatternd-" + reduction, one("ScatterND", 3, **more), {"c1": i64([0, 3, -1], [0, 1, 2]), "c2": f32(2, 5)}, opset, **whole)

# as_strided, as PyTorch's exporter of torch.export writes it: a Gather of computed indices from all elements.
f32 = lambda *s, rng=np.random.RandomState(32): rng.uniform(-1, 1, s).astype(np.float32)


def strided(x, out, size, stride, offset=0):
    """Nodes of as_strided. size has names of constants, or of a scalar computed from the length of the batch."""
    nodes, sum = [node("Reshape", [x, "minus"], ["flat"])], "offset"
    constants = {"minus": i64(-1), "offset": np.int64(offset), "none": np.array([], np.int64), "from": np.int64(0), "by": np.int64(1)}
    for d, (n, step) in enumerate(zip(size, stride)):
        d = str(d)
        if isinstance(n, int):
            constants["size" + d], n = i64(n), "size" + d
        constants["stride" + d] = np.int64(step)
        nodes += [node("Reshape", [n, "none"], ["n" + d]), node("Range", ["from", "n" + d, "by"], ["r" + d]),
                  node("Mul", ["r" + d, "stride" + d], ["m" + d]), node("Add", [sum, "m" + d if len(size) == 1 else "u" + d], ["i" + d])]
        if len(size) > 1:
            constants["others" + d] = i64(*[a for a in range(len(size)) if a != int(d)])
            nodes.insert(-1, node("Unsqueeze", ["m" + d, "others" + d], ["u" + d]))
        sum = "i" + d
    return nodes + [node("Gather", ["flat", sum], [out])], constants


batch = [node("Shape", ["x"], ["len"], start=0, end=1)]
for name, x, size, stride, offset, behind, more in (
        ("pooled", "p", ("len", 4, 1, 1), (4, 1, 4, 4), 0, [], {}),
        ("turned", "x", ("len", 5, 24), (120, 1, 5), 0, [], {}),
        ("part", "x", ("len", 2, 3, 2), (120, 60, 5, 2), 36, [], {}),
        ("repeated", "x", ("len", 3, 4), (120, 0, 30), 7, [], {}),
        ("overlapping", "x", ("len", 7, 6), (120, 3, 1), 2, [], {}),
        ("second", "x", (24, "len", 5), (5, 120, 1), 0, [node("Transpose", ["s"], ["y"], perm=[1, 0, 2])], {}),
        ("halves", "x", ("twice", 6, 5), (60, 5, 1), 10, [node("Softmax", ["s"], ["q"], axis=1), node("Reshape", ["q", "back"], ["y"])],
         {"two": i64(2), "back": i64(-1, 2, 6, 5)})):
    nodes, constants = strided(x, "s" if behind else "y", size, stride, offset)
    nodes = batch + [node("ReduceMean", ["x"], ["p"], axes=[2, 3]), node("Mul", ["len", "two"], ["twice"])] + nodes + behind
    case("strided-" + name, nodes, {"two": i64(2), **constants, **more}, 17)
case("strided-row", [node("Reshape", ["x", "minus"], ["flat"]), node("Gather", ["flat", "at"], ["y"])],
     {"minus": i64(-1), "at": 5 + np.arange(2)[:, None, None] * 120 + np.arange(20)[:, None] * 5 + np.arange(3)}, 17, (2, 4, 6, 5))
case("moved-tuples", [node("Transpose", ["x"], ["t"], perm=[2, 3, 0, 1]), node("GatherND", ["t", "at"], ["g"]),
                      node("Transpose", ["g"], ["y"], perm=[2, 3, 0, 1])],
     {"at": np.array([[[0, 4], [5, 1], [2, 2]], [[-1, 0], [3, -2], [2, 2]]])})
volume = {"shape": ("N", 2, 4, 3, 5)}
case("averagepool-channels", one("AveragePool", kernel_shape=[3, 1, 1], pads=[1, 0, 0, 1, 0, 0], count_include_pad=1), **volume)
case("averagepool-pictures", one("AveragePool", kernel_shape=[1, 2, 3], strides=[1, 1, 2]), **volume)
case("maxpool-channels", one("MaxPool", kernel_shape=[2, 1, 1], strides=[2, 1, 1]), **volume)
fixed = {"shape": (2, 4, 6, 5)}  # the constants contain the length of the batch, which the file fixes
case("moved-fixed", [node("Transpose", ["x"], ["t"], perm=[1, 0, 2, 3]), node("Reshape", ["t", "joined"], ["j"]), node("Softmax", ["j"], ["p"], axis=0),
                     node("Transpose", ["p"], ["u"], perm=[1, 0, 2]), node("Reshape", ["u", "parted"], ["v"]), node("Reshape", ["v", "pairs"], ["w"]),
                     node("Softmax", ["w"], ["q"], axis=1), node("Reshape", ["q", "back"], ["y"])],
     {"joined": i64(4, 12, 5), "parted": i64(2, -1, 4, 5), "pairs": i64(-1, 8, 5), "back": i64(2, 6, 4, 5)}, 17, **fixed)
turn = lambda a, b: node("Transpose", [a], [b], perm=[2, 1, 0, 3])  # x[:, :, places] = v, as torch.export's exporter writes it
case("set-rows", [turn("x", "t"), node("Slice", ["t", "two", "four"], ["s"]), node("Sigmoid", ["s"], ["v"]), node("ScatterND", ["t", "at", "v"], ["z"]),
                  turn("z", "y")], {"two": i64(2), "four": i64(4), "at": i64([5], [-6])}, 18)
case("set-fill", [turn("x", "t"), node("Shape", ["x"], ["n"], start=0, end=1), node("Concat", ["three", "four", "n", "five"], ["all"], axis=0),
                  node("Expand", ["value", "all"], ["v"]), node("ScatterND", ["t", "at", "v"], ["z"]), turn("z", "y")],
     {"three": i64(3), "four": i64(4), "five": i64(5), "value": np.float32(0.25), "at": i64([1], [2], [3])}, 18)
case("bare-set-constant", [turn("x", "t"), node("ScatterND", ["t", "at", "v"], ["z"]), turn("z", "y")], {"at": i64([0], [4]), "v": f32(2, 4, 1, 5)}, 16,
     (1, 4, 6, 5))
case("bare-set", [node("Slice", ["x", "zero", "two", "axis"], ["s"]), node("Transpose", ["x"], ["t"], perm=[1, 0, 2, 3]),
     node("Transpose", ["s"], ["u"], perm=[1, 0, 2, 3]), node("Exp", ["u"], ["v"]), node("ScatterND", ["t", "at", "v"], ["z"]),
     node("Transpose", ["z"], ["y"], perm=[1, 0, 2, 3])], {"zero": i64(0), "two": i64(2), "axis": i64(1), "at": i64([3], [0])}, 18, (1, 4, 6, 5))
# A tuple of all indices for each element, as PyTorch's exporter of TorchScript writes y[..., 2:4] = v.
for name, axis, places in ("columns", 3, [2, 3]), ("rows", 2, [4, -5, 0]), ("channels", 1, [2]):
    at = np.stack(np.meshgrid(*[places if a == axis else range(n) for a, n in enumerate((1, 4, 6, 5))], indexing="ij"), -1)
    case("bare-set-" + name, [node("Slice", ["x", "zero", "count", "axis"], ["s"]), node("Exp", ["s"], ["v"]),
                              node("ScatterND", ["x", "at", "v"], ["y"])],
         {"zero": i64(0), "count": i64(len(places)), "axis": i64(axis), "at": at.astype(np.int64)}, 11, (1, 4, 6, 5))
for name, more, k in ("upper", {}, 1), ("lower", {"upper": 0}, -2):
    case("trilu-" + name, [node("Trilu", ["x", "k"], ["y"], **more)], {"k": np.int64(k)}, 14)
case("trilu-moved", [node("Transpose", ["x"], ["t"], perm=[1, 0, 2, 3]), node("Trilu", ["t"], ["u"]), node("Transpose", ["u"], ["y"], perm=[1, 0, 2, 3])], {}, 14)

# Rounded numbers of windows, sums along an axis, constants with a row for each sample of a fixed batch, and products of a shape.
f32 = lambda *s, rng=np.random.RandomState(55): rng.uniform(-1, 1, s).astype(np.float32)
for opset in 10, 11, 19:
    case("window-ceil-count-%d" % opset, one("AveragePool", kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1], ceil_mode=1, count_include_pad=1), opset=opset)
case("window-ceil-count-line", one("AveragePool", kernel_shape=[3], strides=[2], pads=[1, 1], ceil_mode=1, count_include_pad=1), shape=("N", 4, 8))
case("window-ceil-lp", one("LpPool", kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 0, 1], ceil_mode=1, p=3), opset=18)
for axis, exclusive, reverse in (1, 0, 0), (2, 1, 0), (-1, 0, 1), (3, 1, 1):
    case("cumsum-%d-%d-%d" % (axis % 4, exclusive, reverse), [node("CumSum", ["x", "a"], ["y"], exclusive=exclusive, reverse=reverse)], {"a": np.int64(axis)})
case("cumsum-integers", [node("Greater", ["x", "zero"], ["g"]), node("Cast", ["g"], ["i"], to=7), node("CumSum", ["i", "a"], ["s"]), node("Mul", ["s", "i"], ["m"]),
                         node("Cast", ["m"], ["y"], to=1)], {"zero": np.float32(0), "a": np.int32(2)})
row, fixed = f32(1, 4, 6, 5), dict(shape=(2, 4, 6, 5))
case("row-concat", [node("Concat", ["t", "x"], ["y"], axis=2)], {"t": np.repeat(row[:, :, :1], 2, 0)}, **fixed)
case("row-expand", [node("Expand", ["t", "s"], ["e"]), node("Concat", ["e", "x"], ["y"], axis=2)], {"t": row[:, :, :1], "s": i64(2, 4, 1, 5)}, **fixed)
case("row-tile", [node("Tile", ["t", "s"], ["e"]), node("Concat", ["x", "e"], ["y"], axis=2)], {"t": row[:, :, :1], "s": i64(2, 1, 2, 1)}, **fixed)
for op in "Add", "Mul", "Max":
    case("row-" + op.lower(), [node(op, ["t", "x"], ["y"])], {"t": np.repeat(row, 2, 0)}, **fixed)
case("row-where", [node("Less", ["x", "t"], ["l"]), node("Where", ["l", "t", "x"], ["y"])], {"t": np.repeat(row, 2, 0)}, **fixed)
case("row-matmul", [node("MatMul", ["x", "t"], ["y"])], {"t": np.repeat(f32(1, 4, 5, 3), 2, 0)}, **fixed)
repeat = length() + [node("Unsqueeze", ["n", "z"], ["n1"]), to_shape("r", "n1", "one", "two", "one")]
case("tile-token", repeat + [node("Tile", ["t", "r"], ["e"]), node("Concat", ["e", "x"], ["y"], axis=2)],
     {"first": np.int64(0), "z": i64(0), "one": i64(1), "two": i64(2), "t": row[:, :, :1]})
shape = [node("Shape", ["x"], ["s"])]
case("product-of-shape", shape + [node("ReduceProd", ["s"], ["p"], keepdims=0), node("Gather", ["s", "first"], ["n"]), node("Div", ["p", "n"], ["d"]),
                                  node("Unsqueeze", ["n", "z"], ["n1"]), node("Unsqueeze", ["d", "z"], ["d1"]), to_shape("r", "n1", "d1"), node("Reshape", ["x", "r"], ["y"])],
     {"first": np.int64(0), "z": i64(0)})
case("product-with-batch", shape + [node("Slice", ["s", "z", "two"], ["h"]), node("ReduceProd", ["h"], ["p"]), node("Slice", ["s", "two", "four"], ["t"]),
                                    to_shape("r", "p", "t"), node("Reshape", ["x", "r"], ["f"]), node("Relu", ["f"], ["q"]), node("Reshape", ["q", "s"], ["y"])],
     {"z": i64(0), "two": i64(2), "four": i64(4)})
case("size-of-batch", shape + [node("Size", ["x"], ["p"]), node("Unsqueeze", ["p", "z"], ["p1"]), node("Reshape", ["x", "p1"], ["f"]), node("Reshape", ["f", "s"], ["y"])], {"z": i64(0)})
