"""qdqsums.py BNCTL [WAY...]: files in QDQ form have one sum of logits with every kernel.

Writes a file for each pattern of docs/int8.md, with maps of u8 and of i8, and some random graphs of qdqgraphs.py. Every
WAY predicts all of them, and must give the bits of the rule in NumPy. JSON=FILE keeps the sums for docs/results. A WAY
is devices, as in --devices, or one of the ways of int8sums.sh: amx vnni avxvnni words avx2 sse2 purego neon neondot
generic ref threads1 batch1, and ptx for two files. A way that needs an instruction which this processor lacks is
named and left out. All layers of each file must be in bytes, apart from a Softmax at the end.
"""
import glob
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
if sys.path[0] == HERE:
    sys.path.pop(0)  # onnxruntime.py beside this file is no module for us
import importlib.util

import numpy as np
import onnx

spec = importlib.util.spec_from_file_location('qdqgraphs', os.path.join(HERE, 'qdqgraphs.py'))
qdqgraphs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(qdqgraphs)

ROOT = os.path.dirname(os.path.dirname(HERE))
WAYS = ['ref', 'amx', 'vnni', 'avxvnni', 'words', 'avx2', 'sse2', 'purego', 'neon', 'neondot', 'generic', 'threads1',
        'batch1', '2xcpu', 'opencl:0', 'cpu,opencl:0', 'ptx']
PATTERNS = {
    'Conv': {'layers': ['conv'], 'bounds': 3, 'depthwise': False},
    'Conv, Relu': {'layers': ['conv', 'conv'], 'bounds': 0, 'depthwise': False},
    'Conv, Clip': {'layers': ['conv', 'conv'], 'bounds': 1, 'depthwise': False},
    'depthwise Conv': {'layers': ['conv', 'conv'], 'depthwise': True},
    'weights of u8': {'layers': ['conv', 'conv'], 'weights': 'u8'},
    'weights far from their zero points': {'layers': ['conv', 'conv'], 'weights': 'far'},
    'Gemm': {'layers': ['conv'], 'gemm': True},
    'MatMul, Add': {'layers': ['conv'], 'gemm': False},
    'Add': {'layers': ['conv', 'add']},
    'Mul': {'layers': ['conv', 'mul']},
    'gate': {'layers': ['conv', 'gate']},
    'Concat': {'layers': ['conv', 'concat']},
    'AveragePool': {'layers': ['conv', 'average'], 'counts': 0},
    'AveragePool with padding': {'layers': ['conv', 'average'], 'counts': 1},
    'GlobalAveragePool': {'layers': ['conv'], 'mean': 'GlobalAveragePool'},
    'ReduceMean': {'layers': ['conv'], 'mean': 'ReduceMean'},
    'Softmax at the end': {'layers': ['conv'], 'softmax': True},
    **{name: {'layers': ['conv', 'activation'], 'activation': name} for name in
       ('Relu', 'Sigmoid', 'LeakyRelu', 'HardSigmoid', 'Silu', 'Tanh', 'HardSwish', 'Clip')},
    **{name: {'layers': ['conv', 'move'], 'move': i} for i, name in
       enumerate(('MaxPool', 'Transpose', 'Resize', 'Slice', 'Pad', 'Split', 'Reshape'))},
}
RANDOM, SEED = 30, 9000


def files(folder):
    """Writes the files, and returns their names, samples and logits by the rule."""
    list = []

    def write(name, g):
        x, want = g.build()
        path = os.path.join(folder, re.sub(r'\W+', '-', name) + '.onnx')
        onnx.save(g.model(want), path)
        np.save(path + '.x.npy', x)
        list.append((name, path, want))
    for i, (name, forced) in enumerate(PATTERNS.items()):
        for kind in ('u8', 'i8'):
            write(f'{name} of {kind}', qdqgraphs.Graph(100 + i, kind, {'flat': 'mean' not in forced, **forced}))
    for seed in range(SEED, SEED + RANDOM):
        write(f'random {seed}', qdqgraphs.Graph(seed))
    return list


def plugin(folder, name, emulator='', goarch='', tags=()):
    """The CPU device in another build, as options."""
    binary = os.path.join(folder, name)
    subprocess.run(['go', 'build', *tags, '-o', binary, './plugins/cpu/bnctl-device-cpu'], check=True, cwd=ROOT,
                   env={**os.environ, 'CGO_ENABLED': '0', **({'GOARCH': goarch} if goarch else {})})
    script = os.path.join(folder, 'bnctl-device-' + name)
    with open(script, 'w') as f:  # the kernel of this machine starts no process of another, but a script that does
        f.write(f'#!/bin/sh\nexec {emulator} {binary} "$@"\n')
    os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
    return ['--devices', name, '--device-plugin', script, '--allow-unlocked']


def options(way, folder):
    """The flags of a way, and GODEBUG."""
    off = ['cpu.amxtile=off', 'cpu.avx512vnni=off', 'cpu.avxvnni=off']
    limited = {'amx': [], 'vnni': off[:1], 'avxvnni': off[:2], 'words': off, 'avx2': ['cpu.avx512f=off', off[2]]}
    if way in limited:
        return ['--devices', 'cpu'], ','.join(limited[way])
    made = {'sse2': ('qemu-x86_64 -cpu qemu64', '', ()), 'purego': ('', '', ('-tags', 'purego')),
            'neon': ('qemu-aarch64 -cpu cortex-a72', 'arm64', ()), 'neondot': ('qemu-aarch64 -cpu max', 'arm64', ())}
    if way in made:
        return plugin(folder, way, *made[way]), ''
    flags = {'generic': ['--devices', 'cpu', '--kernels', 'generic'], 'threads1': ['--devices', 'cpu', '--threads', '1'],
             'batch1': ['--devices', 'cpu', '--batch', '1']}
    return flags.get(way, ['--devices', way]), ''


def missing(way):
    """The instruction that a way needs and this processor lacks."""
    with open('/proc/cpuinfo') as f:
        has = set(f.read().split())
    need = {'amx': 'amx_int8', 'vnni': 'avx512_vnni', 'avxvnni': 'avx_vnni', 'words': 'avx512bw', 'avx2': 'avx2'}.get(way)
    return need if need and need not in has else ''


def predicted(bnctl, path, flags, godebug):
    for old in glob.glob(path + '.y.*npy'):
        os.remove(old)
    out = path + '.y.npy'
    run = subprocess.run([bnctl, 'predict', path, path + '.x.npy', '--logits', '-o', out, *flags], capture_output=True,
                         text=True, env={**os.environ, 'GODEBUG': godebug})
    if run.returncode:
        return None, run.stderr.strip().splitlines()[-1][:300]
    return np.load(next(f for f in (path + '.y.logits.npy', out) if os.path.exists(f))), ''  # the logits, if the file ends with a softmax


def interpreted(bnctl, folder, path):
    """The logits of the interpreter of PTX."""
    at = os.path.join(folder, 'ptx')
    os.makedirs(at, exist_ok=True)
    subprocess.run([bnctl, 'strip', path, '-o', os.path.join(at, 'q.bnm')], check=True, capture_output=True)
    np.save(os.path.join(at, 'x.npy'), np.load(path + '.x.npy'))
    run = subprocess.run(['go', 'test', '-count=1', '-timeout', '10h', '-run', 'TestInt8Sum', './plugins/cuda/internal/cuda'],
                         cwd=ROOT, env={**os.environ, 'BNCTL_INT8_SUM': at}, capture_output=True, text=True)
    if run.returncode:
        return None, run.stdout.strip()[:300]
    return np.fromfile(os.path.join(at, 'logits.npy'), np.float32), ''


def layers_in_floats(bnctl, path):
    run = subprocess.run([bnctl, 'inspect', path, '--json'], capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    return [f"{l['name']} ({l['op']}: {l['reason']})" for l in report.get('quantised') or [] if not l['bytes']]


def main():
    bnctl, ways = os.path.abspath(sys.argv[1]), sys.argv[2:] or WAYS
    wrong, gone, left = 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        all = files(folder)
        for name, path, _ in all:
            floats = [f for f in layers_in_floats(bnctl, path) if '(Softmax:' not in f]
            if floats:
                wrong += 1
                print(f'{name}: in floats: {floats}')
        sum = hashlib.sha256()
        for _, _, want in all:
            sum.update(want.astype(np.float32).tobytes())
        for way in ways:
            began = time.time()
            if missing(way):
                left.append(way)
                print(f'{way}: this processor lacks {missing(way)}')
                continue
            flags, godebug = ([], '') if way == 'ptx' else options(way, folder)
            bad = 0
            for name, path, want in [all[0], all[7]] if way == 'ptx' else all:
                got, why = interpreted(bnctl, folder, path) if way == 'ptx' else predicted(bnctl, path, flags, godebug)
                if got is None or not (got.reshape(want.shape) == want).all():
                    bad += 1
                    print(f'{way}: {name}: {why or "differs from the rule"}')
            wrong += bad
            gone.append(way)
            print(f'{way:14} {2 if way == "ptx" else len(all)} files, {bad} wrong, {time.time() - began:.0f} s', flush=True)
    if os.environ.get('JSON') and not wrong:
        with open('/proc/cpuinfo') as f:
            name = next(re.sub(r'.*:\s*', '', line).strip() for line in f if line.startswith('model name'))
        with open(os.environ['JSON'], 'w') as f:
            json.dump({'processor': name, 'command': 'make sums-qdq', 'measured': time.strftime('%Y-%m-%d'),
                       'conditions': f'{2 * len(PATTERNS)} files of one pattern each and {RANDOM} random ones, all with the bits '
                       'of the rule in NumPy; ptx: two files; the first digits of the sha256 of all logits',
                       'columns': ['ways', 'files', 'sha256'],
                       'rows': [[', '.join(f'`{w}`' for w in gone), str(len(all)), sum.hexdigest()[:16]]]}, f, indent=1)
            f.write('\n')
    sys.exit(bool(wrong))


main()
