#!/usr/bin/env bash
# photos.sh BNCTL CIFAR [SEEDS]: the folder of photos of newuser.sh, and on it bnctl's preset "photos" beside PyTorch's
# usual recipe, and beside the preset's own recipe in PyTorch (scripts/peers/photos.py), with the seeds 1 to SEEDS (3), in
# turn, a thread each and EPOCHS (40) epochs. All sides train on the same pictures and keep their best epoch; the accuracy is that
# on pictures held out. JSON=FILE keeps the table, TIMES=FILE the times of newuser.sh; PYTHON has PyTorch and torchvision.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
bnctl=$(realpath "$1") cifar=$(realpath "$2") seeds=${3:-3}
export EPOCHS=${EPOCHS:-40} OMP_NUM_THREADS=1 SEED=0
[ -z "${JSON:-}" ] || JSON=$(realpath "$JSON")
[ -z "${TIMES:-}" ] || TIMES=$(realpath "$TIMES")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash "$here/newuser.sh" "$bnctl" "$cifar" "$work" | tee "$work/times"
cd "$work"
for seed in $(seq "$seeds"); do
	"$bnctl" train --preset photos --patience 0 --model resnet20 --size 32x32 --data folder:photos --epochs "$EPOCHS" --seed "$seed" --threads 1 \
		--checkpoint p.bnc --overwrite -o p.bnm --json 2>/dev/null >events
	"$bnctl" eval p.bnm --data folder:held --json 2>/dev/null >held.json
	python3 -c 'import json
best = [json.loads(l) for l in open("events") if "\"event\":\"epoch\"" in l][-1]["best"]
print("preset", json.dumps({"validation": best["value"], "best_epoch": best["epoch"],
    "held": json.loads(open("held.json").readline())["accuracy"]}))' | tee -a lines
	for recipe in usual same; do
		echo "$recipe $("${PYTHON:-/usr/bin/python3}" -W ignore "$here/peers/photos.py" . "$seed" "$EPOCHS" $recipe)" | tee -a lines
	done
done
python3 - <<'END'
import json, os, re, statistics as s, time
sides = {"preset": "bnctl, `--preset photos`", "usual": "PyTorch, a usual recipe: crop and flip, SGD, cosine",
         "same": "PyTorch, the recipe of the preset"}
runs = {side: [] for side in sides}
for line in open("lines"):
    side, _, text = line.partition(" ")
    runs[side].append(json.loads(text))
n = len(runs["preset"])
cpu = next(l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name"))
origin = {"processor": cpu, "measured": time.strftime("%Y-%m-%d")}
def percent(v): return "%.1f" % (100 * v)
rows = []
for side, of in runs.items():
    held = [r["held"] for r in of]
    spread = s.stdev(held) if n > 1 else 0
    rows.append([sides[side], " ".join(map(percent, held)), "%s ± %s" % (percent(s.mean(held)), percent(spread)),
                 " ".join(str(r["best_epoch"]) for r in of)])
    print(*rows[-1], sep="  ")
torch = runs["usual"][0]["torch"]
if "JSON" in os.environ:
    json.dump({**origin, "command": "make photos", "conditions":
        "resnet20 at 32x32, %s epochs, batch 32, one thread; trained on %d pictures of five classes, 240 to 16 of each, the best epoch "
        "by another 118, the accuracy on 500 that neither side has seen (its standard error by their number alone is 2 %%); PyTorch %s"
        % (os.environ["EPOCHS"], runs["usual"][0]["trained_on"], torch),
        "columns": ["", "accuracy, % (seeds 1 to " + str(n) + ")", "mean", "best epochs"], "rows": rows},
        open(os.environ["JSON"], "w"), indent=1, ensure_ascii=False)
if "TIMES" in os.environ:
    rows, command, shown = [], "", {"predict": "bnctl predict photos.bnm held/cat --top 1 --format csv",
                                    "serve": "bnctl serve photos.bnm"}
    for line in open("times"):
        if line.startswith("== "):
            command = line[3:].strip()
        elif m := re.match(r"-- (.*): (.*) s", line):
            rows.append([m[1], "`%s`" % shown.get(m[1], re.sub(r"/\S*/bnctl", "bnctl", command)), m[2]])
    json.dump({**origin, "command": "make photos", "conditions": "590 pictures; held-out: 500 others; serve: from its start to the first answer by HTTP",
               "columns": ["step", "command", "seconds"], "rows": rows}, open(os.environ["TIMES"], "w"), indent=1)
END
