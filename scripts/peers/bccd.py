#!/usr/bin/env python3
"""bccd.py BNCTL ARCHIVE FOLDER PEER...: yolox-nano on pictures of blood cells, by bnctl and by PyTorch, one recipe.

ARCHIVE is ../shared/data/bccd.tar.gz. PEER is a command that runs detector.py; its last word is the name that FOLDER has
for it. Both sides train from random weights on the part train with the seeds 1 to SEEDS (3) and EPOCHS (90), and bnctl
data eval computes the average precision of their boxes on the part test. A finished run goes to FOLDER/lines and into the
table of the file JSON (docs/results/bccd.json), and is not run again if one of them has it. A run of bnctl goes on from
its checkpoint in FOLDER. SIDES=bnctl or SIDES=PyTorch trains one side alone, and SEEDS=0 writes the table again.
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

HEIGHT, WIDTH, EPOCHS, SEEDS = 192, 256, int(os.environ.get("EPOCHS", 90)), int(os.environ.get("SEEDS", 3))
RECIPE = ["--augment", "flip jitter:0.4", *("--model yolox-nano --loss yolox --optimizer adamw --lr 0.002 --weight-decay 0.0005 "
          "--warmup 2 --schedule cosine --batch 8 --ema 0.99 --eval-every 10 --save last").split()]
T975 = [math.nan, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31]  # Student's t for 95 %, by degrees of freedom
CONDITIONS = f"yolox-nano, {HEIGHT}x{WIDTH}, {EPOCHS} epochs of batch 8, --loss yolox, adamw at 0.002, EMA 0.99; intervals of 95 %"
COLUMNS = ["seed", "AP50 of bnctl", "AP50 of PyTorch", "AP of bnctl", "AP of PyTorch", "day"]
LIMIT = 0.02  # of the difference of AP50, or its interval if that is larger


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


def known(path):
    """Return the runs that the table of a file has, if they have this recipe."""
    if not os.path.exists(path):
        return []
    table = json.loads(Path(path).read_text())
    if table["conditions"] != CONDITIONS:
        return []
    return [{"side": side, "seed": int(row[0]), "epochs": EPOCHS, "AP50": float(row[1 + k]), "AP": float(row[3 + k] or "nan"),
             "day": row[5]} for row in table["rows"] if row[0].isdigit() for k, side in enumerate(SIDES) if row[1 + k]]


def interval(values):
    """Return half of the interval of 95 % of a mean; NaN for one value."""
    return T975[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def with_interval(value, half, form):
    return f"{value:{form}}" + (f" ± {half:.3f}" if half == half else "")


def difference(ours, theirs):
    """Return the difference of two means in words, and whether it is within the limit or its interval of 95 %."""
    d, n = statistics.mean(ours) - statistics.mean(theirs), min(len(ours), len(theirs))
    half = math.nan
    if n > 1:
        error = sum(statistics.variance(v) / len(v) for v in (ours, theirs))
        half = T975[len(ours) + len(theirs) - 2] * math.sqrt(error)
    inside = "within" if abs(d) <= max(LIMIT, half if half == half else 0) else "not within"
    return f"{with_interval(d, half, '+.3f')}, {inside} the limit"


def table(lines, path):
    """Write the table of all runs: a row for each seed, the means, and their difference."""
    runs = {(l["side"], l["seed"]): l for l in lines}
    rows = []
    for seed in sorted({seed for _, seed in runs}):
        of = [runs.get((side, seed)) for side in SIDES]
        rows.append([str(seed), *(f"{r[key]:.4f}" if r and r[key] == r[key] else "" for key in ("AP50", "AP") for r in of),
                     max(r["day"] for r in of if r)])
    values = {(side, key): [r[key] for (s, _), r in sorted(runs.items()) if s == side and r[key] == r[key]]
              for side in SIDES for key in ("AP50", "AP")}
    rows.append(["mean", *(with_interval(statistics.mean(v), interval(v), ".3f") if v else ""
                           for key in ("AP50", "AP") for v in (values[side, key] for side in SIDES)), ""])
    if all(values[side, "AP50"] for side in SIDES):
        rows.append(["difference", difference(*(values[side, "AP50"] for side in SIDES)), "", "", "", ""])
    for row in rows:
        print(*row, sep="  ")
    cpu = next(l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name"))
    with open(path, "w") as file:
        json.dump({"processor": cpu, "command": "make bench-detection", "measured": max(r["day"] for r in runs.values()),
                   "conditions": CONDITIONS, "columns": COLUMNS, "rows": rows}, file, indent=1, ensure_ascii=False)
        file.write("\n")


def main(program, archive, folder, *peer):
    program = os.path.abspath(program)
    folder, archive = Path(folder).resolve(), Path(archive).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for source in (archive, Path(__file__).parents[2] / "models" / "testdata" / "torch_yolox.py"):
        shutil.copy(source, folder)
    log, path = folder / "lines", os.environ.get("JSON") or folder / "detection.json"
    lines = [json.loads(l) for l in log.read_text().splitlines()] if log.exists() else []
    lines = [{"day": today(log), **l} for l in lines if l["epochs"] == EPOCHS]
    lines += [l for l in known(path) if not has(lines, l["side"], l["seed"])]
    for seed in range(1, SEEDS + 1):
        for side, train in SIDES.items():
            if has(lines, side, seed) or side != (os.environ.get("SIDES") or side):
                continue
            start = time.monotonic()
            boxes = train(program, archive, folder, seed) if side == "bnctl" else train(peer, archive, folder, seed)
            figures = precision(program, archive, boxes)
            lines.append({"side": side, "seed": seed, "epochs": EPOCHS, "seconds": round(time.monotonic() - start),
                          "AP50": figures["coco"]["ap50"], "AP": figures["coco"]["ap"], "day": time.strftime("%Y-%m-%d")})
            with open(log, "a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
            table(lines, path)
    table(lines, path)


def has(lines, side, seed):
    return any((l["side"], l["seed"]) == (side, seed) for l in lines)


def today(file):
    """Return the day on which a file was written."""
    return time.strftime("%Y-%m-%d", time.localtime(file.stat().st_mtime))


SIDES = {"bnctl": ours, "PyTorch": theirs}
main(*sys.argv[1:])
