#!/usr/bin/env python3
"""finetune.py BNCTL CIFAR FOLDER [SEEDS]: training on with weights of other classes, by bnctl and by PyTorch.

bnctl trains resnet18 and efficientnet-b0 at 32x32 on 9,000 of the six animals of CIFAR-10, and exports a .pth. Both sides
take it for the four vehicles, with a new head and 100 pictures of each: with batch norms that go on, and with frozen
statistics; bnctl also from new weights. Accuracy is that on vehicles of CIFAR's part test, HELD (300) of each, after EPOCHS
(8). A line of JSON for each run goes to FOLDER/lines, and what has one is not run again. JSON=FILE keeps the table.
"""
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tarfile
import time

import numpy as np
import torch
import torchvision
from PIL import Image
from torch.nn import functional as F

ANIMALS, VEHICLES = "bird cat deer dog frog horse".split(), "airplane automobile ship truck".split()
HELD = int(os.environ.get("HELD", 300))
PARTS = {"animals": (ANIMALS, "train", 1500), "vehicles": (VEHICLES, "train", 100), "held": (VEHICLES, "test", HELD)}
NETWORKS = ("resnet18", "efficientnet-b0")
BATCH, DECAY, FIRST_EPOCHS = 32, 1e-4, 8
FIRST = ["--optimizer", "adamw", "--warmup", 1, "--bn-precise", 1024]
EPOCHS = int(os.environ.get("EPOCHS", 8))
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
WAYS = {"sync": "batch norms learn further", "frozen": "frozen statistics", "new": "new weights"}
RATES = {"sync": 0.01, "frozen": 0.001, "new": 0.01}  # with frozen statistics 0.01 is too much for efficientnet-b0, on both sides


def prepare(archive, folder):
    """Writes NAME.x.npy, pictures [N,32,32,3], and NAME.y.npy for each of the parts."""
    found = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.split("/")
            if member.isfile() and len(path) > 2:
                found.setdefault(tuple(path[-3:-1]), []).append((path[-1], tar.extractfile(member).read()))
    for name, (classes, part, n) in PARTS.items():
        files = [[data for _, data in sorted(found[part, c])[:n]] for c in classes]
        x = np.stack([np.asarray(Image.open(io.BytesIO(d)).convert("RGB")) for of in files for d in of])
        np.save(f"{folder}/{name}.x.npy", x)
        np.save(f"{folder}/{name}.y.npy", np.repeat(np.arange(len(classes)), [len(of) for of in files]).astype(np.int64))


class Diverged(Exception):
    """The loss was no number."""


def bnctl(*arguments):
    for _ in range(5):  # on a machine with much else to do a device may be late
        p = subprocess.run(list(map(str, arguments)), capture_output=True, text=True)
        if not p.returncode:
            return p.stdout
        if "the loss is NaN" in p.stderr:
            raise Diverged
    sys.exit(p.stderr)


def train(program, network, data, epochs, rate, out, *more):
    bnctl(program, "train", "--model", network, "--size", "32x32", "--preprocess", "imagenet", "--data", data, "--batch", BATCH, "--replicas", 1,
          "--epochs", epochs, "--lr", rate, "--weight-decay", DECAY, "--schedule", "cosine", "--augment",
          "cifar", "--overwrite", "-o", out, *more)


def source(folder, part):
    return f"npy:{folder}/{part}.x.npy,{folder}/{part}.y.npy"


def ours(program, folder, network, way, seed):
    out = f"{folder}/tuned.bnm"
    more = [] if way == "new" else ["--init", f"{folder}/{network}.pth"]
    train(program, network, source(folder, "vehicles"), EPOCHS, RATES[way], out, "--seed", seed, "--bn",
          "frozen" if way == "frozen" else "sync", "--momentum", "0.9", *more)
    return json.loads(bnctl(program, "eval", out, "--data", source(folder, "held"), "--json").splitlines()[0])["accuracy"]


def normalised(x):
    return (torch.from_numpy(x).permute(0, 3, 1, 2).float() / 255 - torch.tensor(MEAN).view(3, 1, 1)) / \
        torch.tensor(STD).view(3, 1, 1)


def shifted(x):
    """A crop of each picture with 4 black pixels around it, half of them mirrored, as bnctl's --augment cifar."""
    padded, out = np.pad(x, ((0, 0), (4, 4), (4, 4), (0, 0))), np.empty_like(x)
    for i, (top, left, flip) in enumerate(zip(*torch.randint(9, (2, len(x))).tolist(), torch.rand(len(x)).tolist())):
        picture = padded[i, top:top + 32, left:left + 32]
        out[i] = picture[:, ::-1] if flip < 0.5 else picture
    return out


def built(folder, network):
    net = getattr(torchvision.models, network.replace("-", "_"))(weights=None, num_classes=len(ANIMALS))
    net.load_state_dict(torch.load(f"{folder}/{network}.pth"), strict=True)
    if network == "resnet18":
        net.fc = torch.nn.Linear(net.fc.in_features, len(VEHICLES))
    else:
        net.classifier[1] = torch.nn.Linear(net.classifier[1].in_features, len(VEHICLES))
    return net


def theirs(folder, network, way, seed):
    torch.manual_seed(seed)
    net = built(folder, network)
    x, y = np.load(f"{folder}/vehicles.x.npy"), torch.from_numpy(np.load(f"{folder}/vehicles.y.npy"))
    kernels = [p for p in net.parameters() if p.dim() > 1]
    others = [p for p in net.parameters() if p.dim() == 1]
    optimizer = torch.optim.SGD([{"params": kernels, "weight_decay": DECAY}, {"params": others, "weight_decay": 0}],
                                lr=RATES[way], momentum=0.9)
    steps, step = -(-len(x) // BATCH) * EPOCHS, 0
    for _ in range(EPOCHS):
        net.train()
        if way == "frozen":
            for m in net.modules():
                if isinstance(m, torch.nn.BatchNorm2d):
                    m.eval()
        order = torch.randperm(len(x)).numpy()
        for i in range(0, len(order), BATCH):
            pick = order[i:i + BATCH]
            for group in optimizer.param_groups:
                group["lr"] = RATES[way] * (1 + math.cos(math.pi * step / steps)) / 2
            loss = F.cross_entropy(net(normalised(shifted(x[pick]))), y[pick])
            if not torch.isfinite(loss):
                raise Diverged
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
    net.eval()
    held, want = np.load(f"{folder}/held.x.npy"), torch.from_numpy(np.load(f"{folder}/held.y.npy"))
    with torch.no_grad():
        answers = torch.cat([net(normalised(held[i:i + 250])).argmax(1) for i in range(0, len(held), 250)])
    return (answers == want).double().mean().item()


def accuracy_of(run):
    """Return the result of run, or None if it diverges."""
    try:
        return run()
    except Diverged:
        return None


def known(folder):
    path = folder + "/lines"
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


def add(folder, **row):
    print(json.dumps(row), flush=True)
    with open(folder + "/lines", "a") as f:
        f.write(json.dumps(row) + "\n")


def percent(values):
    return " ".join("diverged" if v is None else f"{100 * v:.1f}" for v in values)


def compared(right):
    """The difference of the two sides' means, with its standard error by what the seeds scatter."""
    if any(len(side) < 2 for side in right):
        return ""
    (ours, theirs), error = map(statistics.mean, right), sum(statistics.variance(s) / len(s) for s in right) ** 0.5
    return f"{100 * (ours - theirs):+.1f} ± {100 * error:.1f}"


def table(folder, path):
    lines, rows = known(folder), []
    for network in NETWORKS:
        for way in WAYS:
            got = [[r["accuracy"] for r in lines if (r["network"], r["way"], r["side"]) == (network, way, side)]
                   for side in ("bnctl", "PyTorch")]
            right = [[v for v in side if v is not None] for side in got]
            if got[0]:
                rows.append([network, WAYS[way]] + [f"{percent([statistics.mean(r)])} ({percent(g)})" if r else percent(g)
                                                    for g, r in zip(got, right)] + [compared(right)])
    processor = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    first = {r["network"]: r["accuracy"] for r in lines if r["way"] == "first"}
    with open(path, "w") as f:
        json.dump({"processor": processor, "command": "make finetune", "measured": time.strftime("%Y-%m-%d"), "conditions":
                   f"at 32x32; first {FIRST_EPOCHS} epochs on 9,000 animals (" +
                   ", ".join(f"{k} {100 * v:.0f} % of them" for k, v in first.items()) + f"), then {EPOCHS} on 400 "
                   f"vehicles, SGD with a rate of {RATES['sync']}, of {RATES['frozen']} with frozen statistics, and a cosine, "
                   f"batch {BATCH}, shifted and mirrored; the accuracy on "
                   f"{4 * HELD} vehicles that neither side has seen (its standard error by their number alone is at most "
                   f"{50 / (4 * HELD) ** 0.5:.1f} %), the mean and that of each seed; PyTorch {torch.__version__}",
                   "columns": ["network", "way", "bnctl, %", "PyTorch, %", "difference"], "rows": rows}, f, indent=1,
                  ensure_ascii=False)


def main(program, archive, folder, seeds=3):
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(folder + "/held.y.npy"):
        prepare(archive, folder)
    done = {(r["network"], r["way"], r["side"], r["seed"]) for r in known(folder)}
    for network in NETWORKS:
        if (network, "first", "bnctl", 0) not in done:
            train(program, network, source(folder, "animals"), FIRST_EPOCHS, 0.001, f"{folder}/{network}.bnm", *FIRST)
            bnctl(program, "export", f"{folder}/{network}.bnm", "-o", f"{folder}/{network}.pth")
            right = json.loads(bnctl(program, "eval", f"{folder}/{network}.bnm", "--data", source(folder, "animals"),
                                     "--json").splitlines()[0])["accuracy"]
            add(folder, network=network, way="first", side="bnctl", seed=0, accuracy=right)
    for seed in range(1, int(seeds) + 1):
        for way in WAYS:
            for network in NETWORKS:
                sides = {"bnctl": lambda: ours(program, folder, network, way, seed)}
                if way != "new":
                    sides["PyTorch"] = lambda: theirs(folder, network, way, seed)
                for side, run in sides.items():
                    if (network, way, side, seed) not in done:
                        add(folder, network=network, way=way, side=side, seed=seed, accuracy=accuracy_of(run))
    table(folder, os.environ.get("JSON", folder + "/finetune.json"))


main(*sys.argv[1:])
