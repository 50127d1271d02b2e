#!/usr/bin/env python3
"""detectorspeed.py BNCTL PACKAGE [JSON]: pictures through detectors with their suppression, by bnctl and ONNX Runtime.

yolox-nano at 416x416 and torchvision's ssdlite at 320x320, with random weights, are exported with their non-maximum
suppression: yolox-nano suppresses the best 100 of its boxes. The same picture of random numbers is predicted by
Model.predict of bnctl's Python package, in PACKAGE, and by ONNX Runtime, in turn, ROUNDS times (9) for a second each.
A row has the medians in ms and the median of the ratios, ONNX Runtime's time over bnctl's.
"""
import importlib.util
import json
import math
import os
import statistics
import sys
import tempfile
import time

HERE = sys.path.pop(0)
sys.path.insert(0, sys.argv[2])
os.environ["BNCTL"] = os.path.abspath(sys.argv[1])

import bnctl
import numpy as np

ROUNDS = int(os.environ.get("ROUNDS", 9))
NETWORKS = [("yolox-nano", "yolox-nms", 416), ("ssdlite320-mobilenet-v3-large", "ssdlite-torchvision", 320)]


def module(name):
    """Load a module beside this one, which may be named like a package."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def ours(model, x):
    """Return the median time of a prediction, in seconds, in a second of predictions."""
    took, end = [], time.monotonic() + 1
    while time.monotonic() < end:
        began = time.perf_counter()
        model.predict(x)
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def measured(name, path, x, threads, runtime):
    """Return the row of a network."""
    raw = path + ".raw"
    x.tofile(raw)
    times = []
    with bnctl.Model(path, threads=threads) as model:
        batch = x if x.ndim == 4 else x[None]
        boxes = len(model.predict(batch).outputs["boxes"][0])
        for _ in range(ROUNDS):
            theirs = runtime(do="time", model=path, input=raw, shape=list(x.shape), type="float32", seconds=1, threads=threads)
            times.append((ours(model, batch), theirs["p50"]))
    ratio = statistics.median(b / a for a, b in times)
    return [name, f"{x.shape[-2]}x{x.shape[-1]}", str(threads), str(boxes), f"{1e3 * statistics.median(a for a, _ in times):.2f}",
            f"{1e3 * statistics.median(b for _, b in times):.2f}", f"{ratio:.2f}"], ratio


def main():
    runtime, rows, ratios = module("qdqtable").Runtime(), [], []
    picture = module("detectors").picture
    with tempfile.TemporaryDirectory() as folder:
        for name, export, side in NETWORKS:
            path = os.path.join(folder, name + ".onnx")
            module("detectornetworks").export(export, path, side, picture, 100)
            x = np.ascontiguousarray((picture(side, side).astype(np.float32) / 255).transpose(2, 0, 1))
            for threads in (1, 2):
                row, ratio = measured(name, path, x if export.startswith("ssdlite") else x[None], threads, runtime)
                print(*row, sep="  ", file=sys.stderr)
                rows, ratios = rows + [row], ratios + [ratio]
    mean = math.exp(statistics.mean(math.log(r) for r in ratios))
    print(f"geometric mean {mean:.2f}", file=sys.stderr)
    if len(sys.argv) > 3:
        cpu = next(l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name"))
        with open(sys.argv[3], "w") as file:
            json.dump({"processor": cpu, "command": "make bench-detectors", "measured": time.strftime("%Y-%m-%d"),
                       "conditions": f"pictures through detectors with their suppression, beside ONNX Runtime {runtime.version}; "
                       f"random weights; geometric mean {mean:.2f}",
                       "columns": ["network", "input", "threads", "boxes", "bnctl ms", "ONNX Runtime ms", "ratio"],
                       "rows": rows}, file, indent=1)


main()
