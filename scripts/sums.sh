#!/usr/bin/env bash
# sums.sh BNCTL DATA [SCALE [DEVICES...]]: trains recipes of several networks on each of DEVICES
# (default: cpu, opencl:0, and cpu,opencl:0 with the plugin of OpenCL killed), prints every
# template's sum, and fails unless those of a recipe are one. DATA has mnist/ and cifar10/; SCALE is
# the percentage of the full numbers of steps (default 100: hours on PoCL; 2: minutes). On a machine
# with a GPU: sums.sh bin/bnctl DATA 100 cpu cuda:0 cpu,cuda:0
# ONLY='resnet20.*replica' picks recipes. At least three steps are trained: the plugin dies after the
# first, and the others have to do without it.
# avx2: before a device holds the CPU device to AVX2, purego: takes its plain Go, arm64: its build for arm64 under
# qemu-user, threads1: one thread. NETWORKS names a folder with files of scripts/peers/networks.py FOLDER 32
# efficientnet-b0 mobilenetv3-large convnext-tiny vit-4, which are trained, too. JSON=FILE keeps the sums for docs/results.
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
bnctl=$(realpath "$1") data=$(realpath "$2") scale=${3:-100}
[ -z "${NETWORKS:-}" ] || networks=$(realpath "$NETWORKS")
[ -z "${JSON:-}" ] || json=$(realpath "$JSON")
shift $(($# < 3 ? $# : 3))
devices=("${@:-}")
[ -n "${devices[0]}" ] || devices=(cpu opencl:0 kill:cpu,opencl:0)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# 64 made-up pictures of 64x64.
python3 - <<'END'
import random, struct
def npy(path, dtype, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (dtype, shape)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
npy("x.npy", "|u1", (64, 3, 64, 64), random.Random(1).randbytes(64 * 3 * 64 * 64))
npy("f.npy", "<f4", (64, 3, 32, 32), struct.pack("<196608f", *map(random.Random(2).gauss, [0] * 196608, [1] * 196608)))
npy("y.npy", "<i8", (64,), b"".join(struct.pack("<q", i % 10) for i in range(64)))
END

cifar="--model resnet20 --data cifar10:$data/cifar10/cifar10-jpg.tar.gz --augment cifar --batch 32 --replicas 4"
recipes=( # full steps, then the recipe
	"40 --model lenet-bn --data glyphs:512 --batch 32 --replicas 8 --lr 0.05"
	"469 --model lenet-bn --data mnist:$data/mnist --batch 128 --replicas 8"
	"100 $cifar" "100 $cifar --bn replica"
	"20 --model mobilenetv2 --data npy:x.npy,y.npy --size 64x64 --batch 8 --replicas 4"
	"20 --model resnet18 --data npy:x.npy,y.npy --size 64x64 --batch 8 --replicas 4"
	"10 --model $root/plugins/gpu/bitwise/norms.graph --data npy:f.npy,y.npy --batch 10 --replicas 4"
	"10 --model $root/plugins/gpu/bitwise/activations.graph --data npy:x.npy,y.npy --batch 8 --replicas 8"
)
for name in efficientnet-b0 mobilenetv3-large convnext-tiny vit-4; do
	[ ! -e "${networks:-}/$name.train.onnx" ] || recipes+=("10 --model $networks/$name.train.onnx --data npy:f.npy,y.npy --batch 8 --replicas 8")
done

# plugin NAME [BUILD FLAG...]: the CPU device in another build.
plugin() {
	local name=$1
	shift
	[ -e "bnctl-device-$name" ] || (cd "$root" && CGO_ENABLED=0 ${GO:-go} build "$@" -o "$work/$name" ./plugins/cpu/bnctl-device-cpu)
	# The kernel of this machine starts no process of another, but a script that does.
	printf '#!/bin/sh\nexec %s %s/%s "$@"\n' "${EMULATOR:-}" "$work" "$name" >"bnctl-device-$name"
	chmod +x "bnctl-device-$name"
	options+=(--device-plugin "$work/bnctl-device-$name" --allow-unlocked --device-timeout 36000)
}

# train trains on a device and prints the sum; after kill: the plugin is killed once it has trained a step.
train() {
	local on=${1#kill:} process= killed=0 godebug= options=()
	case $on in
	avx2:*) on=${on#*:} godebug=cpu.avx512f=off ;;
	threads1:*) on=${on#*:} options=(--threads 1) ;;
	purego:*) on=purego && plugin purego -tags purego ;;
	arm64:*) on=arm64 && EMULATOR=qemu-aarch64 GOARCH=arm64 plugin arm64 ;;
	esac
	GODEBUG=$godebug "$bnctl" train $recipe "${options[@]}"  --steps "$steps" --devices "$on" --checkpoint c.bnc --overwrite --log-every 1 --json -o m.bnm 2>err |
		while read -r line; do
			case $line in *'"event":"device"'*'"name":"opencl'* | *'"event":"device"'*'"name":"cuda'*)
				process=$(sed 's/.*"process":\([0-9]*\).*/\1/' <<<"$line") ;;
			*'"event":"step"'*) if [ "${1#kill:}" != "$1" ] && [ $killed = 0 ]; then kill -9 "$process" && killed=1; fi ;;
			*'"event":"device_lost"'*) killed=2 ;;
			*'"event":"done"'*)
				[ "${1#kill:}" = "$1" ] || [ $killed = 2 ] || { echo "$on: none was lost" >&2; exit 1; } ;;
			esac
		done || { cat err >&2; return 1; }
	sha256sum <m.bnm | cut -c1-64
}

failed=0
for entry in "${recipes[@]}"; do
	recipe=${entry#* } steps=$(((${entry%% *} * scale + 99) / 100))
	[[ $recipe =~ ${ONLY:-.} ]] || continue
	[ "$steps" -ge 3 ] || steps=3
	first=
	for on in "${devices[@]}"; do
		case $on$recipe in arm64:*.onnx*) continue ;; esac # qemu needs hours for it
		began=$SECONDS
		sum=$(train "$on") label=${recipe//$data\//}
		label=${label//${networks:-$root}\//} label=${label//$root\//}
		printf '%s  %-18s %4d steps, %5d s  %s\n' "$sum" "$on" "$steps" $((SECONDS - began)) "$label"
		printf '%s\t%s\t%s\n' "$label --steps $steps" "$on" "$sum" >>sums
		[ "${first:=$sum}" = "$sum" ] || failed=1
	done
done
[ -z "${json:-}" ] || python3 - "$json" <<'END'
import json, sys, time
rows = {}
for line in open("sums"):
    recipe, on, sum = line.rstrip("\n").split("\t")
    rows.setdefault((recipe, sum), []).append(on)
processor = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
json.dump({"processor": processor, "command": "scripts/sums.sh", "measured": time.strftime("%Y-%m-%d"),
           "conditions": "one sum on all devices of a row; class fma; the first digits of the template's sha256",
           "columns": ["recipe", "devices", "sha256"],
           "rows": [["`%s`" % recipe, ", ".join("`%s`" % d for d in on), sum[:16]] for (recipe, sum), on in rows.items()]},
          open(sys.argv[1], "w"), indent=1)
END
[ $failed = 0 ] || { echo "the sums differ" >&2; exit 1; }
