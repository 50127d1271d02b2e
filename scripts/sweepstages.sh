#!/usr/bin/env bash
# sweepstages.sh [BNCTL [RECIPES [SEED]]]: trains random recipes on one device and over random cuts, on one
# or two columns, one with every device killed in turn and one stopped and resumed with other stages, and
# predicts with all. Prints a line per recipe and fails unless all templates of a recipe, and all predictions
# with it, have the same bytes. MODELS are the networks to draw from. JSON=FILE keeps the sums for docs/results.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}")
[ -z "${JSON:-}" ] || JSON=$(realpath "$JSON")
recipes=${2:-10}
RANDOM=${3:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# one gives a variable one of the values behind its name. A subshell would draw from a series of its own, which no
# SEED repeats: what draws must not run in one.
one() { # NAME VALUE...
	local at=$((2 + RANDOM % ($# - 1)))
	printf -v "$1" %s "${!at}"
}

# drawn fills recipe, data and model. Tails and batch norms come by turns, so that each is there.
drawn() {
	local tails=(keep pad repeat drop) norms=(sync replica frozen replica)
	one model ${MODELS:-lenet-bn resnet20 unet-bn mobilenetv2}
	one replicas 4 5 8
	data=glyphs:45 batch=16
	extra=
	case $model in
	unet-bn) data=shapes:20 batch=8 ;;
	deeplabv3-*) data=shapes:12 batch=8 extra="--size 32x32 --aux-weight 0.4" ;;
	mobilenetv2) extra="--size 64x64" ;;
	esac
	recipe=(--model "$model" --epochs 2 --batch $batch --replicas "$replicas" --lr 0.0005 --seed $((RANDOM % 9)))
	recipe+=($extra)
	recipe+=(--data "$data" --tail "${tails[$1 % 4]}" --bn "${norms[($1 + $1 / 4) % 4]}")
	case "${recipe[*]}" in
	*"--bn replica"*) recipe+=(--bn-min running) ;;
	*"--bn frozen"*)
		"$bnctl" train --model "$model" --data "$data" --batch $batch --steps 2 --quiet --overwrite -o first.bnm $extra \
			>out 2>err || { cat err >&2; exit 1; }
		recipe+=(--init first.bnm)
		;;
	esac
	case $((RANDOM % 8)) in
	0) recipe+=(--clip-norm 0.5) ;;
	1) recipe+=(--optimizer adamw --clip-norm 1) ;;
	2) recipe+=(--optimizer lars) ;;
	3) recipe+=(--ema 0.9) ;;
	4) recipe+=(--bn-precise 24) ;;
	5) recipe+=(--label-smoothing 0.1 --decay-all) ;;
	6) recipe+=(--accumulate 2) ;;
	esac
}

# cut sets cut to --stages and --devices: a number, or layers of the template one.bnm in their order.
cut() {
	local stages columns number seed=$RANDOM
	number=$((2 + RANDOM % 3))
	one columns 1 1 2
	stages=$number
	if ((RANDOM % 2)); then
		stages=$("$bnctl" inspect one.bnm --text | grep -v ' = batch_norm(\| = dropout(' | sed -n 's/^  \([^ ]*\) = .*/\1/p' | tail -n +2 | awk -v n=$((number - 1)) -v seed=$seed '
			BEGIN { srand(seed) } { name[NR] = $0 }
			END { for (i = 1; i <= NR; i++) if (rand() * (NR - i + 1) < n - got) { printf "%s%s", got++ ? "," : "", name[i] } }')
	fi
	cut="--stages $stages --devices $((number * columns))xcpu --threads 1"
}

train() { "$bnctl" train "${recipe[@]}" --quiet --overwrite "$@" >out 2>err || { cat err >&2; return 1; }; }

# watched trains in the background and calls a function with the number of every step that is done.
watched() { # FUNCTION FLAGS
	local then=$1 at=0 done
	shift
	: >err # remove the errors of the run before
	"$bnctl" train "${recipe[@]}" --overwrite --log-every 1 "$@" >out 2>>err &
	pid=$! devices=()
	while kill -0 "$pid" 2>/dev/null; do
		done=$(grep -c '^epoch [0-9]*  step ' err || true)
		if [ "$done" -gt "$at" ]; then
			[ ${#devices[@]} -gt 0 ] || mapfile -t devices < <(pgrep -P "$pid" | sort -n)
			at=$done
			"$then" "$at"
		fi
		sleep 0.02
	done
	wait "$pid"
}
# killing kills another device after every step, until each was killed.
killing() { kill -9 "${devices[$1 - 1]:-}" 2>/dev/null && kills=$((kills + 1)) || true; }
# stopping stops the run once: a second signal would end it without a checkpoint.
stopping() { [ "$1" -gt "${stopped:=$1}" ] || kill -INT "$pid" 2>/dev/null || true; }

predict() { "$bnctl" predict one.bnm "$data" --logits --format npy "$@" 2>err | sha256sum || { cat err >&2; return 1; }; }
stages=$("$bnctl" train --help | grep -c -- --stages || true)

rows=()
for i in $(seq "$recipes"); do
	drawn $((i - 1))
	kills=0
	train --devices cpu --checkpoint one.bnc -o one.bnm
	sha256sum <one.bnm >templates
	predict >predictions
	cuts=()
	for _ in 1 2 3; do
		cut
		one rows 3 16 64
		cuts+=("$cut")
		predict $cut --batch "$rows" >>predictions
		[ "$stages" = 0 ] && continue
		train $cut --checkpoint c.bnc -o m.bnm
		sha256sum <m.bnm >>templates
	done
	if [ "$stages" != 0 ]; then
		cut
		cuts+=("killed: $cut")
		watched killing $cut --checkpoint k.bnc -o k.bnm || { cat err >&2; exit 1; }
		sha256sum <k.bnm >>templates
		cut
		cuts+=("stopped: $cut")
		stopped=
		rm -f s.bnc s.bnm
		stopped_on=$cut
		cut # one more whether the run is over before it is stopped or not
		if ! watched stopping $stopped_on --checkpoint s.bnc -o s.bnm; then
			[ -f s.bnc ] || { echo "${recipe[*]} ${cuts[*]}" && cat err; } >&2
			cuts+=("resumed: $cut")
			"$bnctl" train --resume s.bnc $cut -o s.bnm --quiet >out 2>err || { cat err >&2; exit 1; }
		fi
		sha256sum <s.bnm >>templates
	fi
	[ "$(sort -u templates | wc -l)" = 1 ] || { echo "${recipe[*]}: templates differ: ${cuts[*]}" >&2; cat templates >&2; exit 1; }
	[ "$(sort -u predictions | wc -l)" = 1 ] || { echo "${recipe[*]}: predictions differ: ${cuts[*]}" >&2; exit 1; }
	echo "$(wc -l <templates) templates, $kills kills, $(wc -l <predictions) predictions  $(head -c 16 templates)  ${recipe[*]}"
	printf '%s\n' "${cuts[@]}" | sed 's/^/    /'
	rows+=("  [\"\`${recipe[*]}\`\", \"$kills\", \"$(head -c 16 templates)\"]")
done
[ -z "${JSON:-}" ] || {
	printf '{\n "processor": "%s, %s cores",\n "command": "make sweep-stages",\n "measured": "%s",\n' \
		"$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$(date +%F)"
	printf ' "conditions": "each recipe on one device, over three random cuts on one or two columns, over one with its devices killed, and stopped and resumed with other stages: one template, and one prediction",\n'
	printf ' "columns": ["recipe", "devices killed", "sha256"],\n "rows": [\n%s\n ]\n}\n' "$(printf '%s,\n' "${rows[@]}" | sed '$ s/,$//')"
} >"$JSON"
