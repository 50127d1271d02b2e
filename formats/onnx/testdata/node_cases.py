"""Writes ONNX's backend cases of single operators into a folder: python3 node_cases.py FOLDER

Needs Debian 13's python3-onnx (1.17). Then BNCTL_NODE_CASES=FOLDER go test -v -run TestNodeCases .
"""
import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def put(folder, kind, infos, values):
    for i, (info, value) in enumerate(zip(infos, values)):
        if isinstance(value, (list, dict, onnx.TensorProto)):
            continue  # a sequence, or text
        tensor = numpy_helper.from_array(np.asarray(value), info.name)
        with open(os.path.join(folder, f"{kind}_{i}.pb"), "wb") as f:
            f.write(tensor.SerializeToString())


for case in collect_testcases(None):
    folder = os.path.join(sys.argv[1], case.name, "test_data_set_0")
    os.makedirs(folder, exist_ok=True)
    try:
        onnx.save(case.model, os.path.join(sys.argv[1], case.name, "model.onnx"))
        inputs, outputs = case.data_sets[0]
        put(folder, "input", case.model.graph.input, inputs)
        put(folder, "output", case.model.graph.output, outputs)
    except NotImplementedError:
        pass  # values without a tensor
