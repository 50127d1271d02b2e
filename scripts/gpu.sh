#!/usr/bin/env bash
# gpu.sh OUT: what a quarter of an hour with a GPU is used for: bits first, then speed, in BUDGET seconds (350).
# It runs from the kit that `make gpu-kit` builds, and needs bash, coreutils, awk, tar, xz (or python3) and the
# driver. Where python3 has PyTorch, speed is measured beside it. A step has a time limit; one that fails or takes too long does not stop
# the next. OUT then has, each written as results come:
#   steps.jsonl   a line for each step: rc (124: too long; null: no time was left), seconds, figures
#   sums.tsv      group, devices, sum, stored sum, seconds, recipe of each training
#   speed.tsv     program, network, mode, batch, images/s
#   profiles.txt, tests.log, errors.log, driver.txt, and summary.md at the end
# DEVICE (cuda:0) is the device, MIXED (DEVICE,cpu) what mixed trainings run on: DEVICE=opencl:0 and DEVICE=cpu try
# the script without a GPU, BNCTL_PTX=instead the tests on the interpreter of PTX. ONLY picks recipes, NETWORKS and
# BATCHES rows of speed, CASES cases, CONFORMANCE cases of conformance (CASES); SCALE multiplies the limits, ROW is
# how many seconds a row of speed runs, SIDE the side of pictures of the int8 network, LIMIT_CONFORMANCE the limit
# of conformance.
set -uo pipefail
export LC_ALL=C
self=$(realpath "$0")
: "${SCALE:=1}" "${BUDGET:=$((350 * SCALE))}" "${PYTHON:=python3}" "${DEVICE:=cuda:0}" "${LANES:=4}"
: "${ROW:=1}" "${BATCHES:=1 8 64}" "${ONLY:=.}" "${CASES:=.}" "${CONFORMANCE:=$CASES}" "${SIDE:=224}" "${LIMIT_CONFORMANCE:=150}"
: "${NETWORKS:=resnet50 mobilenetv2 efficientnet-b0 vit-b-16}"
[ -n "${MIXED:-}" ] || case $DEVICE in cpu) MIXED=2xcpu ;; *) MIXED=$DEVICE,cpu ;; esac
export SCALE PYTHON BUDGET DEVICE MIXED LANES ROW BATCHES ONLY CASES CONFORMANCE NETWORKS SIDE

# milliseconds is the time.
milliseconds() {
	local t=${EPOCHREALTIME/./}
	echo "${t%???}"
}

# json prints lines of standard input as a list of strings.
json() { awk 'BEGIN { printf "[" } { gsub(/[\\"]/, "\\\\&"); gsub(/[\001-\037]/, " ")
	printf "%s\"%s\"", (NR > 1 ? "," : ""), $0 } END { printf "]" }'; }

# step NAME SECONDS PART [ARGUMENT...]: runs a part of this script within a limit, and within the time until ends.
step() {
	local name=$1 limit=$(($2 * SCALE)) part=$3 began left rc=null log=$WORK/$1.log
	shift 3
	began=$(milliseconds)
	left=$(((ends - began) / 1000))
	[ "$limit" -le "$left" ] || limit=$left
	: >"$log"
	if [ "$limit" -ge 1 ]; then
		timeout -k 3 "$limit" bash "$self" --part "$part" "$@" >"$log" 2>&1 </dev/null
		rc=$?
	fi
	printf '{"step":"%s","rc":%s,"seconds":%d.%03d,"limit":%d,"figures":{%s}}\n' "$name" $rc \
		$((($(milliseconds) - began) / 1000)) $((($(milliseconds) - began) % 1000)) "$limit" \
		"$("figures_$part" "$log" "$@" 2>/dev/null)" >>"$OUT/steps.jsonl"
	[ $rc = 0 ] || { echo "== $name: rc $rc" && tail -c 4000 "$log"; } >>"$OUT/errors.log"
}

# ASKED is what driver.txt says of the card.
ASKED=name,driver_version,memory.total,memory.used,clocks.sm,clocks.max.sm,clocks.mem,power.limit,compute_mode

part_driver() {
	{
		grep -m 1 'model name' /proc/cpuinfo
		echo "$(nproc) CPUs, $(uname -sr)"
		case $DEVICE in cuda*) nvidia-smi --format=csv --query-gpu="$ASKED" || nvidia-smi ;; esac
		"$KIT/bnctl" version
		sha256sum "$KIT/bnctl" "$KIT/bnctl-device-cuda"
	} >"$OUT/driver.txt" 2>&1
	"$KIT/bnctl" devices list --json >"$WORK/devices" || return
	grep -o '"name":"[^"]*","id":"[^"]*","description":"[^"]*"' "$WORK/devices" >>"$OUT/driver.txt"
	grep -q "\"name\":\"${DEVICE%%:*}[^\"]*\",\"id\":\"[^\"]" "$WORK/devices" || { echo "there is no $DEVICE"; cat "$WORK/devices"; return 1; }
}

figures_driver() {
	printf '"device":%s' "$(sed -n "s/.*\"name\":\"${DEVICE%%:*}[^\"]*\".*\"description\":\"\([^\"]*\)\".*/\1/p" "$OUT/driver.txt" | json)"
}

# part_tests TEST SECONDS: the tests of cuda.test with a name.
part_tests() { "$KIT/cuda.test" -test.run "^TestHardware$1\$${3:-}" -test.v -test.timeout "$2s"; }

# figures_tests counts the cases, which are subtests; those of conformance and training are one level deeper.
figures_tests() {
	local deep='        '
	case $2 in Cases | Units) deep='    ' ;; esac
	printf '"planned":%s,"passed":%d,"failed":%d,"faults":%s,"slowest":%s,"last":%s' \
		"$(sed -n 's/.*: \([0-9]*\) cases.*/\1/p' "$1" | grep . || echo null)" \
		"$(grep -c "^$deep--- PASS" "$1")" "$(grep -c "^$deep--- FAIL" "$1")" \
		"$(sed -n "s/^$deep--- FAIL: \(.*\) (.*/\1/p" "$1" | head -40 | json)" \
		"$(sed -n "s/^$deep--- [A-Z]*: \(.*\) (\(.*\)s)$/\2 \1/p" "$1" | sort -rn | head -3 | json)" \
		"$(grep '^=== RUN' "$1" | tail -1 | sed 's/=== RUN *//' | json)"
	{ echo "== $2" && grep -v '^=== \|--- PASS' "$1" | tail -c 200000; } >>"$OUT/tests.log"
}

# part_kernels lists the registers and the memory that the driver's compiler gave each kernel.
part_kernels() { part_tests Kernels "$1"; }

figures_kernels() {
	sed -n 's/.*: \(\w*\): \([0-9]*\) registers, \([0-9]*\) bytes shared, \([0-9]*\) bytes of local memory/\1 \2 \3 \4/p' "$1" | awk '
		{ n++; if ($2 > r) r = $2; if ($4 > m) { m = $4; name = $1 } } $4 > 0 { local++ }
		END { printf "\"kernels\":%d,\"most_registers\":%d,\"with_local_memory\":%d,\"most_local_memory\":%d,\"of\":\"%s\"", n, r, local, m, name }'
	{ echo "== kernels" && grep registers "$1"; } >>"$OUT/tests.log"
}

# part_sums GROUP DEVICES LANES: trains the recipes of a group.
part_sums() {
	grep -P "^$1\t" "$KIT/recipes.tsv" | grep -E "$ONLY" |
		tr '\n' '\0' | xargs -0 -P "$3" -I{} timeout -k 3 $((60 * SCALE)) bash "$self" --part training {} "$2"
}

# part_training LINE DEVICES: one training.
part_training() {
	local group want recipe words sum began file
	IFS=$'\t' read -r group want recipe <<<"$1"
	began=$(milliseconds) file=$WORK/$BASHPID
	eval "words=($recipe)"
	cd "$KIT/data" && "$KIT/bnctl" train "${words[@]}" --devices "$2" --quiet --checkpoint "$file.bnc" -o "$file.bnm" >"$file.err" 2>&1 ||
		{ echo "$recipe on $2:"; cat "$file.err"; }
	sum=failed
	[ ! -s "$file.bnm" ] || sum=$("$KIT/plainsum" "$file.bnm" | cut -c1-${#want})
	rm -f "$file".*
	keep "$group" "$2" "$sum" "$want" "$began" "$recipe"
}

# keep GROUP DEVICES SUM WANT BEGAN RECIPE: keeps a sum, and fails unless it is the stored one.
keep() {
	printf '%s\t%s\t%s\t%s\t%d\t%s\n' "$1" "$2" "$3" "$4" $((($(milliseconds) - $5) / 1000)) "$6" >>"$OUT/sums.tsv"
	[ "$3" = "$4" ]
}

figures_sums() {
	awk -F'\t' -v group="$2" -v on="$3" -v all="$(grep -P "^$2\t" "$KIT/recipes.tsv" | grep -cE "$ONLY")" '
		$1 == group && $2 == on { n++; if ($3 == $4) same++; else if ($3 == "failed") failed++; else differ++ }
		END { printf "\"planned\":%d,\"trained\":%d,\"same\":%d,\"differ\":%d,\"failed\":%d", all, n, same, differ, failed }' "$OUT/sums.tsv"
}

# part_int8: the logits of 1,000 pictures by an int8 template.
part_int8() {
	local on began want rc=0
	want=$(awk -F'\t' '$1 == "int8" { print $2 }' "$KIT/recipes.tsv")
	cd "$WORK" && "$KIT/bnctl" train --model "$KIT/data/int8.graph" --data npy:"$KIT/data/pictures.npy,$KIT/data/classes.npy" \
		--batch 50 --steps 5 --quiet --checkpoint m.bnc -o m.bnm && "$KIT/bnctl" quantize m.bnm -o q.bnm || return
	for on in cpu "$DEVICE" "$MIXED"; do
		began=$(milliseconds)
		rm -f logits.npy
		"$KIT/bnctl" predict q.bnm "$KIT/data/pictures.npy" --logits -o logits.npy --devices "$on" >predict.log 2>&1 || cat predict.log
		keep int8 "$on" "$(tail -c 40000 logits.npy | sha256sum | cut -c1-${#want})" "$want" "$began" 'predict 1,000 pictures' || rc=1
	done
	return $rc
}

figures_int8() { figures_sums "$1" int8 "$DEVICE" | sed 's/.*"trained"/"trained"/'; }

# row NETWORK MODE BATCH LABEL MODEL...: measures one row of bnctl.
row() {
	local network=$1 mode=$2 batch=$3 label=$4 speed
	shift 4
	speed=$(timeout -k 3 $((25 * SCALE)) "$KIT/bnctl" bench "$@" --mode "$mode" --batch "$batch" --devices "$DEVICE" --seconds "$ROW" --json |
		sed -n 's/.*"images_per_s":\([0-9.e+]*\).*/\1/p')
	[ -n "$speed" ] || { echo "$label $network $mode $batch: no figure"; return 1; }
	printf '%s\t%s\t%s\t%s\t%.1f\n' "$label" "$network" "$mode" "$batch" "$speed" >>"$OUT/speed.tsv"
}

# part_speed MODE
part_speed() {
	local network batch rc=0
	for network in $NETWORKS; do
		for batch in $BATCHES; do row "$network" "$1" "$batch" bnctl "$network" || rc=1; done
	done
	return $rc
}

figures_speed() {
	awk -F'\t' -v mode="$2" -v planned=$(($(wc -w <<<"$NETWORKS") * $(wc -w <<<"$BATCHES"))) '$1 == "bnctl" && $3 == mode {
		s = s "," sprintf("\"%s %s\":%s", $2, $4, $5); n++ } END { printf "\"planned\":%d,\"measured\":%d%s", planned, n, s }' "$OUT/speed.tsv"
}

# part_launches measures launches one by one and as CUDA graphs, and transfers through pinned memory.
part_launches() { part_tests Launches "$1"; }

figures_launches() { sed -n 's/.*figure \(\w*\) \([0-9.]*\)$/"\1":\2/p' "$1" | paste -sd, | tr -d '\n'; }

# part_graphs measures rows of part_speed again, without CUDA graphs.
part_graphs() {
	local network batch mode rc=0
	export BNCTL_CUDA_GRAPHS=off
	for network in $(cut -d' ' -f1,2 <<<"$NETWORKS"); do
		for batch in "${BATCHES%% *}" "${BATCHES##* }"; do
			for mode in infer train; do row "$network" "$mode" "$batch" "without graphs" "$network" || rc=1; done
		done
	done
	return $rc
}

figures_graphs() {
	awk -F'\t' '$1 == "bnctl" { on[$2 $3 $4] = $5 } $1 == "without graphs" { n++
		s = s "," sprintf("\"%s %s %s\":%s,\"with graphs %s %s %s\":%s", $2, $3, $4, $5, $2, $3, $4, on[$2 $3 $4] ? on[$2 $3 $4] : "null") }
		END { printf "\"measured\":%d%s", n, s }' "$OUT/speed.tsv"
}

# part_torch MODE
part_torch() {
	"$PYTHON" -c 'import torch, torchvision' || { echo "$PYTHON has no PyTorch"; return 1; }
	"$PYTHON" -u "$KIT/gputorch.py" "$DEVICE" "$1" "$ROW" "$BATCHES" $NETWORKS | tee -a "$OUT/speed.tsv"
}

figures_torch() {
	awk -F'\t' -v mode="$2" '$1 ~ /^torch/ && $3 == mode { s = s "," sprintf("\"%s %s\":%s", $2, $4, $5); n++; v = $1 }
		END { printf "\"version\":\"%s\",\"measured\":%d%s", v, n, s }' "$OUT/speed.tsv"
}

# part_speed8: a network in int8 at the largest batch.
part_speed8() {
	local network=${NETWORKS%% *} batch=${BATCHES##* }
	cd "$WORK" && "$KIT/bnctl" train --model "$network" --data npy:"$KIT/data/x.npy,$KIT/data/y.npy" --size "${SIDE}x$SIDE" --batch 8 --steps 1 \
		--quiet --devices "$DEVICE" --checkpoint s.bnc -o s.bnm && "$KIT/bnctl" quantize s.bnm -o s8.bnm || return
	row "$network" infer "$batch" "bnctl int8" s8.bnm
}

# figures_speed8 has the images/s in int8, and how many times float32 of the same run that is.
figures_speed8() {
	awk -F'\t' '$1 == "bnctl" { float[$2 $3 $4] = $5 } $1 == "bnctl int8" { f = float[$2 $3 $4]
		printf "\"%s %s\":%s,\"of float32\":%s", $2, $4, $5, (f ? sprintf("%.2f", $5 / f) : "null") }' "$OUT/speed.tsv"
}

# part_profile MODE BATCH
part_profile() {
	echo "== ${NETWORKS%% *} $1 $2"
	"$KIT/bnctl" bench "${NETWORKS%% *}" --mode "$1" --batch "$2" --devices "$DEVICE" --seconds "$ROW" --profile
}

figures_profile() {
	cat "$1" >>"$OUT/profiles.txt"
	awk 'network && !p50 { p50 = $(NF - 2) } $1 == "model" { network = 1 } /^all of / { ms += $4 }
		END { printf "\"lines\":%d,\"p50_ms\":%s,\"nodes_ms\":%.3f,\"host_share\":%.3f", NR, p50, ms, 1 - ms / p50 }' "$1"
}

# summary compares what was found with the stored sums, and bnctl with PyTorch.
summary() {
	echo "# $DEVICE, $(grep -m 1 -o '"description":"[^"]*"' "$OUT/driver.txt" | tail -1 | cut -d'"' -f4)"
	printf '\n| step | rc | seconds | figures |\n|---|---|---|---|\n'
	sed 's/{"step":"\(.*\)","rc":\(.*\),"seconds":\(.*\),"limit":.*,"figures":{\(.*\)}}/| \1 | \2 | \3 | \4 |/; s/"//g' "$OUT/steps.jsonl"
	printf '\nSums that are not the stored ones:\n\n'
	awk -F'\t' '$3 != $4 { printf "- %s on %s: %s, stored %s: %s\n", $1, $2, $3, $4, $6; n++ } { all++ }
		END { printf "\n%d of %d are the stored ones.\n", all - n, all }' "$OUT/sums.tsv"
	printf '\n| network | mode | batch | bnctl | PyTorch, or our float32 for int8 | is |\n|---|---|---|---|---|---|\n'
	awk -F'\t' '$1 ~ /^torch/ { other[$2 $3 $4] = $5; next } $1 == "without graphs" { next } { name[++n] = $2; mode[n] = $3; batch[n] = $4; is[n] = $5; of[n] = $1
			if ($1 == "bnctl") float[$2 $3 $4] = $5 }
		END { for (i = 1; i <= n; i++) { o = of[i] == "bnctl" ? other[name[i] mode[i] batch[i]] : float[name[i] mode[i] batch[i]]
			printf "| %s | %s | %s | %s | %s | %s |\n", name[i] (of[i] == "bnctl" ? "" : " in int8"), mode[i], batch[i], is[i], o,
				(o ? sprintf("%.2f", is[i] / o) : "") } }' "$OUT/speed.tsv"
}

# bits runs the tests and the trainings beside each other: time is no result of theirs.
bits() {
	ends=$((start + BUDGET * 600))
	{
		step cases 60 tests Cases $((60 * SCALE)) "/$CASES"
		step units 20 tests Units $((20 * SCALE)) "/$CASES"
		step conformance "$LIMIT_CONFORMANCE" tests Conformance $((150 * SCALE)) "/.*/$CONFORMANCE"
		step training 60 tests Training $((60 * SCALE)) "/$CASES"
	} &
	step zoo 120 sums zoo "$DEVICE" "$LANES"
	step mixed 60 sums mixed "$MIXED" 2
	step int8 30 int8
	wait
}

speeds() {
	local mode
	ends=$((start + BUDGET * 1000))
	step launches 15 launches $((15 * SCALE))
	for mode in infer train; do
		step "speed $mode" 45 speed "$mode"
		step "torch $mode" 45 torch "$mode"
	done
	step graphs 25 graphs
	step "speed int8" 25 speed8
	step "profile infer" 10 profile infer "${BATCHES##* }"
	step "profile train" 10 profile train "${BATCHES##* }"
	step "profile of one" 10 profile infer "${BATCHES%% *}"
}

main() {
	start=$(milliseconds)
	OUT=$(realpath "$1") KIT=$(dirname "$self") WORK=$(mktemp -d)
	export OUT KIT WORK
	trap 'rm -rf "$WORK"' EXIT
	mkdir -p "$OUT"
	if [ -e "$KIT/kit.tar.xz" ]; then
		tar xJf "$KIT/kit.tar.xz" -C "$WORK" ||
			python3 -m tarfile -e "$KIT/kit.tar.xz" "$WORK"
		KIT=$WORK/kit
	fi
	[ -x "$KIT/bnctl" ] || { echo "gpu.sh: $KIT has no bnctl; run make gpu-kit, and bin/gpu-kit/gpu.sh" >&2; exit 2; }
	for file in steps.jsonl sums.tsv speed.tsv profiles.txt tests.log errors.log; do : >"$OUT/$file"; done
	ends=$((start + BUDGET * 1000))
	step driver 30 driver
	step kernels 60 kernels $((60 * SCALE))
	bits
	speeds
	summary | tee "$OUT/summary.md"
}

case ${1:-} in
--part) part=part_$2 && shift 2 && "$part" "$@" ;;
"" | -*) echo "usage: gpu.sh OUT" >&2 && exit 2 ;;
*) main "$1" ;;
esac
