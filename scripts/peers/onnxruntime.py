#!/usr/bin/env python3
"""onnxruntime.py FOLDER: predicts with the ONNX Runtime of this Python for `make bench-peers`.

Says what it is, then answers every line of standard input with a line, as onnxruntime.js does.
"""
import json
import os
import sys
import time

sys.path.pop(0)  # this file has the name of the module: do not import it from its own folder

import numpy

errors = os.dup(2)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Debian's registers its schemas twice, and says so a thousand times
import onnxruntime

os.dup2(errors, 2)
loaded = {}


def session(model, threads):
    """The session of a model with so many threads; one is kept."""
    if (model, threads) not in loaded:
        loaded.clear()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        loaded[model, threads] = onnxruntime.InferenceSession(
            os.path.join(sys.argv[1], model + ".onnx"), options, providers=["CPUExecutionProvider"])
    return loaded[model, threads]


def measure(model, batch, threads, seconds):
    s = session(model, threads)
    shape = s.get_inputs()[0].shape[1:]
    x = numpy.sin(numpy.arange(batch * numpy.prod(shape), dtype=numpy.float32) * numpy.float32(0.37))
    feed = {s.get_inputs()[0].name: x.reshape(batch, *shape)}
    for _ in range(2):
        s.run(None, feed)
    began, n = time.perf_counter(), 0
    while n == 0 or time.perf_counter() - began < seconds:
        s.run(None, feed)
        n += 1
    return batch * n / (time.perf_counter() - began)


def say(**line):
    print(json.dumps(line), flush=True)


say(peer="ONNX Runtime", version=onnxruntime.__version__)
for line in sys.stdin:
    say(images_per_s=measure(**json.loads(line)))
