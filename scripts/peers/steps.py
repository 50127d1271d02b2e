"""steps.py: one training step of torchvision's networks, beside the same step of bnctl.

steps.py FOLDER BNCTL [NAME...]
    Gives each of bnctl's networks for classes in torchvision random weights and a head of ten classes; makes one
    step of SGD on 8 random pictures, with PyTorch in float64 and in float32 and with bnctl, from one .pth. Nothing is
    dropped. Prints a JSON line for each: how far the loss is from that of float64, how many tensors are beyond 1e-4 of
    their size, and how far weights and statistics are off together, relative to the update. Where the operand of a
    relu is next to nothing float32 falls on either side of it, PyTorch's too, and the gradient is another: then other
    pictures are tried, up to four times. Ends with 1 where with all of them the loss is further off than 1e-5, and
    than twice what float32 of PyTorch is, or the update than a thousandth, and than three times that. The lines are kept
    in FOLDER/steps.lines: what has one of this BNCTL is not computed again.
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

from forwards import HALVES, NETWORKS, normalised, pixels, rows, torchvision_name

SIDES = {"inception-v3": 96, "vgg11-bn": 32, "vgg13-bn": 32, "vgg16-bn": 32, "vgg19-bn": 32, "vit-b-16": 224}
BATCH, RATE, BATCHES = 8, 0.01, 5
SMALL = 1e-3  # least size that a tensor is compared at: some biases stay 0 except for rounding


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


def off(after, exact, before):
    """How many tensors are further off than 1e-4 of their size, by name, and how far all are off together,
    relative to the update: both as lengths of vectors."""
    far, difference, update = [], 0.0, 0.0
    for key, want in exact.items():
        if not want.is_floating_point() or key not in after:
            continue
        d = after[key].double() - want
        if float(d.abs().max()) > 1e-4 * max(float(want.abs().max()), SMALL):
            far.append(key)
        difference += float((d * d).sum())
        update += float(((want - before[key]) ** 2).sum())
    return far, (difference / update) ** 0.5


def good(row):
    return "refused" not in row and not row["missing"] and row["loss_off"] <= max(1e-5, 2 * row["torch_f32_loss_off"]) and \
        row["update_off"] <= max(1e-3, 3 * row["torch_f32_update_off"])


def compare(folder, program, name, batch):
    side = SIDES.get(name, 64)
    torch.manual_seed(2 + batch)
    x, y = pixels(BATCH, side), torch.arange(BATCH) % 10
    np.save(os.path.join(folder, "x.npy"), x.permute(0, 2, 3, 1).contiguous().numpy())
    np.save(os.path.join(folder, "y.npy"), y.numpy())
    loss, before, exact = stepped(name, side, x, y, torch.float64)
    single_loss, _, single = stepped(name, side, x, y, torch.float32)
    got_loss, got = ours(program, folder, name, side, before)
    keys = build(name, side).load_state_dict(got, strict=False)
    missing = keys.missing_keys + keys.unexpected_keys  # strict=True would refuse these
    far, update = off(got, exact, before)
    far32, update32 = off(single, exact, before)
    return {"network": name, "side": side, "loss": loss, "loss_off": abs(got_loss - loss),
            "torch_f32_loss_off": abs(single_loss - loss), "tensors": len(exact), "far": len(far), "for_one": far[:1],
            "torch_f32_far": len(far32), "update_off": update, "torch_f32_update_off": update32, "missing": missing}


def tried(folder, program, name):
    """The row of the first batch that is good, or of the last."""
    for batch in range(BATCHES):
        try:
            row = compare(folder, program, name, batch)
        except RuntimeError as e:
            row = {"network": name, "refused": str(e)}
        if "refused" in row or good(row):
            break
    return {**row, "batches": batch + 1}


def main(folder, program, *names):
    path = os.path.join(folder, "steps.lines")
    sys.exit(not all([good(row) for row in rows(path, program, names or NETWORKS, lambda name: tried(folder, program, name))]))


if __name__ == "__main__":
    main(*sys.argv[1:])
