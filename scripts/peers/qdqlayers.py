"""qdqlayers.py BNCTL FILE [LAYERS]: the layers of a file in QDQ form, one by one, beside ONNX Runtime.

Each layer, the nodes from quantised maps to the next QuantizeLinear, is cut out as a file of its own and computed by both
from the same bytes: those that ONNX Runtime computed for the layers before it, from one sample of noise, or from the numbers
of the .npy file in INPUT. Prints each layer with other bytes, how many and by how many steps, and in the end how many layers are
equal. At most LAYERS (all) are computed.

A layer of a file with DynamicQuantizeLinear ends at the floats that are quantised next, or at an output. Its floats are compared: the
largest difference as a part of the largest number, and the bytes that DynamicQuantizeLinear would make of them. The end of the
report compares the outputs of the whole file with those of ONNX Runtime: of bnctl, and of ONNX Runtime with less optimisation and
with scales and biases that are at random the next larger or smaller float32.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
from types import SimpleNamespace

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
        self.fixed = set(self.constants) | {''}
        for n in self.graph.node:  # in the order of the computation
            if all(i in self.fixed for i in n.input):
                self.fixed.update(n.output)
        self.quantised = [n for n in self.graph.node if n.op_type == 'QuantizeLinear' and n.input[0] not in self.constants]
        given = {i.name for i in self.graph.input}
        starts = {n.input[0] for n in self.graph.node if n.op_type == 'DynamicQuantizeLinear'} - given
        self.dynamic = bool(starts)
        if self.dynamic:  # each of these floats ends a layer
            starts |= {o.name for o in self.graph.output} | {o for n in self.graph.node if starts & set(n.output) for o in n.output}
            self.quantised = [SimpleNamespace(input=n.input, output=[o]) for n in self.graph.node for o in n.output if o in starts]
        self.starts = starts

    def value(self, name):
        if name in self.constants:
            return numpy_helper.to_array(self.constants[name])
        return numpy_helper.to_array(self.made[name].attribute[0].t)

    def is_constant(self, name):
        return name in self.fixed

    def layer(self, last):
        """The nodes of a layer in order, and the quantised maps that it reads."""
        nodes, maps, seen = [], [], set()

        def visit(name):
            if not name or name in seen or name in self.constants:
                return
            seen.add(name)
            n = self.made.get(name)
            if n is None or name != last.output[0] and not self.is_constant(name) and (
                    name in self.starts if self.dynamic else n.op_type == 'QuantizeLinear'):
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
        if m in known and file.dynamic:
            before[-1].output[0] = m
        elif m in known:
            q = file.made[m]
            before.append(helper.make_node('QuantizeLinear', [f'cut{k}map', *q.input[1:]], [m]))
    after, floats = [], last.output[0]
    if not file.dynamic:
        after, floats = [helper.make_node('DequantizeLinear', [last.output[0], *last.input[1:]], ['cut_floats'])], 'cut_floats'
    all = before + nodes + after + [helper.make_node('Flatten', [floats], ['cut_result'])]
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


def dynamic_bytes(x):
    """The bytes of DynamicQuantizeLinear."""
    low, high = np.float32(min(x.min(), 0)), np.float32(max(x.max(), 0))
    scale = (high - low) / np.float32(255) or np.float32(1)
    zero = np.rint(np.clip(-low / scale, 0, 255))
    return np.clip(np.rint(x / scale) + zero, 0, 255)


def with_neighbours(model):
    """The model with the next larger or smaller float32 for each operand of Mul, Add and Div that is a constant."""
    draws = np.random.RandomState(1)
    operands = {i for n in model.graph.node if n.op_type in ('Mul', 'Add', 'Div') for i in n.input}
    for t in model.graph.initializer:
        if t.name in operands and t.data_type == TensorProto.FLOAT:
            v = numpy_helper.to_array(t)
            v = np.nextafter(v, np.where(draws.rand(*v.shape) < 0.5, -np.inf, np.inf).astype(np.float32))
            t.CopyFrom(numpy_helper.from_array(np.asarray(v, np.float32), t.name))
    return model


def whole(bnctl, path, x, runtime, at):
    """Prints how far the outputs of the whole file are from those of ONNX Runtime."""
    np.save(at + '/x.npy', x)

    x.tofile(at + '/x.raw')

    def runs(level, path=path):
        a = runtime(do='run', model=path, input=at + '/x.raw', shape=list(x.shape), type='float32', at=at, level=level)
        return [np.fromfile(o['file'], np.float32) for o in a['outputs']]
    want = runs('all')
    got, why = outputs_of(bnctl, path, at)
    sides = {f'ONNX Runtime, level {level}': runs(level) for level in ('basic', 'disabled')}
    onnx.save(with_neighbours(onnx.load(path)), at + '/near.onnx')
    sides['ONNX Runtime, neighbours of scales and biases'] = runs('all', at + '/near.onnx')
    sides['bnctl'] = got if got else why
    for name, side in sides.items():
        if isinstance(side, str):
            print(f'{name}: {side}')
            continue
        for k, w in enumerate(want):
            g = min((v.reshape(-1) for v in side if v.size == w.size), key=lambda v: float(np.abs(v - w).max()))
            top = float(np.abs(w).max()) or 1
            print(f'{name}: output {k}: {int((np.abs(g - w) > 2.4e-7 * top).sum())} of {w.size} numbers differ, by '
                  f'{float(np.abs(g - w).max()) / top:.2g} of the largest at most, {float(np.abs(g - w).mean()) / top:.2g} in the mean')


def outputs_of(bnctl, path, at):
    got, why = qdqtable.outputs(bnctl, path, at, ['--boxes', 'none'])
    return got and list(got.values()), why


def main():
    bnctl, path = os.path.abspath(sys.argv[1]), sys.argv[2]
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 1 << 30
    file, runtime = File(path), qdqtable.Runtime()
    shape, _, batch, _, name = qdqtable.shape_of(path)
    shape = [1, *shape]
    x = np.random.RandomState(1).rand(*shape).astype(np.float32)
    if os.environ.get('INPUT'):
        x = np.load(os.environ['INPUT']).astype(np.float32).reshape(shape)
    known, equal, other, refused, largest = {}, 0, 0, 0, 0.0
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
                shapes = {v.name: [d.dim_value or 1 for d in v.type.tensor_type.shape.dim] for v in [*inferred.graph.value_info, *inferred.graph.output]}
            dims = shapes.get(last.output[0]) or shapes.get(last.input[0])
            known[last.output[0]] = want.reshape(dims)
            if got is None:
                refused += 1
                print(f'{k} {last.output[0]} ({ops}): bnctl: {why}')
                continue
            y = next(iter(got.values())).reshape(-1)
            if file.dynamic:
                top = float(np.abs(want).max()) or 1
                largest = max(largest, float(np.abs(y - want).max()) / top)
                steps = np.abs(dynamic_bytes(y) - dynamic_bytes(want))
                differ, step = int((steps != 0).sum()), 1
                print(f'{k} {last.output[0]} ({ops}): {np.abs(y - want).max() / top:.2g} of the largest number, {differ} of '
                      f'{want.size} bytes, by {steps.max():.0f} steps at most', flush=True)
                equal, other = equal + (differ == 0), other + (differ > 0)
                continue
            step = float(file.value(last.input[1]).reshape(-1)[0])
            differ = int((y != want).sum())
            equal += differ == 0
            other += differ > 0
            if differ:
                print(f'{k} {last.output[0]} ({ops}): {differ} of {want.size} bytes, by {np.abs(y - want).max() / step:.0f} steps at most',
                      flush=True)
        print(f'{equal} layers are equal, {other} have other bytes, {refused} were not computed')
        if file.dynamic:
            print(f'the largest difference of a layer is {largest:.2g} of its largest number')
            whole(bnctl, path, x, runtime, at)


main()
