#!/usr/bin/env python3
"""bccd.py BNCTL ARCHIVE FOLDER PEER...: yolox-nano on pictures of blood cells, by bnctl and by PyTorch, one recipe.

ARCHIVE is ../shared/data/bccd.tar.gz. PEER is a command that runs detector.py; its last word is the name that FOLDER has
for it. Both sides train from random weights on the part train with the seeds 1 to SEEDS (3) and EPOCHS (30), and bnctl
data eval computes the average precision of their boxes on the part test. A line of JSON for each run goes to FOLDER/lines;
what has one is not run again, and a run of bnctl goes on from its checkpoint. JSON=FILE keeps the table.
"""
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from pathlib import Path

HEIGHT, WIDTH, EPOCHS, SEEDS = 192, 256, int(os.environ.get("EPOCHS", 30)), int(os.environ.get("SEEDS", 3))
RECIPE = ["--augment", "flip jitter:0.4", *("--model yolox-nano --loss yolox --optimizer adamw --lr 0.002 --weight-decay 0.0005 "
          "--warmup 2 --schedule cosine --batch 8 --ema 0.99 --eval-every 10 --save last").split()]
T975 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78}  # Student's t for an interval of 95 %, by degrees of freedom


def run(*command):
    """Run a command, and return the last JSON object that it prints."""
    out = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads([line for line in out.splitlines() if line.startswith("{")][-1])


def precision(program, archive, boxes):
    """Return the figures of boxes on the part test."""
    return run(program, "data", "eval", f"voc:{archive}@test", boxes, "--json")


def ours(program, archive, folder, seed):
    """Train with bnctl, and return its boxes of the part test."""
    template, boxes = folder / f"bnctl-{seed}.bnm", folder / f"bnctl-{seed}.json"
    subprocess.run([program, "train", *RECIPE, "--size", f"{HEIGHT}x{WIDTH}", "--epochs", str(EPOCHS), "--seed", str(seed),
                    "--data", f"voc:{archive}", "--checkpoint", template.with_suffix(".bnc"), "--resume", "auto", "-o", template,
                    "--quiet"], check=True)
    with open(boxes, "w") as file:
        subprocess.run([program, "predict", template, *test_pictures(archive, folder), "--format", "coco", "--box-score", "0.01",
                        "--box-overlap", "0.65", "--quiet"], stdout=file, check=True)
    return boxes


def test_pictures(archive, folder):
    """Extract the pictures of the part test, and return their paths."""
    with tarfile.open(archive) as tar:
        members = {m.name: m for m in tar if m.isfile()}
        part = next(m for n, m in members.items() if n.endswith("ImageSets/Main/test.txt"))
        names = tar.extractfile(part).read().decode().split()
        paths = []
        for name in names:
            paths.append(folder / f"{name}.jpg")
            paths[-1].write_bytes(tar.extractfile(next(m for n, m in members.items() if n.endswith(f"/{name}.jpg"))).read())
    return paths


def theirs(peer, archive, folder, seed):
    """Train with PyTorch, and return its boxes of the part test."""
    boxes = folder / f"torch-{seed}.json"
    run(*peer[:-1], f"{peer[-1]}/{archive.name}", f"{peer[-1]}/{boxes.name}", seed, HEIGHT, WIDTH, EPOCHS)
    return boxes


def table(lines, path):
    """Write the table of all runs."""
    rows = []
    for side in ("bnctl", "PyTorch"):
        runs = sorted((l for l in lines if l["side"] == side), key=lambda l: l["seed"])
        values = [r["AP50"] for r in runs]
        mean, n = statistics.mean(values), len(values)
        spread = T975[n - 1] * statistics.stdev(values) / math.sqrt(n) if n > 1 else math.nan
        rows.append([side, " ".join(f"{v:.3f}" for v in values), f"{mean:.3f} ± {spread:.3f}" if n > 1 else f"{mean:.3f}",
                     f"{statistics.mean(r['AP'] for r in runs):.3f}"])
        print(*rows[-1], sep="  ")
    cpu = next(l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name"))
    with open(path, "w") as file:
        json.dump({"processor": cpu, "command": "make bench-detection", "measured": time.strftime("%Y-%m-%d"),
                   "conditions": f"yolox-nano at {HEIGHT}x{WIDTH} from random weights, {EPOCHS} epochs of batch 8; trained on 205 pictures, "
                   "tested on 72; the interval is of 95 % over the seeds", "columns": ["", "AP50, seeds from 1", "mean", "AP"],
                   "rows": rows}, file, indent=1, ensure_ascii=False)


def main(program, archive, folder, *peer):
    folder, archive = Path(folder).resolve(), Path(archive).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for source in (archive, Path(__file__).parents[2] / "models" / "testdata" / "torch_yolox.py"):
        shutil.copy(source, folder)
    known = folder / "lines"
    lines = [json.loads(l) for l in known.read_text().splitlines()] if known.exists() else []
    sides = {"bnctl": lambda seed: ours(os.path.abspath(program), archive, folder, seed),
             "PyTorch": lambda seed: theirs(peer, archive, folder, seed)}
    for seed in range(1, SEEDS + 1):
        for side, train in sides.items():
            if any((l["side"], l["seed"], l["epochs"]) == (side, seed, EPOCHS) for l in lines):
                continue
            start = time.monotonic()
            figures = precision(program, archive, train(seed))
            lines.append({"side": side, "seed": seed, "epochs": EPOCHS, "seconds": round(time.monotonic() - start),
                          "AP50": figures["coco"]["ap50"], "AP": figures["coco"]["ap"]})
            with open(known, "a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
            print(lines[-1])
    table([l for l in lines if l["epochs"] == EPOCHS], os.environ.get("JSON", folder / "detection.json"))


main(*sys.argv[1:])
