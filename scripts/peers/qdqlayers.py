"""qdqlayers.py BNCTL FILE [LAYERS]: the layers of a file in QDQ form, one by one, beside ONNX Runtime.

Each layer, the nodes from quantised maps to the next QuantizeLinear, is cut out as a file of its own and computed by both
from the same bytes: those that ONNX Runtime computed for the layers before it, from one sample of noise. Prints each layer
with other bytes, how many and by how many steps, and in the end how many layers are equal. At most LAYERS (all) are computed.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
if sys.path[0] == HERE:
    sys.path.pop(0)  # onnxruntime.py beside this file is no module for us

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

spec = importlib.util.spec_from_file_location('qdqtable', os.path.join(HERE, 'qdqtable.py'))
qdqtable = importlib.util.module_from_spec(spec)
spec.loader.exec_module(qdqtable)


class File:
    def __init__(self, path):
        self.model = onnx.load(path)
        self.graph = self.model.graph
        self.made = {o: n for n in self.graph.node for o in n.output}
        self.constants = {t.name: t for t in self.graph.initializer}
        self.quantised = [n for n in self.graph.node if n.op_type == 'QuantizeLinear' and n.input[0] not in self.constants]

    def value(self, name):
        if name in self.constants:
            return numpy_helper.to_array(self.constants[name])
        return numpy_helper.to_array(self.made[name].attribute[0].t)

    def is_constant(self, name):
        return name in self.constants or name in self.made and all(self.is_constant(i) for i in self.made[name].input)

    def layer(self, last):
        """The nodes of a layer in order, and the quantised maps that it reads."""
        nodes, maps, seen = [], [], set()

        def visit(name):
            if not name or name in seen or name in self.constants:
                return
            seen.add(name)
            n = self.made.get(name)
            if n is None or n.op_type == 'QuantizeLinear' and n is not last and not self.is_constant(name):
                maps.append(name)
                return
            for i in n.input:
                visit(i)
            if n not in nodes:
                nodes.append(n)
        visit(last.output[0])
        return nodes, maps


def cut(file, last, maps, known, shape):
    """A model of the layer: a flat input of floats, which are quantised to the bytes of the maps, and floats as result."""
    nodes, _ = file.layer(last)
    before, sizes, at = [], [known[m].size if m in known else int(np.prod(shape)) for m in maps], 0
    made, constants = [], {}

    def constant(v, name):
        constants[name] = numpy_helper.from_array(v, name)
        return name
    for k, m in enumerate(maps):
        ends = [constant(np.array([v], np.int64), f'cut{k}{i}') for i, v in enumerate((at, at + sizes[k], 1))]
        at += sizes[k]
        dims = list(known[m].shape) if m in known else list(shape)
        before += [helper.make_node('Slice', ['cut_input', *ends], [f'cut{k}flat']),
                   helper.make_node('Reshape', [f'cut{k}flat', constant(np.array([0] + dims[1:], np.int64), f'cut{k}shape')],
                                    [f'cut{k}map' if m in known else m])]
        if m in known:
            q = file.made[m]
            before.append(helper.make_node('QuantizeLinear', [f'cut{k}map', *q.input[1:]], [m]))
    after = helper.make_node('DequantizeLinear', [last.output[0], *last.input[1:]], ['cut_floats'])
    result = helper.make_node('Flatten', ['cut_floats'], ['cut_result'])
    all = before + nodes + [after, result]
    for name in {i for n in all for i in n.input}:
        if name in file.constants:
            constants[name] = file.constants[name]
    made = {o for n in all for o in n.output}
    for name in {i for n in all for i in n.input} - made - set(constants) - {'cut_input', ''}:
        extra = file.made[name]
        all.insert(0, extra)
    info = helper.make_tensor_value_info
    g = helper.make_graph(all, 'layer', [info('cut_input', TensorProto.FLOAT, [1, at])],
                          [info('cut_result', TensorProto.FLOAT, [1, 'n'])], list(constants.values()))
    # slices of the flat input are along axis 0 unless they name the batch's
    for n in all:
        if n.op_type == 'Slice' and n.input[0] == 'cut_input':
            n.input[3] = 'cut_axis'
    g.initializer.append(numpy_helper.from_array(np.array([1], np.int64), 'cut_axis'))
    return helper.make_model(g, opset_imports=file.model.opset_import, ir_version=file.model.ir_version)


def main():
    bnctl, path = os.path.abspath(sys.argv[1]), sys.argv[2]
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 1 << 30
    file, runtime = File(path), qdqtable.Runtime()
    shape, _, batch, _, name = qdqtable.shape_of(path)
    shape = [1, *shape]
    x = np.random.RandomState(1).rand(*shape).astype(np.float32)
    known, equal, other, refused = {}, 0, 0, 0
    with tempfile.TemporaryDirectory() as at:
        for k, last in enumerate(file.quantised[:most]):
            _, maps = file.layer(last)
            if any(m not in known and m != name for m in maps):
                refused += 1
                continue
            m = cut(file, last, maps, known, shape)
            p = os.path.join(at, 'layer.onnx')
            onnx.save(m, p)
            flat = np.concatenate([(known[i] if i in known else x).reshape(1, -1) for i in maps], 1).astype(np.float32)
            flat.tofile(at + '/x.raw')
            np.save(at + '/x.npy', flat)
            try:
                answer = runtime(do='run', model=p, input=at + '/x.raw', shape=list(flat.shape), type='float32', at=at)
            except RuntimeError as e:
                refused += 1
                print(f'{k} {last.output[0]}: ONNX Runtime: {e}')
                continue
            want = np.fromfile(answer['outputs'][0]['file'], np.float32)
            got, why = qdqtable.outputs(bnctl, p, at, [])
            ops = ' '.join(n.op_type for n in file.layer(last)[0] if not n.op_type.endswith('antizeLinear') and n.op_type != 'Constant')
            inferred = onnx.shape_inference.infer_shapes(file.model) if k == 0 else inferred
            if k == 0:
                shapes = {v.name: [d.dim_value or 1 for d in v.type.tensor_type.shape.dim] for v in inferred.graph.value_info}
            dims = shapes.get(last.input[0]) or shapes.get(last.output[0])
            known[last.output[0]] = want.reshape(dims)
            if got is None:
                refused += 1
                print(f'{k} {last.output[0]} ({ops}): bnctl: {why}')
                continue
            y = next(iter(got.values())).reshape(-1)
            step = float(file.value(last.input[1]).reshape(-1)[0])
            differ = int((y != want).sum())
            equal += differ == 0
            other += differ > 0
            if differ:
                print(f'{k} {last.output[0]} ({ops}): {differ} of {want.size} bytes, by {np.abs(y - want).max() / step:.0f} steps at most',
                      flush=True)
    print(f'{equal} layers are equal, {other} have other bytes, {refused} were not computed')


main()
