#!/usr/bin/env python3
"""gputorch.py DEVICE MODE SECONDS BATCHES NETWORK...: images/s of torchvision's networks, for gpu.sh.

MODE is infer or train (forward, backward, SGD with momentum). float32 without TF32, cuDNN chooses its
algorithms. The input is on the device. A line for each row: torch VERSION, network, mode, batch, images/s.
"""
import statistics
import sys
import time

import torch
import torchvision


def stepper(network, mode, x, labels):
    if mode == "infer":
        network.eval()

        def step():
            with torch.inference_mode():
                network(x)
        return step
    network.train()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.001, momentum=0.9, weight_decay=1e-4)

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(network(x), labels).backward()
        optimizer.step()
    return step


def measure(step, device, seconds):
    """Seconds of a step: the median of rounds, which together take about that many seconds."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None

    def timed(n):
        wait()
        began = time.perf_counter()
        for _ in range(n):
            step()
        wait()
        return (time.perf_counter() - began) / n

    timed(3)
    one = timed(1)
    rounds = 5 if one < seconds else 1
    return statistics.median(timed(max(1, int(seconds / rounds / one))) for _ in range(rounds))


def main(device, mode, seconds, batches, *names):
    device = "cuda" if device.startswith("cuda") else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    for name in names:
        build = getattr(torchvision.models, {"mobilenetv2": "mobilenet_v2"}.get(name, name.replace("-", "_")))
        for batch in map(int, batches.split()):
            network = build(weights=None).to(device)
            x, labels = torch.randn(batch, 3, 224, 224, device=device), torch.zeros(batch, dtype=torch.long, device=device)
            second = measure(stepper(network, mode, x, labels), device, float(seconds))
            print("torch " + torch.__version__, name, mode, batch, "%.1f" % (batch / second), sep="\t", flush=True)


main(*sys.argv[1:])
