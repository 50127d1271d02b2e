#!/usr/bin/env bash
# sweep.sh [BNCTL [REGEX]]: trains one recipe per tail, per way of keeping statistics and per way
# of keeping weights together: on 1 to 8 devices, at every level, with 1 and 2 threads,
# with a device that is slow, and stopped and resumed on other devices and another
# placement. Prints a line per recipe and fails unless each has one template. REGEX picks
# recipes. About ten minutes on two cores.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# 133 samples in batches of 32: the tail has 5 rows for 8 replicas.
common=(--model lenet-bn --data glyphs:133 --epochs 2 --batch 32 --replicas 8 --lr 0.05 --quiet)
recipes=(
	"--tail keep" "--tail pad" "--tail repeat" "--tail drop"
	"--bn replica --tail keep" "--bn replica --tail pad" "--bn replica --tail repeat" "--bn replica --tail drop"
	"--bn replica --bn-stats mean" "--bn replica --bn-stats first" "--bn replica --bn-update async:3"
	"--bn replica --bn-update posthoc" "--bn replica --bn-min running" "--bn-precise 200"
	"--bn frozen --init first.bnm" "--weight-sync template" "--bn replica --weight-sync async:2"
	"--bn replica --weight-sync periodic:4 --bn-update posthoc" "--bn frozen --init first.bnm --weight-sync periodic:3"
	"--precision bf16" "--precision bf16 --bn replica --bn-update async:2" "--ema 0.9 --optimizer adamw" "--bn replica --ema 0.9 --optimizer lars --weight-sync periodic:3 --bn-update async:2"
)
levels=("--level stream/1" "--level shm/1" "") # the last: coll.shm/1 where there are several devices

run() { "$bnctl" train "${common[@]}" $recipe "$@" >/dev/null 2>err || { cat err >&2; return 1; }; }
sum() { sha256sum <"$1" >>sums; }

# everywhere trains on 1 to 8 devices: the levels in turn, all of them on 2 and 3.
everywhere() {
	for devices in 1 2 3 4 5 6 7 8; do
		for i in 0 1 2; do
			if [ $devices = 2 ] || [ $devices = 3 ] || [ $((devices % 3)) = $i ]; then
				run --devices ${devices}xcpu --threads $((1 + i % 2)) ${levels[$i]} --checkpoint c.bnc --overwrite -o m.bnm
				sum m.bnm
			fi
		done
	done
}

# slowly trains on three devices, one of which stands still half of the time.
slowly() {
	"$bnctl" train "${common[@]}" $recipe --devices 3xcpu --threads 1 --checkpoint c.bnc --overwrite -o m.bnm >/dev/null 2>err &
	local host=$! device
	while kill -0 $host 2>/dev/null; do
		if device=$(pgrep -n -P $host); then
			kill -STOP "$device" 2>/dev/null && sleep 0.02 && kill -CONT "$device" 2>/dev/null || true
		fi
		sleep 0.02
	done
	wait $host || { cat err >&2; return 1; }
	sum m.bnm
}

# resumed trains on two devices, is killed after so many steps, and goes on with another placement.
resumed() {
	rm -f r.bnc
	{ "$bnctl" train "${common[@]}" $recipe --devices 2xcpu --placement 7,1 --checkpoint "$work/r.bnc" --checkpoint-every 1 \
		--log-every 1 --json -o m.bnm 2>/dev/null | while read -r line; do
		case $line in *'"event":"checkpoint"'*"\"step\":$1}"*) pkill -9 -f "checkpoint $work/r.bnc" || true ;; esac
	done; } 2>/dev/null || true
	"$bnctl" train --resume r.bnc --devices 3xcpu --placement 2,5,1 --checkpoint r.bnc -o m.bnm --quiet >/dev/null
	sum m.bnm
}

"$bnctl" train "${common[@]}" --devices cpu -o first.bnm >/dev/null
bad=0
for recipe in "${recipes[@]}"; do
	[[ $recipe =~ ${2:-} ]] || continue
	: >sums
	everywhere
	slowly
	resumed 1
	resumed 6
	different=$(sort -u sums | wc -l)
	[ "$different" = 1 ] || bad=1
	printf '%-88s %2d runs  %d template(s)  %s\n' "$recipe" "$(wc -l <sums)" "$different" \
		"$(sort -u sums | cut -c1-16 | paste -sd' ')"
done
exit $bad
