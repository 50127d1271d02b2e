#!/usr/bin/env bash
# sums.sh BNCTL DATA [SCALE [DEVICES...]]: trains recipes of several networks on each of DEVICES
# (default: cpu, opencl:0, and cpu,opencl:0 with the plugin of OpenCL killed), prints every
# template's sum, and fails unless those of a recipe are one. DATA has mnist/ and cifar10/; SCALE is
# the percentage of the full numbers of steps (default 100: hours on PoCL; 2: minutes). On a machine
# with a GPU: sums.sh bin/bnctl DATA 100 cpu cuda:0 cpu,cuda:0
# ONLY='resnet20.*replica' picks recipes. At least three steps are trained: the plugin dies after the
# first, and the others have to do without it.
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
bnctl=$(realpath "$1") data=$(realpath "$2") scale=${3:-100}
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
)

# train trains on a device and prints the sum; after kill: the plugin is killed once it has trained a step.
train() {
	local on=${1#kill:} process= killed=0
	"$bnctl" train $recipe --steps "$steps" --devices "$on" --checkpoint c.bnc --overwrite --log-every 1 --json -o m.bnm 2>err |
		while read -r line; do
			case $line in *'"event":"device"'*'"name":"opencl'* | *'"event":"device"'*'"name":"cuda'*)
				process=$(sed 's/.*"process":\([0-9]*\).*/\1/' <<<"$line") ;;
			*'"event":"step"'*) if [ "$1" != "$on" ] && [ $killed = 0 ]; then kill -9 "$process" && killed=1; fi ;;
			*'"event":"device_lost"'*) killed=2 ;;
			*'"event":"done"'*)
				[ "$1" = "$on" ] || [ $killed = 2 ] || { echo "$on: none was lost" >&2; exit 1; } ;;
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
		began=$SECONDS
		sum=$(train "$on") label=${recipe//$data\//}
		printf '%s  %-18s %4d steps, %5d s  %s\n' "$sum" "$on" "$steps" $((SECONDS - began)) "${label//$root\//}"
		[ "${first:=$sum}" = "$sum" ] || failed=1
	done
done
[ $failed = 0 ] || { echo "the sums differ" >&2; exit 1; }
