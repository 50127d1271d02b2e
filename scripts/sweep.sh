#!/usr/bin/env bash
# sweep.sh [BNCTL]: trains one recipe per batch-norm mode and tail on 1, 2, 3, 5 and 8
# devices, with 1 and 2 threads, at every data-plane level, and stopped and resumed on
# other devices; prints a line per recipe and fails unless each has one template.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# 261 samples in batches of 64: the tail has 5 rows for 8 replicas.
recipe=(--model lenet-bn --data glyphs:261 --epochs 2 --batch 64 --replicas 8 --lr 0.05 --quiet)
bad=0

for bn in sync replica; do
	for tail in keep pad repeat drop; do
		run() { "$bnctl" train "${recipe[@]}" --bn $bn --tail $tail "$@" >/dev/null; }
		: >sums
		runs=0
		for devices in 1 2 3 5 8; do
			for threads in 1 2; do
				for level in stream/1 shm/1; do
					run --devices ${devices}xcpu --threads $threads --level $level --checkpoint c.bnc -o m.bnm 2>/dev/null
					sha256sum <m.bnm >>sums
					runs=$((runs + 1))
				done
			done
		done
		for stop in 1 3 7; do # a run of so many steps, killed there, goes on elsewhere
			rm -f r.bnc
			{ "$bnctl" train "${recipe[@]}" --bn $bn --tail $tail --devices 2xcpu --checkpoint "$work/r.bnc" --checkpoint-every 1 \
				--log-every 1 --json -o m.bnm 2>/dev/null | while read -r line; do
				case $line in *'"event":"checkpoint"'*"\"step\":$stop}"*) pkill -9 -f "checkpoint $work/r.bnc" || true ;; esac
			done; } 2>/dev/null || true
			"$bnctl" train --resume r.bnc --devices 3xcpu --checkpoint r.bnc -o m.bnm --quiet >/dev/null
			sha256sum <m.bnm >>sums
			runs=$((runs + 1))
		done
		different=$(sort -u sums | wc -l)
		[ "$different" = 1 ] || bad=1
		printf '%-8s %-7s %2d runs  %d template(s)  %s\n' $bn $tail $runs "$different" "$(sort -u sums | cut -c1-16 | paste -sd' ')"
	done
done
exit $bad
