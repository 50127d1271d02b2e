"""qdqtable.py BNCTL FOLDER [JSON]: the quantised ONNX files in FOLDER through bnctl, beside ONNX Runtime.

For each file: whether bnctl reads it, its layers in bytes and in all, the numbers of the outputs of 4 samples that differ
from ONNX Runtime's and the largest difference as a part of the largest number, the answers (largest number of a row) that
differ, the number of results over the kernels of this processor, and the speed of a sample on one thread: ONNX Runtime's
time over bnctl's, the time of --qdq float over the time in bytes, and that of the network in float32, without QDQ. They are
measured in turn, ROUNDS times (5), and the medians are compared; SPEED=0 leaves them out. Samples are uniform noise from 0 to 1.
"""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
if sys.path[0] == HERE:
    sys.path.pop(0)  # do not import onnxruntime.py from this folder

import numpy as np
import onnx
from onnx import helper, numpy_helper

ROUNDS = int(os.environ.get('ROUNDS', 5))
SAMPLES = 4
KERNELS = {'best': '', 'avxvnni': 'cpu.amxtile=off,cpu.avx512vnni=off',
           'avx2': 'cpu.avx512f=off,cpu.avxvnni=off,cpu.amxtile=off'}


def run(*command, **env):
    p = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, timeout=300)
    return p, (p.stderr.strip().splitlines() or [''])[-1]


def shape_of(path):
    """The shape of the only input: open lengths are 224, the batch is 1."""
    m = onnx.load(path)
    made = {i.name for i in m.graph.initializer}
    inputs = [i for i in m.graph.input if i.name not in made]
    if len(inputs) != 1:
        raise ValueError(f'{len(inputs)} inputs')
    t = inputs[0].type.tensor_type
    dims = [d.dim_value for d in t.shape.dim]
    kind = {1: np.float32, 2: np.uint8, 3: np.int8}[t.elem_type]
    fixed = dims and dims[0] > 0
    open_side = any(d <= 0 for d in dims[1:])
    return [d if d > 0 else 224 for d in dims[1:]], kind, dims[0] if fixed else 0, open_side, inputs[0].name


class Runtime:
    """ONNX Runtime in a process of Node."""

    def __init__(self):
        self.node = subprocess.Popen(['node', os.path.join(HERE, 'qdqtable.js')], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.version = json.loads(self.node.stdout.readline())['version']

    def __call__(self, **line):
        self.node.stdin.write(json.dumps(line) + '\n')
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        if 'error' in answer:
            raise RuntimeError(answer['error'])
        return answer


def outputs(bnctl, path, at, flags, godebug=''):
    for old in glob.glob(at + '/y*'):
        os.remove(old)
    p, why = run(bnctl, 'predict', path, at + '/x.npy', '--devices', 'cpu', '--logits', '-o', at + '/y.npy', *flags, GODEBUG=godebug)
    if p.returncode:
        return None, re.sub(r'^.*?onnx: ', '', why)
    found = sorted(glob.glob(at + '/y*.npy'))
    return {os.path.basename(f): np.load(f) for f in found}, ''


def sum_of(arrays):
    h = hashlib.sha256()
    for name in sorted(arrays):
        h.update(arrays[name].tobytes())
    return h.hexdigest()[:12]


def compared(got, want):
    """Numbers that differ, of how many, the largest relative difference, answers that differ, of how many."""
    differ = count = answers = rows = 0
    largest = 0.0
    left = [got[name] for name in sorted(got, key=lambda name: name.endswith('.logits.npy'))]  # a softmax is the file's
    for w in want:
        alike = [g for g in left if g.size == w.size]  # names in files differ from the graph's: the nearest is it
        if not alike:
            continue
        g = min(alike, key=lambda g: float(np.abs(g.reshape(-1).astype(np.float64) - w.reshape(-1)).max()))
        g, w = g.reshape(len(w), -1).astype(np.float64), w.reshape(len(w), -1).astype(np.float64)
        top = np.abs(w).max() or 1
        differ += int((np.abs(g - w) > 2.4e-7 * top).sum())
        count += w.size
        largest = max(largest, float(np.abs(g - w).max() / top))
        if w.shape[1] > 1:
            answers += int((g.argmax(1) != w.argmax(1)).sum())
            rows += len(w)
    return differ, count, largest, answers, rows


def seconds(bnctl, path, flags):
    p, why = run(bnctl, 'bench', path, '--batch', '1', '--threads', '1', '--seconds', '1', '--json', *flags)
    return json.loads(p.stdout.splitlines()[-1])['p50_ms'] / 1e3 if p.returncode == 0 else None


def without_qdq(path, to):
    """Writes the network of a file in QDQ form with weights of floats, and reports whether it is in that form."""
    m = onnx.load(path)
    g = m.graph
    constants = {t.name: numpy_helper.to_array(t) for t in g.initializer}
    for n in g.node:
        constants.update((n.output[0], numpy_helper.to_array(a.t)) for a in n.attribute if n.op_type == 'Constant' and a.name == 'value')
    made = {name: n for n in g.node for name in n.output}
    quantised = lambda name: name in made and made[name].op_type == 'QuantizeLinear'
    instead, left, floats = {}, [], []
    if not any(n.op_type == 'DequantizeLinear' for n in g.node) or any(n.op_type.startswith('QLinear') for n in g.node):
        return False
    for n in g.node:
        if n.op_type == 'QuantizeLinear' or n.op_type == 'Cast' and quantised(n.input[0]):
            instead[n.output[0]] = n.input[0]
        elif n.op_type != 'DequantizeLinear':
            left.append(n)
        elif n.input[0] not in constants:
            instead[n.output[0]] = n.input[0]
        else:
            q, scale = constants[n.input[0]], constants[n.input[1]]
            zero = constants.get(n.input[2], 0) if len(n.input) > 2 else 0
            if np.size(scale) > 1:
                axis = next((a.i for a in n.attribute if a.name == 'axis'), 1)
                shape = [-1 if i == axis % q.ndim else 1 for i in range(q.ndim)]
                scale, zero = scale.reshape(shape), np.broadcast_to(zero, scale.shape).reshape(shape)
            w = (q.astype(np.float32) - np.float32(zero)) * scale
            floats.append(numpy_helper.from_array(w.astype(np.float32), n.output[0]))
    for n in left:
        for i, name in enumerate(n.input):
            while name in instead:
                name = instead[name]
            n.input[i] = name
    for o in g.output:
        name = o.name
        while name in instead:
            name = instead[name]
        if name != o.name:
            left.append(helper.make_node('Identity', [name], [o.name]))
    read = {name for n in left for name in n.input}
    weights = [t for t in [*g.initializer, *floats] if t.name in read]
    del g.node[:], g.initializer[:]
    g.node.extend(left)
    g.initializer.extend(weights)
    onnx.save(m, to)
    return True


def row(bnctl, runtime, path, at):
    line = {'file': os.path.basename(path)}
    p, why = run(bnctl, 'inspect', path, '--json')
    if p.returncode == 0:
        report = json.loads(p.stdout)
        layers = report.get('quantised') or []
        line['bytes'], line['layers'] = sum(l['bytes'] for l in layers), len(layers)
        counters = {c['name']: c['value'] for c in report.get('counters') or []}
        line['form'] = counters.get('quantised', '-').split(':')[0]
    shape, kind, batch, open_side, name = shape_of(path)
    rows = batch or SAMPLES
    x = np.random.RandomState(1).rand(rows, *shape)
    x = (x * (255 if kind == np.uint8 else 1)).astype(kind)
    np.save(at + '/x.npy', x)
    flags = ['--input', ','.join(map(str, shape))] if open_side else []
    got, why = outputs(bnctl, path, at, flags)
    try:
        want = []
        for part in [x] if batch else [x[i:i + 1] for i in range(rows)]:  # bnctl has dynamic ranges for each sample
            part.tofile(at + '/x.raw')
            answer = runtime(do='run', model=path, input=at + '/x.raw', shape=list(part.shape), type=np.dtype(kind).name, at=at)
            want.append([np.fromfile(o['file'], o['type']).reshape(o['shape'] or [1]) for o in answer['outputs']
                         if o['type'] in ('float32', 'uint8', 'int8')])
        want = [np.concatenate(o) for o in zip(*want)]
        line['onnxruntime'] = 'yes'
    except RuntimeError as e:
        want, line['onnxruntime'] = None, str(e)[:160]
    if got is None:
        return {**line, 'read': why[:300]}
    line['read'] = 'yes'
    sums = {k: sum_of(outputs(bnctl, path, at, flags, g)[0] or {}) for k, g in KERNELS.items()}
    sums['generic'] = sum_of(outputs(bnctl, path, at, flags + ['--kernels', 'generic'])[0] or {})
    line['sums'] = len(set(sums.values()))
    if want is not None:
        line['differ'], line['numbers'], line['largest'], line['answers'], line['rows'] = compared(got, want)
    if os.environ.get('SPEED', '1') == '1':
        times = {'bytes': [], 'float': [], 'ort': [], 'plain': []}
        plain = without_qdq(path, at + '/plain.onnx')
        for _ in range(ROUNDS):
            times['bytes'].append(seconds(bnctl, path, flags))
            times['float'].append(seconds(bnctl, path, flags + ['--qdq', 'float']))
            if plain:
                times['plain'].append(seconds(bnctl, at + '/plain.onnx', flags))
            if want is not None:
                times['ort'].append(runtime(do='time', model=path, input=at + '/x.raw', shape=[batch or 1, *shape],
                                            type=np.dtype(kind).name, seconds=1)['p50'] / (batch or 1))
        medians = {k: sorted(v)[len(v) // 2] if v and None not in v else None for k, v in times.items()}
        line['ms'] = {k: round(v * 1e3, 4) if v else None for k, v in medians.items()}
    return line


def write(path, version, lines):
    """Writes the table in the form of docs/results."""
    with open('/proc/cpuinfo') as f:
        processor = next(re.sub(r'.*:\s*', '', line).strip() for line in f if line.startswith('model name'))
    columns = ['file', 'form', 'layers in bytes', 'sums', 'numbers that differ', 'largest difference', 'answers that differ']
    timed = any(line.get('ms') for line in lines)
    rows = []
    for line in lines:
        name = re.sub(r'__', ' ', line['file'].removesuffix('.onnx').replace('+', '/'), count=1)
        if line.get('read') != 'yes':
            rows.append([name, line.get('form', '-'), 'not read', '-', '-', '-', line.get('read', '-').replace('|', '/')])
            continue
        row = [name, line['form'], f"{line['bytes']} of {line['layers']}", str(line['sums'])]
        if 'differ' in line:
            row += [f"{line['differ']} of {line['numbers']}", f"{line['largest']:.2g}", f"{line['answers']} of {line['rows']}"]
        else:
            row += ['refused by ONNX Runtime', '-', '-']
        rows.append(row)
    if timed:
        columns += ['ms', 'ONNX Runtime', 'with --qdq float', 'float32 without QDQ']
        for row, line in zip(rows, lines):
            ms = line.get('ms') or {}
            of = lambda k: f"{ms[k] / ms['bytes']:.2f} times" if ms.get(k) and ms.get('bytes') else '-'
            row += [f"{ms['bytes']:.2f}" if ms.get('bytes') else '-', of('ort'), of('float'), of('plain')]
    with open(path, 'w') as f:
        json.dump({'processor': processor, 'command': 'make survey-qdq', 'measured': time.strftime('%Y-%m-%d'),
                   'conditions': f'ONNX Runtime {version}, session.x64quantprecision; {SAMPLES} samples of noise from 0 to 1; '
                   'differences are parts of the largest number; sums over VNNI, AVX2 and plain Go',
                   'columns': columns, 'rows': rows}, f, indent=1, ensure_ascii=False)
        f.write('\n')


def main():
    bnctl, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    runtime, rows = Runtime(), []
    for path in sorted(glob.glob(folder + '/*.onnx'), key=os.path.getsize):
        with tempfile.TemporaryDirectory() as at:
            try:
                line = row(bnctl, runtime, path, at)
            except Exception as e:
                line = {'file': os.path.basename(path), 'read': f'not measured: {e}'[:200]}
        rows.append(line)
        print(json.dumps(line), flush=True)
    if len(sys.argv) > 3:
        write(sys.argv[3], runtime.version, rows)


if __name__ == '__main__':
    main()
