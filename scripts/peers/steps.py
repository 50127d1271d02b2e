"""steps.py: one training step of torchvision's networks, beside the same step of bnctl.

steps.py FOLDER BNCTL [NAME...]
    Gives each of bnctl's networks for classes in torchvision random weights and a head of ten classes; makes one
    step of SGD on 8 random pictures, with PyTorch in float64 and in float32 and with bnctl, from one .pth. Nothing is
    dropped. Prints a JSON line for each: the loss, and the largest difference of a weight or a statistic from
    float64, relative to the largest of its tensor, and to the largest update of its tensor. Ends with 1 where the
    loss is further off than 1e-5, or a tensor than 1e-4, and than twice what float32 of PyTorch is.
"""
import json
import os
import re
import subprocess
import sys

import numpy as np
import torch
import torchvision
from torch import nn

from forwards import HALVES, NETWORKS, normalised, pixels, torchvision_name

SIDES = {"inception-v3": 96, "vgg11-bn": 32, "vgg13-bn": 32, "vgg16-bn": 32, "vgg19-bn": 32}
BATCH, RATE = 8, 0.01
SMALL = 1e-3  # what a tensor is at least taken for: biases begin with zeros, and some stay there but for rounding


def build(name, side):
    torch.manual_seed(1)
    more = {"init_weights": True, "aux_logits": False} if name in HALVES else {}
    if name.startswith("vit"):
        more["image_size"] = side
    net = getattr(torchvision.models, torchvision_name(name))(weights=None, num_classes=10, **more)
    for key, p in net.named_parameters():
        if key.endswith("layer_scale") or key.startswith("heads.") or key == "class_token":
            nn.init.normal_(p, 0.0, 0.1)
    for m in net.modules():
        if isinstance(m, (nn.Dropout, torchvision.ops.StochasticDepth)):
            m.p = 0.0
    return net.train()


def stepped(name, side, x, y, dtype):
    """The loss of one step, and the state before and after it."""
    net = build(name, side).to(dtype)
    before = {k: v.clone() for k, v in net.state_dict().items()}
    out = net(normalised(name, x).to(dtype))
    loss = nn.functional.cross_entropy(getattr(out, "logits", out), y)
    loss.backward()
    torch.optim.SGD(net.parameters(), lr=RATE).step()
    return float(loss), before, net.state_dict()


def bnctl(*arguments):
    p = subprocess.run(arguments, capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(p.stderr.strip())
    return p.stdout


def ours(program, folder, name, side, before):
    """The same of bnctl: the network's graph, in which nothing is dropped, with these weights."""
    path = os.path.join(folder, name)
    graph = bnctl(program, "models", "show", name, "--text", "--size", f"{side}x{side}")
    graph = re.sub(r"(= dropout\([^,)]*)[^)]*\)", r"\1, p=0)", graph)
    with open(path + ".graph", "w") as f:
        f.write(graph)
    torch.save({k: v.float() if v.is_floating_point() else v for k, v in before.items()}, path + ".pth")
    log = bnctl(program, "train", "--model", path + ".graph", "--classes", "10", "--init", path + ".pth", "--data",
                f"npy:{folder}/x.npy,{folder}/y.npy", "--steps", "1", "--batch", str(BATCH), "--replicas", "2", "--lr",
                str(RATE), "--momentum", "0", "--weight-decay", "0", "--schedule", "constant", "--kernels", "fma",
                "--log-every", "1", "--overwrite", "--json", "-o", path + ".bnm")
    losses = [e["loss"] for e in map(json.loads, log.splitlines()) if e.get("event") == "step"]
    bnctl(program, "export", path + ".bnm", "-o", path + ".after.pth")
    after = torch.load(path + ".after.pth")
    for suffix in (".graph", ".pth", ".bnm", ".bnc", ".after.pth"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
    return losses[-1], after


def worst(after, exact, before):
    """The largest difference relative to the tensor, its name, and the largest relative to the update."""
    far, where, update = 0.0, "", 0.0
    for key, want in exact.items():
        if not want.is_floating_point() or key not in after:
            continue
        off, size = float((after[key].double() - want).abs().max()), max(float(want.abs().max()), SMALL)
        if off > far * size:
            far, where = off / size, key
        update = max(update, off / max(float((want - before[key]).abs().max()), 1e-3 * size))
    return far, where, update


def compare(folder, program, name):
    side = SIDES.get(name, 64)
    torch.manual_seed(2)
    x, y = pixels(BATCH, side), torch.arange(BATCH) % 10
    np.save(os.path.join(folder, "x.npy"), x.permute(0, 2, 3, 1).contiguous().numpy())
    np.save(os.path.join(folder, "y.npy"), y.numpy())
    loss, before, exact = stepped(name, side, x, y, torch.float64)
    single_loss, _, single = stepped(name, side, x, y, torch.float32)
    got_loss, got = ours(program, folder, name, side, before)
    missing = [k for k, v in exact.items() if v.is_floating_point() and k not in got]
    far, where, update = worst(got, exact, before)
    f32, _, f32_update = worst(single, exact, before)
    return {"network": name, "side": side, "loss": loss, "loss_off": abs(got_loss - loss),
            "torch_f32_loss_off": abs(single_loss - loss), "step": far, "where": where, "torch_f32_step": f32,
            "update": update, "torch_f32_update": f32_update, "missing": missing}


def main(folder, program, *names):
    bad = False
    for name in names or NETWORKS:
        try:
            row = compare(folder, program, name)
        except RuntimeError as e:
            row = {"network": name, "refused": str(e)}
        wrong = "refused" in row or row["missing"] or row["loss_off"] > max(1e-5, 2 * row["torch_f32_loss_off"]) or \
            row["step"] > max(1e-4, 2 * row["torch_f32_step"])
        bad |= bool(wrong)
        print(json.dumps(row), flush=True)
    sys.exit(bad)


if __name__ == "__main__":
    main(*sys.argv[1:])
