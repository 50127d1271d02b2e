"""qdqbytes.py BNCTL [COUNT [JSON]]: bytes of ONNX Runtime that differ from the rule of docs/int8.md, by pattern.

COUNT (40) graphs of each pattern end with the map of the pattern. bnctl must have the bytes of the rule in NumPy; the bytes
of ONNX Runtime that differ are counted, with the most steps. The processor should have VNNI: ONNX Runtime saturates without.
"""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
if sys.path[0] == HERE:
    sys.path.pop(0)  # onnxruntime.py beside this file is no module for us

import numpy as np
import onnx

spec = importlib.util.spec_from_file_location('qdqgraphs', os.path.join(HERE, 'qdqgraphs.py'))
qdqgraphs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(qdqgraphs)

PATTERNS = {'Conv': {'layers': ['conv']}, 'Add': {'layers': ['conv', 'add']}, 'Mul': {'layers': ['conv', 'mul']},
            'AveragePool': {'layers': ['conv', 'average']}, 'GlobalAveragePool': {'layers': ['conv', 'mean'], 'mean': 'GlobalAveragePool'},
            'ReduceMean': {'layers': ['conv', 'mean'], 'mean': 'ReduceMean'}, 'Concat': {'layers': ['conv', 'concat']},
            **{name: {'layers': ['conv', 'activation'], 'activation': name} for name in
               ('Sigmoid', 'Silu', 'Tanh', 'HardSwish', 'LeakyRelu', 'HardSigmoid')},
            'moves': {'layers': ['conv', 'move']}}


def main():
    bnctl, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40
    runtime, rows, wrong = qdqgraphs.Runtime(), [], 0
    for name, forced in PATTERNS.items():
        bytes = differ = steps = refused = 0
        for seed in range(count):
            g = qdqgraphs.Graph(7000 + seed, None, {'bytes': True, **forced})
            x, want = g.build()
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'm.onnx')
                onnx.save(g.model(want), path)
                np.save(path + '.npy', x)
                run = subprocess.run([bnctl, 'predict', path, path + '.npy', '--devices', 'cpu', '--logits', '-o', path + '.y.npy'],
                                     capture_output=True, text=True)
                if run.returncode or not (np.load(path + '.y.npy').reshape(want.shape) == want).all():
                    wrong += 1
                    print(f'{name} {seed}: {run.stderr.strip()[-200:] if run.returncode else "differs from the rule"}')
                try:
                    ort = runtime(path, x).reshape(want.shape)
                except RuntimeError:
                    refused += 1
                    continue
            step = np.abs(want[want != 0]).min() if (want != 0).any() else 1
            bytes += want.size
            differ += int((ort != want).sum())
            steps = max(steps, int(np.rint(np.abs(ort - want).max() / step)))
        rows.append([name, str(bytes), str(differ), str(steps)])
        print(f'{name:18} {differ} of {bytes} bytes, by {steps} at most; {refused} refused by ONNX Runtime', flush=True)
    if len(sys.argv) > 3:
        with open('/proc/cpuinfo') as f:
            processor = next(re.sub(r'.*:\s*', '', line).strip() for line in f if line.startswith('model name'))
        with open(sys.argv[3], 'w') as f:
            json.dump({'processor': processor, 'command': 'make bytes-qdq', 'measured': time.strftime('%Y-%m-%d'),
                       'conditions': f'ONNX Runtime {runtime.version} on a processor with VNNI; {count} graphs of each pattern',
                       'columns': ['pattern', 'bytes', 'other bytes', 'most steps'], 'rows': rows}, f, indent=1)
            f.write('\n')
    sys.exit(bool(wrong))


main()
