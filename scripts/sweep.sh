#!/usr/bin/env bash
# sweep.sh [BNCTL [PATTERN]]: trains one recipe per batch-norm mode, way of keeping statistics,
# tail and weight synchronisation on 1 to 8 devices, with 1 and 2 threads, at every
# data-plane level, with a device that is slowed down, and killed and resumed on other
# devices with another placement; prints a line per recipe and fails unless each has
# one template. PATTERN picks recipes. About ten minutes on two cores.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# 261 samples in batches of 64: the tail has 5 rows for 8 replicas.
common=(--model lenet-bn --data glyphs:261 --epochs 2 --batch 64 --replicas 8 --lr 0.05 --quiet)
recipes=(
	"--bn sync --tail keep" "--bn sync --tail pad" "--bn sync --tail drop --bn-precise 100"
	"--bn replica --tail keep" "--bn replica --tail repeat" "--bn replica --bn-stats mean" "--bn replica --bn-stats first"
	"--bn replica --bn-update async:3" "--bn replica --bn-update posthoc --bn-stats mean"
	"--weight-sync template" "--weight-sync periodic:2 --bn replica"
	"--weight-sync periodic:3 --bn replica --bn-update posthoc"
	"--weight-sync async:2" "--weight-sync async:2 --bn replica --bn-update async:2"
)
levels=("stream/1" "stream/1 shm/1" "stream/1 shm/1 coll.shm/1")
bad=0

# train FLAGS...: one run of the recipe, whose template's sum joins the others
train() {
	# shellcheck disable=SC2086
	"$bnctl" train "${common[@]}" $recipe "$@" -o m.bnm >/dev/null 2>err || { cat err; return 1; }
	sha256sum <m.bnm >>sums
	runs=$((runs + 1))
}

# slowed FLAGS...: the same while one of its devices stands still most of the time
slowed() {
	# shellcheck disable=SC2086
	"$bnctl" train "${common[@]}" $recipe "$@" -o m.bnm >/dev/null 2>err &
	local host=$! device
	while kill -0 $host 2>/dev/null; do
		device=$(pgrep -P $host | head -1) || true
		[ -z "$device" ] || { kill -STOP "$device" && sleep 0.06; kill -CONT "$device"; } 2>/dev/null || true
		sleep 0.02
	done
	wait $host || { cat err; return 1; }
	sha256sum <m.bnm >>sums
	runs=$((runs + 1))
}

# moved STEP PLACEMENT FLAGS...: killed after a step, and resumed elsewhere
moved() {
	local stop=$1 placement=$2 host
	shift 2
	rm -f r.bnc
	mkfifo lines
	# shellcheck disable=SC2086
	"$bnctl" train "${common[@]}" $recipe --devices 2xcpu --placement 6,2 --checkpoint r.bnc --checkpoint-every 1 \
		--log-every 1 --json -o m.bnm >lines 2>err &
	host=$!
	while read -r line; do
		case $line in *'"event":"checkpoint"'*"\"step\":$stop}"*) kill -9 $host 2>/dev/null || true ;; esac
	done <lines
	wait $host 2>/dev/null || true
	rm lines
	"$bnctl" train --resume r.bnc --placement "$placement" --checkpoint r.bnc -o m.bnm --quiet "$@" >/dev/null 2>err ||
		{ cat err; return 1; }
	sha256sum <m.bnm >>sums
	runs=$((runs + 1))
}

for recipe in "${recipes[@]}"; do
	case $recipe in *"${2:-}"*) ;; *) continue ;; esac
	: >sums
	runs=0
	for devices in 1 2 3 4 5 6 7 8; do
		train --devices ${devices}xcpu --threads 1
	done
	for level in "${levels[@]}"; do
		flags=()
		for l in $level; do flags+=(--level "$l"); done
		train --devices 2xcpu "${flags[@]}"
		train --devices 3xcpu --threads 2 "${flags[@]}"
	done
	slowed --devices 3xcpu --threads 1
	moved 1 1,7 --devices 2xcpu
	moved 7 5,1,2 --devices 3xcpu
	different=$(sort -u sums | wc -l)
	[ "$different" = 1 ] || bad=1
	printf '%-62s %2d runs  %d template(s)  %s\n' "$recipe" $runs "$different" "$(sort -u sums | cut -c1-16 | paste -sd' ')"
done
exit $bad
