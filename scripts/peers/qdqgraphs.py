"""qdqgraphs.py BNCTL COUNT [SEED] [--keep DIR] [--json FILE]: random graphs in QDQ form, beside the rule and ONNX Runtime.

Each graph is a chain of quantised layers with branches: convolutions (depthwise, strided, per channel), sums, products,
concatenations, means, maxima, activations, moves, dense layers, in opsets 12 to 21. In a quarter of the graphs some maps are
quantised without a zero point, to u8. Its logits are computed three times: by bnctl, by the rule
of docs/int8.md in NumPy, which has to agree by every bit of the last integers, and by ONNX Runtime, whose integers may
differ; how many do is counted. A graph depends on its number alone. Exits with 1 if bnctl breaks the rule or fails.
"""
import argparse
import collections
import json
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

F = np.float32
ROWS = 3


def clip(v, kind):
    low, high = (0, 255) if kind == 'u8' else (-128, 127)
    return np.clip(v, low, high)


def quantised(v, scale, zero, kind):
    """Floats as integers: v/scale in float32, rounded to the even number."""
    return clip(np.rint((v.astype(F) / F(scale)).astype(F)).astype(np.int64) + zero, kind)


def rounded(sums, by, zero, kind, low=None, high=None):
    """Sums of integers as integers: float32(sum)*by in float32, rounded to the even number."""
    y = clip(np.clip(np.rint(sums.astype(F) * by), -1e9, 1e9).astype(np.int64) + zero, kind)  # int64 ends before float32
    return y if low is None else np.clip(y, low, high)


def fma(x, y, z):
    """x*y + z of float32, rounded once: the sum in float64 is rounded to odd."""
    p, z = np.asarray(x, np.float64) * np.asarray(y, np.float64), np.asarray(z, np.float64)
    s = np.atleast_1d(p + z)
    t = s - p
    e = (p - (s - t)) + (z - t)
    odd = np.where((e > 0) == (s > 0), s.view(np.int64) + 1, s.view(np.int64) - 1).view(np.float64)
    return np.where((e != 0) & (s.view(np.int64) & 1 == 0), odd, s).astype(F)


class Map:
    """A map of integers, [N,C,H,W] or [N,K]: its values, scale, zero point, type, and name in the graph; bare has no zero point there."""

    def __init__(self, q, scale, zero, kind, bare=False):
        self.q, self.scale, self.zero, self.kind, self.bare, self.name = q, F(scale), zero, kind, bare, None

    def like(self, q):
        """Other values with the scale and the type of this map."""
        return Map(q, self.scale, self.zero, self.kind, self.bare)

    def floats(self):
        return (self.scale * (self.q - self.zero).astype(F)).astype(F)


class Graph:
    def __init__(self, seed, kind=None, forced=None):
        self.draw = np.random.RandomState(seed)
        self.kind = kind or self.pick(['u8', 'u8', 'i8'])
        self.opset = self.pick([12, 13, 13, 17, 18, 21])
        self.forced = forced or {}  # choices that are not drawn
        self.other = np.random.RandomState(seed + 10**6)  # draws the choices that were added later, so that other graphs stay the same
        self.mixes = not self.forced and self.other.rand() < 0.25
        self.nodes, self.initializers, self.made, self.operators = [], [], 0, []

    def pick(self, of):
        return of[self.draw.randint(len(of))]

    def choice(self, name, of):
        """A drawn choice, unless the caller of Graph made it."""
        drawn = self.pick(of)
        return self.forced.get(name, drawn)

    def name(self, of='t'):
        self.made += 1
        return f'{of}{self.made}'

    def constant(self, value, of='c'):
        name = self.name(of)
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def type(self, kind=None):
        return np.uint8 if (kind or self.kind) == 'u8' else np.int8

    def node(self, op, inputs, **attributes):
        out = self.name()
        self.nodes.append(helper.make_node(op, inputs, [out], **attributes))
        return out

    def scale(self, least, most):
        """A scale and zero point for a range, as a quantiser would choose them, and less well."""
        least, most = min(least, 0.0) * self.draw.uniform(0.7, 1.1), max(most, 0.0) * self.draw.uniform(0.7, 1.1)
        scale = F(max(most - least, 1e-3) / 255)
        zero = int(np.clip(np.rint(-least / scale), 0, 255))
        return scale, zero if self.kind == 'u8' else zero - 128

    def steps(self, m):
        """The names of the scale and the zero point of a map."""
        return [self.constant(np.array(m.scale, F))] + ([] if m.bare else [self.constant(np.array(m.zero, self.type(m.kind)))])

    def quantise(self, name, m):
        m.name = self.node('QuantizeLinear', [name] + self.steps(m))
        return m

    def dequantise(self, m):
        return self.node('DequantizeLinear', [m.name] + self.steps(m))

    def store(self, name, floats):
        """Quantises a result of floats by a scale for its range. The caller sets the integers."""
        scale, zero = self.scale(float(floats.min()), float(floats.max()))
        m = Map(None, scale, zero, self.kind)
        if self.mixes and self.other.rand() < 0.4:
            m = Map(None, F(max(float(floats.max()), 1e-3) / 255), 0, 'u8', True)
        return self.quantise(name, m)

    def weight(self, shape, outputs):
        """Integers of a weight, their scales, and the name of its floats."""
        w = self.draw.randint(-127, 128, shape)
        each = self.draw.rand() < 0.7 and self.opset >= 13  # DequantizeLinear has an axis since 13
        scales = self.draw.uniform(0.002, 0.02, shape[outputs] if each else 1).astype(F)
        kind = self.choice('weights', ['i8', 'i8', 'i8', 'u8', 'far'])
        zero, of = (128, np.uint8) if kind == 'u8' else (0, np.int8)
        if kind == 'far':  # any zero point of u8 or i8, one or for each output
            of = self.pick([np.uint8, np.int8])
            low, high = np.iinfo(of).min, np.iinfo(of).max
            zero = self.draw.randint(low, high + 1, len(scales) if each else ())
            w = self.draw.randint(low, high + 1, shape) - (np.expand_dims(zero, [i for i in range(len(shape)) if i != outputs]) if each else zero)
        stored = w + (np.expand_dims(zero, [i for i in range(len(shape)) if i != outputs]) if np.ndim(zero) else zero)
        operands = [self.constant(stored.astype(of), 'w'), self.constant(scales if each else scales[0].reshape(())),
                    self.constant(np.full(len(scales) if each else (), zero, of))]
        name = self.node('DequantizeLinear', operands, **({'axis': outputs} if each else {}))
        return w.astype(np.int64), np.broadcast_to(scales, shape[outputs]), name

    def bias(self, steps, n):
        """A bias as integers in steps of the products, and the name of its floats."""
        form = self.draw.randint(3)
        if form == 0:
            return np.zeros(n, np.int64), None
        if form == 1 and self.opset < 13 and len(set(steps)) > 1:
            form = 2
        b = self.draw.randint(-3000, 3000, n)
        if form == 1:
            one = self.opset < 13
            operands = [self.constant(b.astype(np.int32), 'b'), self.constant(steps[0].reshape(()) if one else steps),
                        self.constant(np.zeros(() if one else n, np.int32))]
            return b.astype(np.int64), self.node('DequantizeLinear', operands, **({} if one else {'axis': 0}))
        v = (b.astype(F) * steps * F(1.0001)).astype(F)
        exact = v.astype(np.float64) / self.exact
        return np.rint(exact).astype(np.int64), self.constant(v, 'b')

    def bounded(self, name, floats):
        """A Relu or a Clip or nothing behind a layer: the result, and the bounds of floats."""
        how = self.choice('bounds', [0, 1, 2, 3])
        if how == 0:
            return self.node('Relu', [name]), np.maximum(floats, 0), (0, np.inf)
        if how == 1:
            low, high = F(self.pick([0, 0, -0.7])), F(self.pick([6, 1.3]))
            return self.node('Clip', [name, self.constant(np.array(low)), self.constant(np.array(high))]), np.clip(floats, low, high), (low, high)
        return name, floats, (-np.inf, np.inf)

    def limits(self, m, bounds):
        with np.errstate(over='ignore'):
            return [int(clip(np.clip(np.rint(F(b) / m.scale) + m.zero, -1000, 1000), m.kind)) for b in bounds]

    def sums(self, x, w, scales, bias, name, floats):
        out, floats, bounds = self.bounded(name, floats)
        m = self.store(out, floats)
        by = ((x.scale * scales).astype(F) / m.scale).astype(F)
        sums = self.exactly + bias.reshape([1, -1] + [1] * (self.exactly.ndim - 2))
        by = by.reshape([1, -1] + [1] * (sums.ndim - 2))
        m.q = rounded(sums, by, m.zero, m.kind, *self.limits(m, bounds))
        return m

    def conv(self, x):
        n, c, h, wd = x.q.shape
        k = self.pick([1, 3, 3, 5])
        if h + 4 < k or wd + 4 < k:
            k = 1
        depthwise = self.choice('depthwise', [True, False, False])
        out = c if depthwise else int(self.pick([3, 8, 16, 17]))
        group, stride, pad = (c if depthwise else 1), int(self.pick([1, 1, 2])), k // 2
        w, scales, wname = self.weight((out, c // group, k, k), 0)
        self.exact = x.scale.astype(np.float64) * scales.astype(np.float64)
        bias, bname = self.bias((x.scale * scales).astype(F), out)
        name = self.node('Conv', [self.dequantise(x), wname] + ([bname] if bname else []), kernel_shape=[k, k],
                         pads=[pad] * 4, strides=[stride] * 2, group=group)
        p = np.pad(x.q - x.zero, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        oh, ow = (h + 2 * pad - k) // stride + 1, (wd + 2 * pad - k) // stride + 1
        acc = np.zeros((n, out, oh, ow), np.int64)
        for i in range(k):
            for j in range(k):
                part = p[:, :, i:i + oh * stride:stride, j:j + ow * stride:stride][:, :, :oh, :ow]
                acc += part * w[None, :, 0, i, j, None, None] if depthwise else np.einsum('nchw,oc->nohw', part, w[:, :, i, j])
        self.exactly = acc
        real = ((acc + bias[None, :, None, None]) * self.exact[None, :, None, None])
        return self.sums(x, w, scales, bias, name, real)

    def add(self, x, y):
        name, floats, bounds = self.bounded(self.node('Add', [self.dequantise(x), self.dequantise(y)]), x.floats() + y.floats())
        m = self.store(name, floats)
        a, b = (x.scale / m.scale).astype(F), (y.scale / m.scale).astype(F)
        if x.kind == y.kind == m.kind:
            at = F(m.zero) - fma(a, F(x.zero), b * F(y.zero))
            sums = np.rint(fma(a, x.q.astype(F), fma(b, y.q.astype(F), at)))
        else:
            sums = np.rint((x.q - x.zero).astype(F) * a + (y.q - y.zero).astype(F) * b) + m.zero
        m.q = np.clip(clip(np.clip(sums, -1e9, 1e9).astype(np.int64), m.kind), *self.limits(m, bounds))
        return m

    def mul(self, x, y):
        m = self.store(self.node('Mul', [self.dequantise(x), self.dequantise(y)]), x.floats() * y.floats())
        by = F(F(x.scale * y.scale) / m.scale)
        product = ((x.q - x.zero) * (y.q - y.zero)).astype(F) * by
        product = np.rint(product + F(m.zero)) if x.kind == y.kind == m.kind else np.rint(product) + m.zero
        m.q = clip(np.clip(product, -1e9, 1e9).astype(np.int64), m.kind)
        return m

    def table(self, x, f, m):
        m.q = quantised(f(x.floats().astype(np.float64)).astype(F), m.scale, m.zero, m.kind)
        return m

    def activation(self, x):
        op = self.choice('activation', ['Relu', 'Sigmoid', 'LeakyRelu', 'HardSigmoid', 'Silu', 'Tanh', 'HardSwish', 'Clip'])
        if op == 'HardSwish' and self.opset < 14:
            op = 'Tanh'
        a = self.dequantise(x)
        sigmoid = lambda v: 1 / (1 + np.exp(-v))
        f = {'Relu': lambda v: np.maximum(v, 0), 'Sigmoid': sigmoid, 'LeakyRelu': lambda v: np.where(v >= 0, v, np.float64(F(0.1)) * v),
             'HardSigmoid': lambda v: np.clip(np.float64(F(0.2)) * v + 0.5, 0, 1), 'Silu': lambda v: v * sigmoid(v),
             'Tanh': np.tanh, 'HardSwish': lambda v: v * np.clip(v + 3, 0, 6) / 6, 'Clip': lambda v: np.clip(v, -0.5, 6)}[op]
        if op == 'Silu':
            name = self.node('Mul', [a, self.node('Sigmoid', [a])])
        elif op == 'Clip':
            name = self.node(op, [a, self.constant(np.array(-0.5, F)), self.constant(np.array(6, F))])
        else:
            name = self.node(op, [a], **({'alpha': 0.1} if op == 'LeakyRelu' else {}))
        return self.table(x, f, self.store(name, f(x.floats().astype(np.float64))))

    def move(self, x):
        n, c, h, w = x.q.shape
        a, how = self.dequantise(x), self.choice('move', [0, 1, 2, 3, 4, 5, 6])
        if how == 0 and h > 1 and w > 1:
            name, q = self.node('MaxPool', [a], kernel_shape=[2, 2], strides=[2, 2]), x.q[:, :, :h // 2 * 2, :w // 2 * 2].reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))
        elif how == 1:
            name, q = self.node('Transpose', [a], perm=[0, 1, 3, 2]), x.q.transpose(0, 1, 3, 2)
        elif how == 2 and h < 16:
            sizes = self.constant(np.array([1, 1, 2, 2], F))
            roi = '' if self.opset >= 13 else self.constant(np.array([], F))
            name = self.node('Resize', [a, roi, sizes], mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor')
            q = x.q.repeat(2, 2).repeat(2, 3)
        elif how == 3 and c > 1:
            ends = [self.constant(np.array(v, np.int64)) for v in ([0], [c // 2], [1])]
            name, q = self.node('Slice', [a] + ends), x.q[:, :c // 2]
        elif how == 5 and c > 1:
            parts = [c // 2, c - c // 2]
            more = {'split': parts} if self.opset < 13 else {}
            name, rest = self.name(), self.name()
            self.nodes.append(helper.make_node('Split', [a] + ([] if more else [self.constant(np.array(parts, np.int64))]),
                                               [name, rest], axis=1, **more))
            q = x.q[:, :c // 2]
        elif how == 6:
            name, q = self.node('Reshape', [a, self.constant(np.array([0, c, h * w, 1], np.int64))]), x.q.reshape(n, c, h * w, 1)
        else:
            pads = self.constant(np.array([0, 0, 1, 0, 0, 0, 0, 1], np.int64))
            name, q = self.node('Pad', [a, pads]), np.pad(x.q, ((0, 0), (0, 0), (1, 0), (0, 1)), constant_values=x.zero)
        if self.draw.rand() < 0.6:  # the same scale again
            return self.quantise(name, x.like(q))
        m = self.store(name, (x.scale * (q - x.zero)).astype(F))
        return self.table(x.like(q), lambda v: v, m)

    def mean(self, x):
        n, c, h, w = x.q.shape
        op = self.choice('mean', ['GlobalAveragePool', 'ReduceMean'])
        a = self.dequantise(x)
        if op == 'ReduceMean' and self.opset >= 18:
            name = self.node(op, [a, self.constant(np.array([2, 3], np.int64))], keepdims=1)
        else:
            name = self.node(op, [a], **({'axes': [2, 3], 'keepdims': 1} if op == 'ReduceMean' else {}))
        m = self.store(name, x.floats().mean((2, 3), keepdims=True))
        sums = (x.q - x.zero).sum((2, 3), keepdims=True)
        by = F(np.float64(np.float64(x.scale) / np.float64(m.scale)) / (h * w))
        if op == 'GlobalAveragePool':
            by = F(x.scale / F(m.scale * F(h * w)))
        m.q = rounded(sums, by, m.zero, m.kind)
        return m

    def average(self, x):
        """An AveragePool of 3 by 3 with padding, which counts or does not."""
        n, c, h, w = x.q.shape
        counts, stride = self.choice('counts', [0, 1]), int(self.pick([1, 2]))
        name = self.node('AveragePool', [self.dequantise(x)], kernel_shape=[3, 3], pads=[1] * 4, strides=[stride] * 2,
                         count_include_pad=counts)
        oh, ow = (h - 1) // stride + 1, (w - 1) // stride + 1
        sums, number = np.zeros((n, c, oh, ow), np.int64), np.zeros((oh, ow), np.int64)
        p, one = np.pad(x.q - x.zero, ((0, 0), (0, 0), (1, 1), (1, 1))), np.pad(np.ones((h, w), np.int64), 1, constant_values=counts)
        for i in range(3):
            for j in range(3):
                sums += p[:, :, i:i + oh * stride:stride, j:j + ow * stride:stride][:, :, :oh, :ow]
                number += one[i:i + oh * stride:stride, j:j + ow * stride:stride][:oh, :ow]
        m = self.store(name, (x.scale * (sums / number)).astype(F))
        by = (np.float64(x.scale) / np.float64(m.scale) / number).astype(F)
        m.q = rounded(sums, by, m.zero, m.kind)
        return m

    def gate(self, x):
        """A product with a number for each channel."""
        return self.mul(x, self.mean(x))

    def dense(self, x):
        """The last layer: a Gemm or a MatMul with a bias. Its result is floats or integers."""
        k, out = x.q.shape[1], int(self.pick([2, 10]))
        gemm = self.choice('gemm', [True, False])
        w, scales, wname = self.weight((out, k) if gemm else (k, out), 0 if gemm else 1)
        self.exact = x.scale.astype(np.float64) * scales.astype(np.float64)
        bias, bname = self.bias((x.scale * scales).astype(F), out)
        a = self.dequantise(x)
        if gemm:
            name = self.node('Gemm', [a, wname] + ([bname] if bname else []), transB=1)
        else:
            name = self.node('MatMul', [a, wname])
            if bname:
                name = self.node('Add', [name, bname])
        self.exactly = (x.q - x.zero) @ (w.T if gemm else w)
        return self.sums(x, w, scales, bias, name, (self.exactly + bias) * self.exact)

    def build(self):
        c, side = int(self.pick([1, 3, 4])), int(self.pick([5, 8, 9]))
        self.shape = [c, side, side]
        x = self.draw.uniform(-2, 3, [ROWS] + self.shape).astype(F)
        scale, zero = self.scale(-2, 3)
        m = self.quantise('x', Map(quantised(x, scale, zero, self.kind), scale, zero, self.kind))
        maps = [m]
        for how in self.forced.get('layers', [None] * self.draw.randint(2, 9)):
            m = maps[-1] if how or self.draw.rand() < 0.8 else self.pick(maps)
            like = [o for o in maps if o.q.shape == m.q.shape]
            near = [o for o in maps if o.q.shape[2:] == m.q.shape[2:] and o.q.shape[1] + m.q.shape[1] < 64]
            how = how or self.pick(['conv', 'conv', 'conv', 'add', 'mul', 'concat', 'activation', 'move', 'move', 'average', 'gate'])
            self.operators.append(how)
            if how in ('add', 'mul'):
                maps.append(getattr(self, how)(m, self.pick(like)))
            elif how == 'concat' and near:
                maps.append(self.concat(m, self.pick(near)))
            else:
                maps.append(getattr(self, how if how != 'concat' else 'conv')(m))
        m = maps[-1]
        if self.forced.get('bytes'):
            self.nodes.append(helper.make_node('Flatten', [self.dequantise(m)], ['y']))
            return x, m.floats().reshape(ROWS, -1)
        if not self.choice('flat', [True, False]) or m.q[0].size > 4096:
            m = self.mean(m)
        a = self.node('Flatten', [self.dequantise(m)])
        m = self.dense(self.quantise(a, m.like(m.q.reshape(ROWS, -1))))
        y = self.dequantise(m)
        self.nodes.append(helper.make_node('Softmax' if self.forced.get('softmax') else 'Identity', [y], ['y']))
        return x, m.floats()

    def concat(self, x, y):
        both = np.concatenate([x.floats(), y.floats()], 1)
        m = self.store(self.node('Concat', [self.dequantise(x), self.dequantise(y)], axis=1), both)
        m.q = quantised(both, m.scale, m.zero, m.kind)
        return m

    def model(self, y):
        info = helper.make_tensor_value_info
        g = helper.make_graph(self.nodes, 'qdq', [info('x', TensorProto.FLOAT, ['N'] + self.shape)],
                              [info('y', TensorProto.FLOAT, ['N', y.shape[1]])], self.initializers)
        return helper.make_model(g, opset_imports=[helper.make_opsetid('', self.opset)], ir_version=8)


class Runtime:
    """ONNX Runtime in a process of Node."""

    def __init__(self):
        self.node = subprocess.Popen(['node', os.path.join(HERE, 'reference.js')], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.version = json.loads(self.node.stdout.readline())['version']

    def __call__(self, path, x):
        x.tofile(path + '.x')
        self.node.stdin.write(json.dumps({'model': path, 'input': path + '.x', 'shape': list(x.shape)}) + '\n')
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        if 'error' in answer:
            raise RuntimeError(answer['error'])
        o = answer['outputs'][0]
        return np.fromfile(o['file'], o['type']).reshape(o['shape'])


def main():
    p = argparse.ArgumentParser()
    p.add_argument('bnctl')
    p.add_argument('count', type=int)
    p.add_argument('seed', type=int, nargs='?', default=1)
    p.add_argument('--keep')
    p.add_argument('--json')
    a = p.parse_args()
    runtime, count, wrong, operators = Runtime(), collections.Counter(), [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(a.seed, a.seed + a.count):
            g = Graph(seed)
            x, want = g.build()
            path = os.path.join(a.keep or folder, f'{seed}.onnx')
            onnx.save(g.model(want), path)
            np.save(os.path.join(folder, 'x.npy'), x)
            run = subprocess.run([a.bnctl, 'predict', path, os.path.join(folder, 'x.npy'), '--devices', 'cpu', '--logits',
                                  '-o', os.path.join(folder, 'y.npy')], capture_output=True, text=True)
            count['graphs'] += 1
            operators.update(g.operators)
            step = float(np.abs(want[want != 0]).min()) if (want != 0).any() else 1
            try:
                ort = runtime(path, x)
                count['answers of ONNX Runtime'] += ort.size
                count['answers in which ONNX Runtime differs from the rule'] += int((ort != want).sum())
            except RuntimeError as e:
                count['refused by ONNX Runtime'] += 1
                print(f'{seed}: ONNX Runtime: {e}')
            if run.returncode:
                wrong.append(seed)
                print(f'{seed}: exit {run.returncode}: {run.stderr.strip()[:300]}')
                continue
            got = np.load(os.path.join(folder, 'y.npy')).reshape(want.shape)
            if not (got == want).all():
                wrong.append(seed)
                print(f'{seed}: {int((got != want).sum())} of {got.size} differ, by {np.abs(got - want).max() / step:.2f} steps at most; {g.kind}, opset {g.opset}, {g.operators}')
    count['wrong'] = len(wrong)
    line = {'onnxruntime': runtime.version, 'seed': a.seed, **count, 'operators': dict(operators), 'wrong seeds': wrong[:50]}
    print(json.dumps(line))
    if a.json:
        with open(a.json, 'w') as f:
            json.dump(line, f)
    sys.exit(bool(wrong))


if __name__ == '__main__':
    main()
