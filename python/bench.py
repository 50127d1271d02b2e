#!/usr/bin/env python3
"""Measure what Model.predict adds to the computation: bench.py MODEL [ROUNDS]. Rounds alternate with bnctl bench.

Prints a JSON line: medians of one row in milliseconds, their difference, the processor time of Python for a call, and
the rate of 1,000 rows in batches of 32 beside that of bnctl bench. On a busy machine only ratios mean something.
"""

import json
import statistics
import subprocess
import sys
import time

import numpy as np

import bnctl
from bnctl import _binary


def bench(model, batch, seconds):
    """Return the rows per second of bnctl bench."""
    out = subprocess.run([_binary.find(), "bench", model, "--batch", str(batch), "--seconds", str(seconds), "--threads", "1",
                          "--json", "--quiet"], capture_output=True, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


def rate(row):
    """Return the rows per second of a row of bnctl bench."""
    return next(row[k] for k in ("images_per_s", "rows_per_s", "rate") if k in row)


def main():
    path, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    ones, benches, batches, bench_batches, processor = [], [], [], [], []
    with bnctl.Model(path, threads=1) as model:
        shape = model.inputs[0].shape[1:]
        x = np.random.default_rng(1).integers(0, 256, (1000, *shape)).astype(model.inputs[0].dtype)
        model.predict(x[:64])
        for _ in range(rounds):
            began, used = time.monotonic(), time.process_time()
            calls = 0
            while time.monotonic() - began < 3:
                start = time.perf_counter()
                model.predict(x[:1])
                ones.append(time.perf_counter() - start)
                calls += 1
            processor.append((time.process_time() - used) / calls)
            benches.append(bench(path, 1, 3)["p50_ms"] / 1000)
            start = time.perf_counter()
            model.predict(x)
            batches.append(len(x) / (time.perf_counter() - start))
            bench_batches.append(rate(bench(path, 32, 3)))
    one, alone = statistics.median(ones), statistics.median(benches)
    print(json.dumps({"one_ms": 1000 * one, "fastest_ms": 1000 * min(ones), "bench_ms": 1000 * alone,
                      "difference_ms": 1000 * (one - alone), "python_ms": 1000 * statistics.median(processor),
                      "batches": statistics.median(batches), "bench_batches": statistics.median(bench_batches),
                      "ratio": statistics.median(batches) / statistics.median(bench_batches)}))


if __name__ == "__main__":
    main()
