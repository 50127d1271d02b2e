#!/bin/sh
# int8accuracy.sh BNCTL DATA [FILE]: quantises three published networks, without data and on 512 training
# pictures, and evaluates them beside their float32 on the 10,000 test pictures of CIFAR-10. DATA has cifar10/
# and checkpoints/; FILE gets docs/results/int8-accuracy.json (default: standard output).
set -eu
bnctl=$(realpath "$1") data=$(realpath "$2") file=${3:-/dev/stdout}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/cifar"
tar -xzf "$data/cifar10/cifar10-jpg.tar.gz" -C "$work/cifar"
pictures=folder:$(dirname "$(find "$work/cifar" -type d -name train)")

# one NAME FILE PREPROCESS prints the row of a network.
one() {
	"$bnctl" strip "$data/checkpoints/$2" --preprocess "$3" -o "$work/f.bnm" >/dev/null 2>&1
	"$bnctl" quantize "$work/f.bnm" -o "$work/free.bnm" --json >"$work/free.json" 2>/dev/null
	"$bnctl" quantize "$work/f.bnm" -o "$work/measured.bnm" --data "$pictures" --json >"$work/measured.json" 2>/dev/null
	for q in free measured; do
		"$bnctl" eval "$work/$q.bnm" --data "$pictures" --against "$work/f.bnm" --json 2>/dev/null |
			grep '"event":"against"' >"$work/$q.against"
	done
	printf '  ["%s", "%s %%", "%s", "%s", "%s of %s"]' "$1" "$(percent free)" "$(answers free)" "$(answers measured)" \
		"$(field free.json bytes)" "$(field free.json bytes_before)"
}

# field FILE KEY prints the first number of a key.
field() { grep -o "\"$2\":[-0-9.e]*" "$work/$1" | head -1 | cut -d: -f2; }

# percent prints the accuracy in float32; answers that in int8, and how many answers agree.
percent() { awk -v a="$(field "$1.against" accuracy)" 'BEGIN { printf "%.2f", 100 * a }'; }
answers() {
	awk -v a="$(field "$1.against" accuracy)" -v d="$(field "$1.against" difference)" \
		-v n="$(field "$1.against" agreeing)" -v all="$(field "$1.against" samples)" \
		'BEGIN { printf "%.2f %% (%.1f %%)", 100 * (a + d), 100 * n / all }'
}

{
	printf '{\n "processor": "%s",\n' "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
	printf ' "command": "make int8-accuracy",\n "measured": "%s",\n' "$(date +%F)"
	printf ' "conditions": "ranges of calibrated templates are of 512 training pictures; in brackets the share of '
	printf 'answers that are those of float32",\n'
	printf ' "columns": ["network", "float32", "without data", "calibrated", "bytes of state"],\n "rows": [\n'
	one resnet20 pytorch/resnet20-12fca82f.th imagenet
	printf ',\n'
	one resnet56 pytorch/resnet56-4bfd9763.th imagenet
	printf ',\n'
	one "resnet8 of MLPerf Tiny" keras/mlperf_tiny_resnet8.h5 raw
	printf '\n ]\n}\n'
} >"$work/result"
cat "$work/result" >"$file"
