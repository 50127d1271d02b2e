"""Makes hostile/: models that must be refused, and hostile/WANT, which has a line for each model with a sentence
that the error must contain.

    /usr/bin/python3 make_hostile.py

Needs Debian's python3-onnx (1.12).
"""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile")
want = {}


def put(name, sentence, data):
    if not isinstance(data, bytes):
        data = data.SerializeToString()
    open(os.path.join(here, name + ".onnx"), "wb").write(data)
    want[name] = sentence


def tensor(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, initializers=(), shape=("N", 2, 4, 4), outputs=("y",), opset=13, elem=TensorProto.FLOAT):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", elem, shape)],
        [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


node = helper.make_node
relu = node("Relu", ["x"], ["y"])
good = model([relu]).SerializeToString()
kernel = tensor("w", np.ones((3, 2, 3, 3), np.float32))

put("empty", "no graph", b"")
put("truncated", "not an ONNX model", good[:-3])
put("group", "not an ONNX model", b"\x0b" * 2000)  # groups inside groups
put("varint", "not an ONNX model", b"\x08" + b"\xff" * 11)
put("length", "not an ONNX model", b"\x08\x08\x3a" + b"\xff" * 8 + b"\x7f")  # a graph of nearly 2^63 bytes
put("utf8", "invalid UTF-8", good.replace(b"Relu", b"\xff\xfe\xfd\xfc"))
put("lfs", "Git LFS", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
put("opset99", "operator set 99", model([relu], opset=99))
put("opset0", "operator set 0", b"\x08\x08\x3a\x02\x12\x00")

# Invalid graphs.
put("cycle", "nothing before it makes", model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])]))
put("self", "nothing before it makes", model([node("Add", ["x", "y"], ["y"])]))
put("twice", "a second time", model([node("Relu", ["x"], ["a"]), node("Tanh", ["x"], ["a"]), node("Relu", ["a"], ["y"])]))
put("no-output", "not computed from the input", model([node("Relu", ["x"], ["z"])]))
put("two-initializers", "two initializers", model([relu], [kernel, kernel]))
put("two-inputs", "data of the type STRING is not supported", (lambda m: (m.graph.input.append(helper.make_tensor_value_info("x2", 8, [1])), m)[1])(model([relu])))
put("open-size", "say it with input 2,224,224", model([relu], shape=("N", 2, "H", "W")))
put("open-conv", "say it with input 2,224,224", model([node("Conv", ["x", "w"], ["c"]), node("GlobalAveragePool", ["c"], ["p"]), node("Flatten", ["p"], ["y"])],
                                                     [kernel], shape=("N", 2, "height", "width")))
put("huge-input", "too large", model([relu], shape=("N", 1 << 30, 1 << 30, 1 << 30)))
put("unknown", "operators that are not supported: MadeUp (1), com.example.Relu (1)", model([node("MadeUp", ["x"], ["a"]), node("Relu", ["a"], ["b"], domain="com.example"), node("If", ["b"], ["y"])]))

# Misleading types.
put("kernel-ints", "is not supported", model([node("Conv", ["x", "w"], ["y"])], [tensor("w", np.array([b"a", b"b"], object))]))
put("kernel-flow", "a constant is supported", model([node("Conv", ["x", "x"], ["y"])]))
put("slopes-last-axis", "with slopes [3] for [4 4 4]", model([node("PRelu", ["x", "s"], ["y"])], [tensor("s", np.ones(3, np.float32))], shape=("N", 4, 4, 4)))
put("kernel-rank", "rank 4", model([node("Conv", ["x", "w"], ["y"])], [tensor("w", np.ones(3, np.float32))]))
put("strides-text", "strides", model([node("Conv", ["x", "w"], ["y"], strides="wide")], [kernel]))
put("strides-zero", "at least 1", model([node("Conv", ["x", "w"], ["y"], strides=[0, 0])], [kernel]))
put("strides-huge", "strides", model([node("Conv", ["x", "w"], ["y"], strides=[1 << 62, 1 << 62])], [kernel]))
put("pads-negative", "at least 0", model([node("Conv", ["x", "w"], ["y"], pads=[-1, -1, -1, -1])], [kernel]))
put("pads-huge", "length", model([node("Pad", ["x", "p"], ["y"])], [tensor("p", np.array([0, 0, 1 << 30, 1 << 30, 0, 0, 1 << 30, 1 << 30]))]))
put("axis-wild", "axis", model([node("Softmax", ["x"], ["y"], axis=-9)]))
put("perm-twice", "perm", model([node("Transpose", ["x"], ["y"], perm=[0, 1, 1, 2])]))
put("training", "training mode", model([node("BatchNormalization", ["x", "g", "g", "g", "g"], ["y"], training_mode=1)], [tensor("g", np.ones(2, np.float32))], opset=15))
put("spatial", "spatial=0", model([node("BatchNormalization", ["x", "g", "g", "g", "g"], ["y"], spatial=0)], [tensor("g", np.ones(2, np.float32))], opset=7))
put("u8", "of integers that come from the input", model([node("Relu", ["x"], ["y"])], elem=TensorProto.UINT8))

# Operators that mix the rows of the batch.
put("mix-flatten", "mixes the rows", model([node("Flatten", ["x"], ["y"], axis=2)]))
put("mix-reshape", "mixes the rows", model([node("Reshape", ["x", "s"], ["y"])], [tensor("s", np.array([2, -1]))]))
put("mix-transpose", "batch axis", model([node("Transpose", ["x"], ["y"], perm=[1, 0, 2, 3])]))
put("mix-length", "length of the batch", model([
    node("Shape", ["x"], ["s"], start=0, end=1), node("Mul", ["s", "s"], ["t"]), node("Reshape", ["x", "t"], ["y"])], opset=15))

# Tensors with wrong types or lengths.
def lying(**fields):
    t = TensorProto(name="w", data_type=fields.pop("data_type", 1), **fields)
    return model([node("Conv", ["x", "w"], ["y"])], [t])


put("raw-short", "bytes", lying(dims=[3, 2, 3, 3], raw_data=b"\0" * 8))
put("raw-long", "bytes", lying(dims=[1], raw_data=b"\0" * 400))
put("dims-huge", "too large", lying(dims=[1 << 31 - 1] * 8, raw_data=b"\0" * 8))
put("dims-overflow", "length", lying(dims=[1 << 62, 4], raw_data=b"\0" * 8))
put("dims-negative", "length of -1", lying(dims=[-1, 3], raw_data=b"\0" * 8))
put("dims-many", "rank", lying(dims=[1] * 40, raw_data=b"\0" * 4))
put("wrong-field", "field of their type", lying(dims=[2], int64_data=[1, 2]))
put("two-fields", "elements for the shape", lying(dims=[2], int64_data=[1], float_data=[1, 2]))
put("nothing", "elements for the shape", lying(dims=[3, 2, 3, 3]))
put("float8", "FLOAT8E4M3FN", lying(dims=[1], data_type=17, raw_data=b"\0"))


def external(location, **entries):
    t = TensorProto(name="w", data_type=1, dims=[1], data_location=TensorProto.EXTERNAL)
    for key, value in dict(location=location, **entries).items():
        t.external_data.add(key=key, value=value)
    return model([node("Conv", ["x", "w"], ["y"])], [t])


put("external-up", "outside the model's folder", external("../make_hostile.py"))
put("external-absolute", "outside the model's folder", external("/etc/hostname"))
put("external-missing", "no such file", external("nothing.bin"))
put("external-folder", "is not a regular file", external("."))
put("external-offset", "end beyond", external("WANT", offset="9000000000000000000"))
put("external-length", "want 4", external("WANT", length="9000000000000000000"))
put("external-negative", "offset is", external("WANT", offset="-4"))
put("external-nowhere", "without a location", external(""))

# Unknown attributes and operands, and modes of Resize without a counterpart.
put("attribute", 'attribute "gap", which is not known', model([node("Conv", ["x", "w"], ["y"], gap=2)], [kernel]))
put("operands", "4 operands; 3 are known", model([node("Conv", ["x", "w", "", "w"], ["y"])], [kernel]))
put("pool-indices", "with indices", model([node("MaxPool", ["x"], ["m", "y"], kernel_shape=[2, 2])]))
put("kernel-shape", "kernel_shape is", model([node("Conv", ["x", "w"], ["y"], kernel_shape=[2, 2])], [kernel]))
scales = [tensor("s", np.array([1, 1, 1.5, 1.5], np.float32)), tensor("r", np.array([0, 0, 0, 0, 1, 1, 1, 1], np.float32))]
put("resize-antialias", "antialias of mode nearest", model([node("Resize", ["x", "", "s"], ["y"], antialias=1)], scales, opset=18))
put("resize-channels", "only of the axes behind the channels", model([node("Resize", ["x", "", "c"], ["y"])], [tensor("c", np.array([1, 2, 1, 1], np.float32))]))
put("resize-mode", "mode is", model([node("Resize", ["x", "", "s"], ["y"], mode="lanczos")], scales))
put("split-less", "into parts of", model([node("Split", ["x", "p"], ["y", "z"], axis=2)], [tensor("p", np.array([1, 2]))]))

# Constants that are not plain tensors.
few = helper.make_sparse_tensor(helper.make_tensor("", 1, [1], [1.0]), helper.make_tensor("", 7, [1], [5]), [3, 2, 3, 3])
put("sparse-constant", "sparse_value", model([node("Constant", [], ["w"], sparse_value=few), node("Conv", ["x", "w"], ["y"])]))
put("sparse-initializer", "sparse initializers", (lambda m: (m.graph.sparse_initializer.append(few), m)[1])(model([relu])))
put("text-constant", "its value is text", model([node("Constant", [], ["w"], value_string="weights"), node("Conv", ["x", "w"], ["y"])]))
put("empty-constant", "has no value", model([node("Constant", [], ["w"]), node("Conv", ["x", "w"], ["y"])]))
put("quantised-by-zero", "with a scale of 0", model([node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])],
                                       [tensor("s", np.float32(0)), tensor("z", np.uint8(128))]))

# Batch norms in training mode, by each of its marks.
norm = lambda outputs=1, **a: [node("BatchNormalization", ["x", "g", "g", "g", "g"], ["y", "m", "v", "sm", "sv"][:outputs], **a)]
g = [tensor("g", np.ones(2, np.float32))]
put("training-6", "training mode", model(norm(is_test=0), g, opset=6))
put("training-9", "training mode", model(norm(5), g, opset=9))
put("training-14", "training mode", model(norm(3, training_mode=1), g, opset=14))

# Constants that grow.
put("fold-shape", "too large", model([node("ConstantOfShape", ["s"], ["c"]), node("Add", ["x", "c"], ["y"])], [tensor("s", np.array([1 << 30] * 4))]))
grow = [node("Concat", ["c%d" % i] * 2, ["c%d" % (i + 1)], axis=0) for i in range(60)]
put("fold-double", "MiB", model(grow + [node("Add", ["x", "c60"], ["y"])], [tensor("c0", np.ones(64, np.float32))]))
put("fold-broadcast", "MiB", model([node("Add", ["a", "b"], ["c"]), node("Add", ["x", "c"], ["y"])],
                                     [tensor("a", np.ones((1 << 13, 1), np.float32)), tensor("b", np.ones((1, 1 << 13), np.float32))]))
put("fold-zero", "divides by zero", model([node("Div", ["a", "b"], ["s"]), node("Reshape", ["x", "s"], ["y"])], [tensor("a", np.array([1])), tensor("b", np.array([0]))]))

open(os.path.join(here, "WANT"), "w").write("".join("%s\t%s\n" % kv for kv in want.items()))
