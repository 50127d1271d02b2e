#!/usr/bin/env bash
# gputest.sh KIT OUT: runs the kit of gpu.sh on the CPU with tiny limits, the tests on the interpreter of PTX, and
# checks that every step has its line in steps.jsonl, that the steps which need no GPU succeed, that a step which fails
# (no PyTorch) and one that takes too long (conformance) stop no other, and that a sum which differs is named.
set -euo pipefail
kit=$(realpath "$1") out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
tar xJf "$kit/kit.tar.xz" -C "$work"
cp "$kit/gpu.sh" "$work/kit"
# The sum of mlp-bn is spoilt.
sed -i 's/^zoo\t......\(.*mlp-bn\)/zoo\t000000\1/' "$work/kit/recipes.tsv"
DEVICE=cpu BNCTL_PTX=instead PYTHON=/nowhere/python3 BUDGET=150 ROW=0.1 NETWORKS=resnet20 BATCHES='1 4' SIDE=32 \
	ONLY='lenet-bn --data glyphs:64|mlp-bn|norms.graph|int8' CASES='^relu' CONFORMANCE=. LIMIT_CONFORMANCE=1 \
	"$work/kit/gpu.sh" "$out" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

python3 - "$out" <<'END_OF_CHECK' || { cat "$work/log" "$out/errors.log"; exit 1; }
import json, os, sys
out = sys.argv[1]
steps = {s["step"]: s for s in map(json.loads, open(out + "/steps.jsonl"))}
want = {"driver": 0, "kernels": 1, "cases": 0, "conformance": 124, "training": 0, "zoo": 123, "mixed": 0, "int8": 0,
        "speed infer": 0, "torch infer": 1, "speed train": 0, "torch train": 1, "speed int8": 0,
        "graphs": 0, "launches": 0, "profile infer": 0, "profile train": 0, "profile of one": 0}
faults = ["%s: rc %s, want %s" % (n, steps[n]["rc"] if n in steps else "(no line)", rc) for n, rc in want.items()
          if n not in steps or steps[n]["rc"] != rc]
faults += ["%s has no %s" % (n, k) for n, s in steps.items() for k in ("rc", "seconds", "limit", "figures") if k not in s]


def compare(step, **figures):
    got = {k: steps.get(step, {}).get("figures", {}).get(k) for k in figures}
    if got != figures:
        faults.append("%s: %s, want %s" % (step, got, figures))


compare("zoo", planned=2, trained=2, same=1, differ=1, failed=0)
compare("mixed", planned=1, trained=1, same=1, differ=0, failed=0)
compare("int8", trained=2, same=2, differ=0)
compare("speed infer", planned=2, measured=2)
compare("speed train", planned=2, measured=2)
compare("graphs", measured=4)
if not {"launch_host_us", "replay_host_us", "write_gb_per_s"} <= set(steps["launches"]["figures"]):
    faults.append("launches: figures %s" % steps["launches"]["figures"])
if not 0 <= steps["profile train"]["figures"].get("nodes_ms", -1):
    faults.append("profile train has no time of nodes: %s" % steps["profile train"]["figures"])
compare("cases", failed=0)
if not steps["cases"]["figures"]["passed"]:
    faults.append("no case ran")
summary = open(out + "/summary.md").read()
if "zoo on cpu: 6c48db357d0b2f38, stored 000000" not in summary or "5 of 6 are the stored ones" not in summary:
    faults.append("the summary does not name the sum that differs:\n" + summary)
files = sorted(os.listdir(out))
if len(files) > 8 or sum(os.path.getsize(os.path.join(out, f)) for f in files) > 1 << 20:
    faults.append("more than 8 small files: %s" % files)
print("\n".join(faults) or "%d steps, each with its line" % len(steps))
sys.exit(1 if faults else 0)
END_OF_CHECK
