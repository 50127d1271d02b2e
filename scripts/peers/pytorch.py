#!/usr/bin/env python3
"""pytorch.py THREADS: trains networks in PyTorch, and predicts, for `make bench-peers`.

Says what it is, then answers every line of standard input with a line: a JSON object
{"model", "batch", "task": "train" or "infer", "format", "seconds"} with {"images_per_s"}, or
{"error"} where this PyTorch has no such form. A step of training is forward, backward, and SGD with
momentum. Formats are words with dashes between them:
nhwc: channels last; bf16: autocast to bfloat16; compiled: torch.compile (to predict, with frozen weights);
frozen: torch.jit.optimize_for_inference; graph: frozen, with the fusion of oneDNN Graph;
xnnpack: convolutions and products by XNNPACK, with weights that it has packed.
OMP_NUM_THREADS and OPENBLAS_NUM_THREADS must say THREADS too.
"""
import contextlib
import json
import os
import sys
import time

import torch
from torch.nn import functional as F

import networks

THREADS = int(sys.argv[1])
torch.set_num_threads(THREADS)
loaded, shared = {}, None


def stepper(model, batch, task, form):
    """A function that makes one step; all of a model and batch are kept until others are asked for."""
    global shared
    if shared != (model, batch, task):
        loaded.clear()
        shared = (model, batch, task)
    if form not in loaded:
        words = form.split("-")
        loaded[form] = trainer(model, batch, words) if task == "train" else predicter(model, batch, words)
    return loaded[form]


def precision(words):
    """Return the context that sets the precision of a step."""
    if "bf16" in words:
        return torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled="compiled" in words)
    return contextlib.nullcontext()


def compiler(words, freeze):
    """torch.compile, or nothing; weights become constants with freeze."""
    if "compiled" not in words:
        return lambda network: network
    if not hasattr(torch, "compile"):
        raise RuntimeError("no torch.compile")
    from torch._inductor import config, cpu_vec_isa
    if not cpu_vec_isa.pick_vec_isa():
        raise RuntimeError("torch.compile would emit scalar code: preload libsleef.so.3")
    config.cpp.threads, config.freezing = THREADS, freeze
    if os.environ.get("ATEN_CPU_CAPABILITY") == "avx2":
        config.cpp.simdlen = 256
    return lambda network: torch.compile(network, dynamic=False)


def frozen(network, x, words):
    """A traced network whose weights are constants, optimised as words say."""
    torch.jit.enable_onednn_fusion("graph" in words)
    torch._C._jit_set_texpr_fuser_enabled(False)  # 2.6 never ends fusing resnet20 at batch 32; no faster elsewhere
    with torch.no_grad(), precision(words):
        traced = torch.jit.trace(network, x)
        if "xnnpack" in words:
            from torch.utils.mobile_optimizer import optimize_for_mobile
            return optimize_for_mobile(traced)
        fast = torch.jit.freeze(traced)
        if "graph" not in words:
            fast = torch.jit.optimize_for_inference(fast)
        for _ in range(3):  # a profiled run fails if a pass made a graph that does not run
            fast(x)
    return fast


def predicter(model, batch, words):
    network, shape = networks.predicted(model)
    x = torch.randn(batch, *shape)
    if {"nhwc", "xnnpack"} & set(words):
        x = x.contiguous(memory_format=torch.channels_last)
    if "nhwc" in words:
        network = network.to(memory_format=torch.channels_last)
    if {"frozen", "graph", "xnnpack"} & set(words):
        if "graph" in words and "bf16" in words:  # autocast keeps batch norm apart
            from torch.fx.experimental import optimization
            network = optimization.fuse(network)
        fast, within = frozen(network, x, words), []
    else:
        fast, within = compiler(words, freeze=True)(network), words

    def step():
        with torch.no_grad(), precision(within):
            fast(x)

    return step


def trainer(model, batch, words):
    layout = torch.channels_last if "nhwc" in words else torch.contiguous_format
    network = networks.build(model).train().to(memory_format=layout)
    shape, classes = networks.INPUTS[model]
    x = torch.randn(batch, *shape).contiguous(memory_format=layout)
    labels = torch.randint(0, classes, (batch, *shape[1:]) if model in networks.PIXELS else (batch,))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.001, momentum=0.9, weight_decay=1e-4)
    forward = compiler(words, freeze=False)(network)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with precision(words):
            logits = forward(x)
        F.cross_entropy(logits.float(), labels).backward()
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


def blas():
    """The library of dense products: Debian's PyTorch takes the one that the system has."""
    torch.ones(2, 2) @ torch.ones(2, 2)
    with open("/proc/self/maps") as f:
        return "OpenBLAS" if "openblas" in f.read() else "the reference BLAS"


def say(**line):
    print(json.dumps(line), flush=True)


if blas() != "OpenBLAS":
    sys.exit("pytorch.py: dense products would be the reference BLAS's; install libopenblas0-pthread")
say(peer="PyTorch", version=torch.__version__)
for line in sys.stdin:
    ask = json.loads(line)
    try:
        step = stepper(ask["model"], ask["batch"], ask["task"], ask["format"])
        say(images_per_s=ask["batch"] * measure(step, ask["seconds"]))
    except Exception as e:  # any pass of any compiler may fail: the form is then left out
        say(error=(repr(e).splitlines() or [""])[0][:200])
