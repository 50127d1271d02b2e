#!/usr/bin/env bash
# sweepstages.sh [BNCTL [RECIPES [SEED]]]: trains random recipes on one device and over random cuts, on one
# or two columns, resumes them with other stages, and predicts with both. Prints a line per recipe and
# fails unless all templates of a recipe, and all predictions with it, have the same bytes.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}")
recipes=${2:-10}
RANDOM=${3:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# one prints one of its arguments.
one() {
	shift $((RANDOM % $#))
	echo "$1"
}

# drawn fills recipe, data and model.
drawn() {
	model=$(one lenet-bn resnet20 unet-bn mobilenetv2)
	data=glyphs:45 batch=16
	[ "$model" = unet-bn ] && data=shapes:20 batch=8
	recipe=(--model "$model" --epochs 1 --batch $batch --replicas "$(one 4 5 8)" --lr 0.0005 --seed $((RANDOM % 9)))
	[ "$model" = mobilenetv2 ] && recipe+=(--size 64x64)
	recipe+=(--data "$data" --tail "$(one keep pad repeat drop)" --bn "$(one sync replica replica)")
	[[ "${recipe[*]}" = *"--bn replica"* ]] && recipe+=(--bn-min running)
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

# cut prints --stages and --devices: a number, or layers of the template one.bnm in their order.
cut() {
	local stages columns number
	number=$((2 + RANDOM % 3))
	columns=$(one 1 1 2)
	stages=$number
	if ((RANDOM % 2)); then
		stages=$("$bnctl" inspect one.bnm --text | grep -v ' = batch_norm(\| = dropout(' | sed -n 's/^  \([^ ]*\) = .*/\1/p' | tail -n +2 | awk -v n=$((number - 1)) -v seed=$RANDOM '
			BEGIN { srand(seed) } { name[NR] = $0 }
			END { for (i = 1; i <= NR; i++) if (rand() * (NR - i + 1) < n - got) { printf "%s%s", got++ ? "," : "", name[i] } }')
	fi
	echo "--stages $stages --devices $((number * columns))xcpu --threads 1"
}

train() { "$bnctl" train "${recipe[@]}" --quiet --overwrite "$@" >out 2>err || { cat err >&2; return 1; }; }
predict() { "$bnctl" predict one.bnm "$data" --logits --format npy "$@" 2>err | sha256sum || { cat err >&2; return 1; }; }
stages=$("$bnctl" train --help | grep -c -- --stages || true)

for i in $(seq "$recipes"); do
	drawn
	train --devices cpu --checkpoint one.bnc -o one.bnm
	sha256sum <one.bnm >templates
	predict >predictions
	cuts=()
	for _ in 1 2 3; do
		cut=$(cut)
		cuts+=("$cut")
		predict $cut --batch "$(one 3 16 64)" >>predictions
		[ "$stages" = 0 ] && continue
		train $cut --checkpoint c.bnc -o m.bnm
		sha256sum <m.bnm >>templates
	done
	[ "$(sort -u templates | wc -l)" = 1 ] || { echo "${recipe[*]}: templates differ: ${cuts[*]}" >&2; cat templates >&2; exit 1; }
	[ "$(sort -u predictions | wc -l)" = 1 ] || { echo "${recipe[*]}: predictions differ: ${cuts[*]}" >&2; exit 1; }
	echo "$(wc -l <templates) templates, $(wc -l <predictions) predictions  $(head -c 12 templates)  ${recipe[*]}"
done
