"""Makes rfb_scores.npy and rfb_boxes.npy: every 40th row of the results of ONNX Runtime 1.20.1
for version-RFB-320.onnx.

    NODE_PATH=... python3 rfb.py ../../../shared/data/checkpoints/onnx/version-RFB-320.onnx

Needs numpy, and node with onnxruntime-node. The input is that of INPUTS.md with
shape (1, 3, 240, 320) and values from -1 to 1.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
i = np.arange(3 * 240 * 320, dtype=np.uint64)
x = (-1 + 2 * ((i * 2654435761) % 2**32).astype(np.float64) / 2**32).astype(np.float32)
with tempfile.NamedTemporaryFile() as f:
    f.write(x.tobytes())
    f.flush()
    answer = json.loads(subprocess.check_output(
        ["node", os.path.join(here, "ort.js"), sys.argv[1], "float32", "1,3,240,320", f.name]))
for name, t in answer.items():
    y = np.frombuffer(base64.b64decode(t["data"]), np.float32).reshape(t["dims"])
    np.save(os.path.join(here, "rfb_%s.npy" % name), y[0, ::40])
