#!/usr/bin/env bash
# sums.sh BNCTL DATA [SCALE [DEVICES...]]: trains recipes of several networks on each of DEVICES
# (default: cpu, opencl:0, and cpu,opencl:0 with the plugin of OpenCL killed), prints every
# template's sum, and fails unless those of a recipe are one. DATA has mnist/ and cifar10/; SCALE is
# the percentage of the full numbers of steps (default 100: hours on PoCL; 2: minutes). On a machine
# with a GPU: sums.sh bin/bnctl DATA 100 cpu cuda:0 cpu,cuda:0
# ONLY='resnet20.*replica' picks recipes. At least three steps are trained: the plugin dies after the
# first, and the others have to do without it.
# avx2: before a device holds the CPU device to AVX2, purego: takes its plain Go, arm64: its build for arm64 under
# qemu-user, allarm64: bnctl, too, as built for arm64, threads1, threads2: that number of threads. resumed: kills the run
# once it has a checkpoint, which goes on; ranks3: trains on
# three ranks (mpirun.openmpi); stages2:2xcpu divides the layers over two devices; accumulate2: makes each step of two halves of batch and
# replicas: the template has
# another recipe, so that the weights alone are compared. NETWORKS names a folder with files of scripts/peers/networks.py FOLDER 32
# efficientnet-b0 mobilenetv3-large convnext-tiny vit-4, which are trained, too. JSON=FILE keeps the sums for docs/results.
# ZOO=1 takes every network of the zoo in place of those recipes, at its published size, the smallest first: 2 steps of
# training with 3 rows and with 1, and the logits of 3 rows and of 1 by the template that the first training makes.
# ZOO=short trains 1 step, which divides its work as two do. With ZOO, rows of other networks stay in the file JSON.
# SUMS=FILE keeps every sum as it comes: what has one of this BNCTL is not trained again (but beside accumulate, which
# compares weights). BUILDS=FOLDER keeps the builds of other processors, which must be of the same sources.
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
bnctl=$(realpath "$1") data=$(realpath "$2") scale=${3:-100}
[ -z "${NETWORKS:-}" ] || networks=$(realpath "$NETWORKS")
[ -z "${JSON:-}" ] || json=$(realpath "$JSON")
[ -z "${SUMS:-}" ] || SUMS=$(realpath "$SUMS")
build=$(sha256sum <"$bnctl" | cut -c1-16)
shift $(($# < 3 ? $# : 3))
devices=("${@:-}")
[ -n "${devices[0]}" ] || devices=(cpu opencl:0 kill:cpu,opencl:0)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
builds=$work
[ -z "${BUILDS:-}" ] || builds=$(realpath "$BUILDS")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$work"

python3 "$root/scripts/sumsdata.py" .
(cd "$root" && CGO_ENABLED=0 ${GO:-go} build -o "$work/plainsum" ./scripts/plainsum)

cifar="--model resnet20 --data cifar10:$data/cifar10/cifar10-jpg.tar.gz --batch 32 --augment"
table="--model resnet20 --size 32x32 --augment 'crop flip randaugment:2,9' --batch 12 --replicas 8 --data csv"
targets="--csv-columns target=age,target=height"
recipes=( # full steps, then the recipe, as a shell reads it
	"40 --model lenet-bn --data glyphs:512 --batch 32 --replicas 8 --lr 0.05"
	"469 --model lenet-bn --data mnist:$data/mnist --batch 128 --replicas 8"
	"100 $cifar cifar --replicas 4" "100 $cifar cifar --replicas 4 --bn replica"
	"20 --model mobilenetv2 --data npy:x.npy,y.npy --size 64x64 --batch 8 --replicas 4"
	"20 --model resnet18 --data npy:x.npy,y.npy --size 64x64 --batch 8 --replicas 4"
	"6 $cifar 'crop flip randaugment:2,9 mixup:0.2' --label-smoothing 0.1 --class-weights balanced --replicas 8"
	"16 --model resnet20 --data folder:photos --size 32x32 --augment 'resizedcrop flip rotate jitter trivial erase mixup:0.2 cutmix:1' --label-smoothing 0.1 --class-weights balanced --batch 44 --replicas 8"
	"6 $table:labels.csv --pos-weights balanced --label-smoothing 0.1"
	"6 $table:numbers.csv $targets --loss squared" "6 $table:numbers.csv $targets --loss absolute --bn replica"
	"6 $table:numbers.csv $targets --loss huber:0.5"
	"10 --model $root/plugins/internal/bitwise/norms.graph --data npy:f.npy,y.npy --batch 10 --replicas 8"
	"10 --model $root/plugins/internal/bitwise/activations.graph --data npy:x.npy,y.npy --batch 8 --replicas 8"
)
detector="6 --model yolox-nano --size 64x64 --data voc:$data/bccd.tar.gz --batch 6 --replicas 3"
small="--data voc:$data/bccd.tar.gz --augment segment --batch 3 --replicas 3"
[ ! -e "$data/bccd.tar.gz" ] || recipes+=("$detector --augment segment" "$detector --loss yolox --augment 'mosaic flip jitter'"
	"3 --model fcos-resnet50-fpn --size 64x64 $small" "3 --model retinanet-resnet50-fpn --size 64x64 $small"
	"3 --model retinanet-resnet50-fpn-v2 --size 64x64 $small" "3 --model ssdlite320-mobilenetv3-large --size 64x64 $small")
for name in efficientnet-b0 mobilenetv3-large convnext-tiny vit-4; do
	[ ! -e "${networks:-}/$name.train.onnx" ] || recipes+=("10 --model $networks/$name.train.onnx --data npy:f.npy,y.npy --batch 8 --replicas 8")
done

# photos takes a part of CIFAR with 300 to 20 pictures of a class.
photos() {
	local archive=$data/cifar10/cifar10-jpg.tar.gz pick
	tar tzf "$archive" | sort >names
	for pick in airplane:300 cat:150 ship:80 horse:40 frog:20; do
		grep "train/${pick%:*}/.*jpg$" names | sed -n "1,${pick#*:}p"
	done >picked
	tar xzf "$archive" -T picked
	mv "$(dirname "$(dirname "$(head -1 picked)")")" photos
}

# zoo writes the recipes of every network of the zoo. A prediction begins with its number of rows.
zoo() {
	local name size data
	"$bnctl" models list --json |
		sed 's/.*"name":"\([^"]*\)".*"input":"\([0-9]*x[0-9]*\)x.*"flops":\([0-9]*\).*"family":"\([^"]*\)".*/\3 \1 \2 \4/' |
		sort -n | while read -r _ name size data; do
		case $data in segmentation) data=shapes ;; detection) data=yolo:boxes ;; *) data=glyphs ;; esac
		size="--size $size"
		case $name in mlp-bn | lenet-bn) size= ;; esac
		echo "$zoosteps --model $name --data $data:6 $size --batch 3 --replicas 3"
		echo "$zoosteps --model $name --data $data:2 $size --batch 1 --replicas 1"
		echo "0 predict --model $name --data $data:3 $size"
		echo "0 predict --model $name --data $data:1 $size"
	done
}
zoosteps=2
[ "${ZOO:-}" != short ] || zoosteps=1
[ -z "${ZOO:-}" ] || mapfile -t recipes < <(zoo)

# plugin NAME [BUILD FLAG...]: the CPU device in another build.
plugin() {
	local name=$1
	shift
	[ -e "$builds/device-$name" ] ||
		(cd "$root" && CGO_ENABLED=0 ${GO:-go} build "$@" -o "$builds/device-$name" ./plugins/cpu/bnctl-device-cpu)
	# The kernel of this machine starts no process of another, but a script that does.
	printf '#!/bin/sh\nexec %s %s/device-%s "$@"\n' "${EMULATOR:-}" "$builds" "$name" >"bnctl-device-$name"
	chmod +x "bnctl-device-$name"
	options+=(--device-plugin "$work/bnctl-device-$name" --allow-unlocked --device-timeout 36000)
}

# whole makes program bnctl as built for an architecture, under qemu-user.
whole() {
	[ -e "$builds/bnctl-$1" ] ||
		(cd "$root" && GOARCH=$1 CGO_ENABLED=0 ${GO:-go} build -tags urfave_cli_no_docs -o "$builds/bnctl-$1" ./cmd/bnctl)
	program=(qemu-aarch64 "$builds/bnctl-$1")
}

# train trains on a device and prints the sum; after kill: the plugin is killed once it has trained a step.
train() {
	local how=${1%%:*} on=${1#*:} process= killed=0 godebug= launcher=() options=() words host program=("$bnctl")
	eval "words=($recipe)"
	case $how in
	avx2) godebug=cpu.avx512f=off ;;
	threads[0-9]*) options=(--threads "${how#threads}") ;;
	purego) on=purego && plugin purego -tags purego ;;
	arm64 | allarm64) on=arm64 && EMULATOR=qemu-aarch64 GOARCH=arm64 plugin arm64 ;;
	ranks*) launcher=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np "${how#ranks}") options=(--threads 1) ;;
	accumulate*) shares "${how#accumulate}" ;;
	resumed) options=(--checkpoint-every 1) ;;
	stages*) options=(--stages "${how#stages}") ;;
	kill) ;;
	*) on=$1 how= ;;
	esac
	[ "$how" != allarm64 ] || whole arm64
	[ -z "${ZOO:-}" ] || options+=(--device-timeout 3600) # a busy machine is no lost device
	rm -f events && mkfifo events
	GODEBUG=$godebug "${launcher[@]}" "${program[@]}" train "${words[@]}" "${options[@]}" --steps "$steps" --devices "$on" --checkpoint c.bnc \
		--overwrite --log-every 1 --json -o m.bnm 2>err >events &
	host=$!
	while read -r line; do
		case $how$line in
		kill*'"event":"device"'*'"name":"opencl'* | kill*'"event":"device"'*'"name":"cuda'*)
			process=$(sed 's/.*"process":\([0-9]*\).*/\1/' <<<"$line") ;;
		kill*'"event":"step"'*) if [ $killed = 0 ]; then kill -9 "$process" && killed=1; fi ;;
		kill*'"event":"device_lost"'*) killed=2 ;;
		resumed*'"event":"checkpoint"'*) if [ $killed = 0 ]; then kill -9 $host && killed=2; fi ;;
		esac
	done <events
	if ! wait $host 2>/dev/null; then
		# A batch norm behind a global pool has one value of one row.
		grep -q "one value per channel" err && { echo refused; return; }
		[ "$how $killed" = "resumed 2" ] && "$bnctl" train --resume c.bnc --checkpoint c.bnc --devices "$on" -o m.bnm >/dev/null 2>err || { cat err >&2; return 1; }
	fi
	case $how in kill | resumed) [ $killed = 2 ] || { echo "$1: none was lost" >&2; return 1; } ;; esac
	case ${ZOO:+${words[*]}} in *"--batch 3"*) cp m.bnm "${words[1]}.bnm" ;; esac # kept for its predictions
	"$work/plainsum" m.bnm | cut -c1-64
}

# predict prints the sum of the logits of a recipe's rows, by a template that is trained first if it is not there.
predict() {
	local how=${1%%:*} on=${1#*:} godebug= options=() words
	eval "words=(${recipe#predict })"
	local template="${words[1]}.bnm"
	[ -e "$template" ] || "$bnctl" train "${words[@]:0:3}" "${words[3]%:*}:6" "${words[@]:4}" --batch 3 --replicas 3 --steps $zoosteps \
		--quiet -o "$template" >/dev/null 2>err || { cat err >&2; return 1; }
	case $how in
	avx2) godebug=cpu.avx512f=off ;;
	threads[0-9]*) options=(--threads "${how#threads}") ;;
	*) on=$1 ;;
	esac
	rm -f out*.npy
	GODEBUG=$godebug "$bnctl" predict "$template" "${words[3]#yolo:}" --logits --devices "$on" "${options[@]}" -o out.npy >/dev/null 2>err ||
		{ cat err >&2; return 1; }
	cat out*.npy | sha256sum | cut -c1-64
}

# shares makes N batches of the recipe's, with as many replicas.
shares() {
	local i
	for i in "${!words[@]}"; do
		case ${words[i]} in --batch | --replicas) words[i + 1]=$((words[i + 1] / $1)) ;; esac
	done
	options=(--accumulate "$1")
}

# weights prints the sum of the weights of the last template.
weights() {
	rm -f m.safetensors
	"$bnctl" export m.bnm -o m.safetensors --quiet >/dev/null 2>err || { cat err >&2; return 1; }
	sha256sum <m.safetensors
}

# kept prints the sum that an earlier call kept of a recipe on a device.
kept() {
	case " ${devices[*]}" in *" accumulate"*) return ;; esac
	awk -F'\t' -v r="$1" -v d="$2" -v b="$build" '$1 == r && $2 == d && $4 == b { s = $3 } END { print s }' "$SUMS"
}

: "${SUMS:=$work/sums}"
touch "$SUMS"
failed=0
for entry in "${recipes[@]}"; do
	recipe=${entry#* } steps=$(((${entry%% *} * scale + 99) / 100))
	[[ $recipe =~ ${ONLY:-.} ]] || continue
	[ "$steps" -ge 3 ] || [ -n "${ZOO:-}" ] || steps=3
	case $recipe in *folder:photos*) [ -d photos ] || photos ;; esac
	first= same=
	replicas=${recipe##*--replicas } replicas=${replicas%% *}
	for on in "${devices[@]}"; do
		count=${on#*:} count=${count%%x*}
		case $recipe:$on in predict*) ;; *[0-9]xcpu) [ "$count" -le "$replicas" ] || continue ;; esac # every device needs a replica
		began=$SECONDS label=${recipe//${networks:-$root}\//}
		label=${label//$data\//} label=${label//$root\//}
		case $recipe in predict*) run=predict ;; *) run=train label="$label --steps $steps" ;; esac
		sum=$(kept "$label" "$on")
		if [ -z "$sum" ]; then
			sum=$($run "$on")
			case $on in accumulate*) [ "$(weights)" != "$same" ] || sum=$first ;; esac
			printf '%s\t%s\t%s\t%s\n' "$label" "$on" "$sum" "$build" >>"$SUMS"
			case "${devices[*]}" in *accumulate*) [ -n "$first" ] || same=$(weights) ;; esac
		fi
		[ -n "$first" ] || first=$sum
		printf '%s  %-18s %5d s  %s\n' "$sum" "$on" $((SECONDS - began)) "$label"
		[ "$first" = "$sum" ] || failed=1
	done
done
[ -z "${json:-}" ] || python3 - "$json" "$SUMS" "$build" "${devices[@]}" <<'END'
import json, os, sys, time
rows, ways = {}, {}
for line in open(sys.argv[2]):
    recipe, on, sum, build = line.rstrip("\n").split("\t")
    if build == sys.argv[3]:
        rows.setdefault((recipe, sum), []).append(on)
        ways.setdefault(recipe, {})[on] = sum
processor = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
table = {"processor": processor, "command": os.environ.get("COMMAND", "scripts/sums.sh"), "measured": time.strftime("%Y-%m-%d"),
         "conditions": "one sum on all devices of a row; class fma; the first digits of the template's sha256",
         "columns": ["recipe", "devices", "sha256"],
         "rows": [["`%s`" % recipe, ", ".join("`%s`" % d for d in on), sum[:16]] for (recipe, sum), on in rows.items()]}
if os.environ.get("ZOO"): # a row for every network, once all its sums are there
    networks, tried = {}, sys.argv[4:]
    for recipe, on in ways.items():
        words = recipe.split()
        name, size = words[words.index("--model") + 1], words[words.index("--size") + 1] if "--size" in words else "28x28"
        three = recipe.split(" --batch ")[-1].startswith("3") or recipe.startswith("predict") and ":3" in recipe
        column = (2 if recipe.startswith("predict") else 0) + (0 if three else 1)
        of, sums = networks.setdefault((name, size), {}), set(on.values())
        if column == 0:
            of["steps"] = words[words.index("--steps") + 1]
        if all(d in on or column == 1 and d.endswith(":2xcpu") for d in tried):
            of[column] = sums.pop()[:16] if len(sums) == 1 else "differs"
    rows = [["`%s`" % name, size, of["steps"]] + [of[c] for c in range(4)] for (name, size), of in networks.items() if len(of) == 5]
    table.update(conditions="one sum on all of %s (with one device for training with 1 row); class fma; the first digits of the sha256 "
                 "of the template, and of the logits" % ", ".join(tried), columns=["network", "size", "steps", "trained, 3 rows",
                 "trained, 1 row", "logits of 3 rows", "logits of 1"], rows=rows)
    if os.path.exists(sys.argv[1]):
        earlier, here = json.load(open(sys.argv[1])), {row[0] for row in rows}
        for key in ("processor", "command", "conditions"):
            table[key] = earlier[key] if table[key] in earlier[key] else earlier[key] + "; later rows: " + table[key]
        table["rows"] = [row for row in earlier["rows"] if row[0] not in here] + rows
json.dump(table, open(sys.argv[1], "w"), indent=1)
END
[ $failed = 0 ] || { echo "the sums differ" >&2; exit 1; }
