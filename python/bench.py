#!/usr/bin/env python3
"""Measure what Model.predict adds to the computation: bench.py MODEL [ROUNDS [PEER...]]. Rounds alternate with bnctl bench.

Prints a JSON line: medians of one row in milliseconds, their difference, the processor time of Python for a call, and
the rate of 1,000 rows in batches of 32 beside that of bnctl bench. PEER is a command that measures the same network, as
peers/onnxruntime.py does; its rates are added. On a busy machine only ratios mean something.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import bnctl
from bnctl import _binary

SECONDS = 3


def bench(model, batch):
    """Return the row of bnctl bench."""
    out = subprocess.run([_binary.find(), "bench", model, "--batch", str(batch), "--seconds", str(SECONDS), "--threads", "1",
                          "--json", "--quiet"], capture_output=True, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


class Peer:
    """A program that measures, or none."""

    def __init__(self, command, network):
        self.network = network
        self.process = command and subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.name = command and json.loads(self.process.stdout.readline())

    def rate(self, batch):
        """Return rows per second."""
        self.process.stdin.write(json.dumps({"model": self.network, "batch": batch, "threads": 1, "seconds": SECONDS}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["images_per_s"]


def calls(model, x):
    """Return the times of calls with one row, and the processor time of Python for one."""
    times, used = [], time.process_time()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        start = time.perf_counter()
        model.predict(x)
        times.append(time.perf_counter() - start)
    return times, (time.process_time() - used) / len(times)


def main():
    path, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    peer = Peer(sys.argv[3:], Path(path).stem)
    rows = []
    with bnctl.Model(path, threads=1) as model:
        shape = model.inputs[0].shape[1:]
        x = np.random.default_rng(1).integers(0, 256, (1000, *shape)).astype(model.inputs[0].dtype)
        model.predict(x[:64])
        for _ in range(rounds):
            times, python = calls(model, x[:1])
            row = {"one_ms": 1000 * statistics.median(times), "bench_ms": bench(path, 1)["p50_ms"], "python_ms": 1000 * python}
            row["difference_ms"] = row["one_ms"] - row["bench_ms"]
            start = time.perf_counter()
            model.predict(x)
            row["batches"] = len(x) / (time.perf_counter() - start)
            row["bench_batches"] = bench(path, 32)["images_per_s"]
            row["ratio"] = row["batches"] / row["bench_batches"]
            if peer.process:
                row["peer_one"], row["peer_batches"] = peer.rate(1), peer.rate(32)
                row["one_of_peer"] = 1000 / row["one_ms"] / row["peer_one"]
                row["batches_of_peer"] = row["batches"] / row["peer_batches"]
            rows.append(row)
            print(json.dumps(row), file=sys.stderr)
    middle = {name: round(statistics.median(r[name] for r in rows), 3) for name in rows[0]}
    print(json.dumps({"rounds": rounds, "peer": peer.name, **middle}))


if __name__ == "__main__":
    main()
