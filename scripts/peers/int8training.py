#!/usr/bin/env python3
"""int8training.py BNCTL DATA FOLDER [SEEDS]: training for int8 by bnctl and by PyTorch, from the same float weights.

A network of depthwise layers is trained in float32 for EPOCHS (10) epochs on TRAINED (1000) pictures of each class of CIFAR-10, and on
cells cut out of the photos of BCCD (red, white, platelets; at most TRAINED of each). bnctl quantises it without data and on
training pictures, and trains it for int8 for QAT_EPOCHS (3): with fixed ranges, and with ranges that follow for all epochs
but one and batch norms that are folded after the first. PyTorch trains the same weights for int8 with the same rate, schedule
and epochs: averages of ranges (per channel for weights) that are frozen before the last epoch, statistics after the first. The
accuracy is that on HELD (500) other pictures of each class, of the float network in PyTorch too. A line of JSON for each run
goes to FOLDER/lines, and what has one is not run again. JSON=FILE keeps the table.
"""
import collections
import io
import json
import os
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree as xml

import numpy as np
import torch
from PIL import Image
from torch.ao import quantization as ao
from torch.ao.quantization.quantize_fx import convert_fx, prepare_qat_fx
from torch.nn import functional as F

TRAINED, HELD = int(os.environ.get("TRAINED") or 1000), int(os.environ.get("HELD") or 500)
EPOCHS, QAT_EPOCHS = int(os.environ.get("EPOCHS") or 10), int(os.environ.get("QAT_EPOCHS") or 3)
BLOCKS = [(16, 32, 2), (32, 64, 1), (64, 128, 2), (128, 128, 1)]  # channels in, channels out, stride
BATCH, RATE, QAT_RATE, DECAY = 64, 0.1, 0.002, 1e-4
WAYS = {"float32": "float32", "PyTorch, float32": "the same in PyTorch", "free": "without data", "calibrated": "calibrated",
        "fixed": "`--qat`", "following": "`--qat-ranges`, `--qat-fold`", "PyTorch": "PyTorch's QAT"}
SETS = {"CIFAR-10": 10, "cells": 3}


def graph(classes):
    """The network as a graph of bnctl."""
    states, body = [], []

    def conv(name, x, out, per, k, attrs):
        states.append(f"state {name}.weight f32[{out},{per},{k},{k}] weight he_normal(0)")
        for part, role in {"weight": "gamma ones", "bias": "beta zeros", "mean": "mean zeros", "var": "variance ones"}.items():
            states.append(f"state {name}.bn.{part} f32[{out}] {role}")
        bn = ", ".join(f"@{name}.bn.{p}" for p in ("weight", "bias", "mean", "var"))
        body.extend([f"  {name} = conv({x}, @{name}.weight{attrs})", f"  {name}.bn = batch_norm({name}, {bn})",
                     f"  {name}.relu = clip({name}.bn, min=0, max=6)"])
        return name + ".relu"

    x = conv("first", "image", BLOCKS[0][0], 3, 3, ", pad=[1,1,1,1]")
    for i, (c, out, stride) in enumerate(BLOCKS, 1):
        x = conv(f"deep{i}", x, c, 1, 3, f", groups={c}, stride=[{stride},{stride}], pad=[1,1,1,1]")
        x = conv(f"point{i}", x, out, c, 1, "")
    states += [f"state fc.weight f32[{classes},{out}] weight he_normal(0)", f"state fc.bias f32[{classes}] bias zeros"]
    body += [f"  pool = global_avg_pool({x})", f"  flat = reshape(pool, shape=[{out}])", "  fc = dense(flat, @fc.weight, @fc.bias)"]
    return "\n".join(['bnctl graph 1', 'graph "depthwise"', "", *states, "", "func main(x rows u8[32,32,3]) {",
                      "  image = image(x, mean=[0.5,0.5,0.5], std=[0.25,0.25,0.25])", *body, "  return logits rows = fc", "}", ""])


class Block(torch.nn.Sequential):
    def __init__(self, c, out, k, stride, groups):
        super().__init__(collections.OrderedDict(conv=torch.nn.Conv2d(c, out, k, stride, k // 2, groups=groups, bias=False),
                                                 bn=torch.nn.BatchNorm2d(out, eps=1e-5), relu=torch.nn.ReLU6()))


class Network(torch.nn.Module):
    """The network in PyTorch, with the weights of a .pth that bnctl exported."""

    def __init__(self, weights, classes):
        super().__init__()
        layers = {"first": Block(3, BLOCKS[0][0], 3, 1, 1)}
        for i, (c, out, stride) in enumerate(BLOCKS, 1):
            layers[f"deep{i}"], layers[f"point{i}"] = Block(c, c, 3, stride, c), Block(c, out, 1, 1, 1)
        self.layers, self.fc = torch.nn.Sequential(collections.OrderedDict(layers)), torch.nn.Linear(BLOCKS[-1][1], classes)
        state = torch.load(weights)
        with torch.no_grad():
            for name, block in layers.items():
                block.conv.weight.copy_(state[name + ".weight"])
                for ours, theirs in (("weight", "weight"), ("bias", "bias"), ("mean", "running_mean"), ("var", "running_var")):
                    getattr(block.bn, theirs).copy_(state[f"{name}.bn.{ours}"])
            self.fc.weight.copy_(state["fc.weight"])
            self.fc.bias.copy_(state["fc.bias"])

    def forward(self, x):
        return self.fc(F.adaptive_avg_pool2d(self.layers(x), 1).flatten(1))


def pictures(data):
    """CIFAR-10: for the parts train and test, a list of pictures of each class."""
    found = collections.defaultdict(list)
    with tarfile.open(data + "/cifar10/cifar10-jpg.tar.gz") as tar:
        for member in sorted((m for m in tar if m.isfile()), key=lambda m: m.name):
            path = member.name.split("/")
            most = TRAINED if path[-3:-2] == ["train"] else HELD
            if len(path) > 2 and len(found[path[-3], path[-2]]) < most:
                picture = Image.open(io.BytesIO(tar.extractfile(member).read()))
                found[path[-3], path[-2]].append(np.asarray(picture.convert("RGB")))
    return found


def cells(data):
    """BCCD: the squares around the boxes of its parts train, and val and test, at 32x32."""
    found = collections.defaultdict(list)
    with tarfile.open(data + "/bccd.tar.gz") as tar:
        for part, files in {"train": ["train"], "test": ["val", "test"]}.items():
            names = sum((tar.extractfile(f"BCCD/ImageSets/Main/{f}.txt").read().decode().split() for f in files), [])
            for name in sorted(names):
                photo = Image.open(io.BytesIO(tar.extractfile(f"BCCD/JPEGImages/{name}.jpg").read())).convert("RGB")
                for box in xml.fromstring(tar.extractfile(f"BCCD/Annotations/{name}.xml").read()).iter("object"):
                    left, top, right, bottom = (int(box.find("bndbox/" + k).text) for k in ("xmin", "ymin", "xmax", "ymax"))
                    half = 0.6 * max(right - left, bottom - top)
                    x, y, of = (left + right) / 2, (top + bottom) / 2, found[part, box.find("name").text]
                    if half > 0 and len(of) < (TRAINED if part == "train" else HELD):
                        of.append(np.asarray(photo.resize((32, 32), Image.BILINEAR, (max(x - half, 0), max(y - half, 0),
                                                          min(x + half, photo.width), min(y + half, photo.height)))))
    return found


def prepare(data, folder):
    for name, found in (("CIFAR-10", pictures(data)), ("cells", cells(data))):
        classes = sorted({c for _, c in found})
        assert len(classes) == SETS[name], classes
        with open(f"{folder}/{name}.graph", "w") as f:
            f.write(graph(len(classes)))
        for part in ("train", "test"):
            np.save(f"{folder}/{name}.{part}.x.npy", np.concatenate([found[part, c] for c in classes]))
            np.save(f"{folder}/{name}.{part}.y.npy", np.repeat(np.arange(len(classes)), [len(found[part, c]) for c in classes]))


def bnctl(*arguments):
    for _ in range(3):  # on a machine with much else to do a device may be late
        p = subprocess.run(list(map(str, arguments)), capture_output=True, text=True)
        if not p.returncode:
            return p.stdout
    sys.exit(p.stderr)


def source(folder, name, part):
    return f"npy:{folder}/{name}.{part}.x.npy,{folder}/{name}.{part}.y.npy"


def trained(program, folder, name, model, epochs, rate, seed, out, *more):
    bnctl(program, "train", "--model", model, "--data", source(folder, name, "train"), "--epochs", epochs, "--lr", rate, "--seed", seed,
          "--batch", BATCH, "--replicas", 1, "--weight-decay", DECAY, "--schedule", "cosine", "--augment", "cifar", "--device-timeout", 600,
          "--overwrite", "-o", out, *more)


def accuracy(program, folder, name, template):
    out = bnctl(program, "eval", template, "--data", source(folder, name, "test"), "--json")
    return json.loads(out.splitlines()[-1])["accuracy"]


def ours(program, folder, name, way, seed):
    base, out = f"{folder}/{name}.{seed}", f"{folder}/{name}.{seed}.{way}.bnm"
    follow = ["--qat-ranges", QAT_EPOCHS - 1, "--qat-fold", 1] if way == "following" else []
    if way == "float32":
        trained(program, folder, name, f"{folder}/{name}.graph", EPOCHS, RATE, seed, out)
        bnctl(program, "export", out, "-o", base + ".pth")
    elif way in ("free", "calibrated"):
        more = [] if way == "free" else ["--data", source(folder, name, "train")]
        bnctl(program, "quantize", base + ".float32.bnm", "-o", out, *more)
    else:
        trained(program, folder, name, base + ".float32.bnm", QAT_EPOCHS, QAT_RATE, seed, out, "--qat", *follow)
    return accuracy(program, folder, name, out)


def normalised(x):
    return (torch.from_numpy(x).permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.25


def shifted(x):
    """A crop of each picture with 4 black pixels around it, half of them mirrored, as bnctl's --augment cifar."""
    padded, out = np.pad(x, ((0, 0), (4, 4), (4, 4), (0, 0))), np.empty_like(x)
    for i, (top, left, flip) in enumerate(zip(*torch.randint(9, (2, len(x))).tolist(), torch.rand(len(x)).tolist())):
        picture = padded[i, top:top + 32, left:left + 32]
        out[i] = picture[:, ::-1] if flip < 0.5 else picture
    return out


def right(net, x, y):
    with torch.no_grad():
        return float((torch.cat([net(normalised(x[i:i + 500])).argmax(1) for i in range(0, len(x), 500)]).numpy() == y).mean())


def theirs(folder, name, way, seed):
    torch.manual_seed(seed)
    (x, y), held = ([np.load(f"{folder}/{name}.{part}.{k}.npy") for k in "xy"] for part in ("train", "test"))
    net = Network(f"{folder}/{name}.{seed}.pth", SETS[name])
    if way != "PyTorch":
        return right(net.eval(), *held)
    config = ao.QConfig(activation=ao.FusedMovingAvgObsFakeQuantize.with_args(
        observer=ao.MovingAverageMinMaxObserver, quant_min=0, quant_max=255), weight=ao.default_fused_per_channel_wt_fake_quant)
    net = prepare_qat_fx(net.train(), ao.QConfigMapping().set_global(config), normalised(x[:1]))
    optimizer = torch.optim.SGD(net.parameters(), QAT_RATE, 0.9, weight_decay=DECAY)
    steps = QAT_EPOCHS * -(-len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for epoch in range(QAT_EPOCHS):
        if epoch >= 1:
            net.apply(torch.nn.intrinsic.qat.freeze_bn_stats)
        if epoch >= QAT_EPOCHS - 1:
            net.apply(ao.disable_observer)
        for rows in torch.randperm(len(x)).split(BATCH):
            loss = F.cross_entropy(net(normalised(shifted(x[rows]))), torch.from_numpy(y[rows]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return right(convert_fx(net.eval()), *held)


def known(folder):
    path = folder + "/lines"
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


def add(folder, **row):
    print(json.dumps(row), flush=True)
    with open(folder + "/lines", "a") as f:
        f.write(json.dumps(row) + "\n")


def table(folder, path):
    rows, lines = [], known(folder)
    for name in SETS:
        for seed in sorted({r["seed"] for r in lines if r["set"] == name}):
            got = {r["way"]: f'{100 * r["accuracy"]:.2f} %' for r in lines if (r["set"], r["seed"]) == (name, seed)}
            rows.append([name, str(seed)] + [got.get(way, "") for way in WAYS])
    sizes = [f"{name}: {len(np.load(f'{folder}/{name}.train.y.npy'))} and {len(np.load(f'{folder}/{name}.test.y.npy'))}" for name in SETS]
    processor = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    with open(path, "w") as f:
        json.dump({"processor": processor, "command": f"make int8-training EPOCHS={EPOCHS} QAT_EPOCHS={QAT_EPOCHS} TRAINED={TRAINED} HELD={HELD}",
                   "measured": time.strftime("%Y-%m-%d"), "conditions":
                   f"a network of {len(BLOCKS)} depthwise blocks, relu6, 32x32; {EPOCHS} epochs in float32 at a rate of {RATE}, then "
                   f"{QAT_EPOCHS} for int8 at {QAT_RATE}, batch {BATCH}, a cosine, shifted and mirrored; pictures to train and to "
                   f"evaluate on: {', '.join(sizes)}; PyTorch {torch.__version__} begins with bnctl's float32 weights",
                   "columns": ["data", "seed", *WAYS.values()], "rows": rows}, f, indent=1, ensure_ascii=False)
        f.write("\n")


def main(program, data, folder, seeds="0 1 2"):
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS") or 2))
    torch.backends.quantized.engine = "onednn"  # Debian's qnnpack answers at random here, and it has no fbgemm
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(folder + "/cells.test.y.npy"):
        prepare(data, folder)
    done = {(r["set"], r["way"], r["seed"]) for r in known(folder)}
    for seed in map(int, seeds.split()):
        for name in SETS:
            for way in WAYS:
                if (name, way, seed) in done:
                    continue
                run = (lambda: theirs(folder, name, way, seed)) if way.startswith("PyTorch") else \
                    (lambda: ours(program, folder, name, way, seed))
                add(folder, set=name, way=way, seed=seed, accuracy=run())
    if os.environ.get("JSON"):
        table(folder, os.environ["JSON"])


if __name__ == "__main__":
    main(*sys.argv[1:])
