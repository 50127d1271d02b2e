#!/usr/bin/env python3
"""pytorch.py THREADS: trains networks in PyTorch, and predicts, for `make bench-peers`.

Says what it is, then answers every line of standard input with a line: a JSON
object {"model", "batch", "format": "nchw", "nhwc", "frozen" or "xnnpack", "seconds"}
with {"images_per_s"}. A step is forward, backward, and SGD with momentum; of "frozen"
it is a prediction by torch.jit.optimize_for_inference, of "xnnpack" one whose
convolutions and products XNNPACK computes, with weights that it has packed.
OMP_NUM_THREADS and OPENBLAS_NUM_THREADS must say THREADS too.
"""
import json
import sys
import time

import torch
from torch.nn import functional as F
from torch.utils.mobile_optimizer import optimize_for_mobile

import networks

THREADS = int(sys.argv[1])
torch.set_num_threads(THREADS)
loaded = {}


def stepper(model, batch, form):
    """A function that makes one step."""
    key = (model, batch, form)
    if key in loaded:
        return loaded[key]
    loaded.clear()
    loaded[key] = predicter(model, batch, form) if form in ("frozen", "xnnpack") else trainer(model, batch, form)
    return loaded[key]


def predicter(model, batch, form):
    network = networks.scramble(networks.build(model))
    x = torch.randn(batch, *networks.INPUTS[model][0])
    with torch.no_grad():
        traced = torch.jit.trace(network, x)
        if form == "xnnpack":
            x = x.contiguous(memory_format=torch.channels_last)  # its own layout: nothing is copied
            fast = optimize_for_mobile(traced)
        else:
            fast = torch.jit.optimize_for_inference(torch.jit.freeze(traced))

    def step():
        with torch.no_grad():
            fast(x)

    return step


def trainer(model, batch, form):
    layout = torch.channels_last if form == "nhwc" else torch.contiguous_format
    network = networks.build(model).train().to(memory_format=layout)
    shape, classes = networks.INPUTS[model]
    x = torch.randn(batch, *shape).contiguous(memory_format=layout)
    labels = torch.randint(0, classes, (batch, *shape[1:]) if model in networks.PIXELS else (batch,))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.001, momentum=0.9, weight_decay=1e-4)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(network(x), labels).backward()
        optimizer.step()

    return step


def measure(step, seconds):
    """Steps per second, after two steps that do not count, one where they are slow."""
    began = time.perf_counter()
    step()
    if time.perf_counter() - began < 2:
        step()
    began, n = time.perf_counter(), 0
    while n == 0 or time.perf_counter() - began < seconds:
        step()
        n += 1
    return n / (time.perf_counter() - began)


def say(**line):
    print(json.dumps(line), flush=True)


say(peer="PyTorch", version=torch.__version__)
for line in sys.stdin:
    ask = json.loads(line)
    step = stepper(ask["model"], ask["batch"], ask["format"])
    say(images_per_s=ask["batch"] * measure(step, ask["seconds"]))
