#!/bin/sh
# int8training.sh BNCTL DATA [FILE [EPOCHS [SEEDS]]]: trains a small network of depthwise layers on CIFAR-10 in
# float32, quantises it without data, on 512 training pictures and by --qat, and evaluates the templates on the
# 10,000 test pictures. DATA has cifar10/; FILE gets docs/results/int8-training.json (default: standard output).
set -eu
bnctl=$(realpath "$1") data=$(realpath "$2") file=${3:-/dev/stdout} epochs=${4:-10} seeds=${5:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/cifar"
tar -xzf "$data/cifar10/cifar10-jpg.tar.gz" -C "$work/cifar"
pictures=folder:$(dirname "$(find "$work/cifar" -type d -name train)")

# network WIDTHS... prints a graph: a convolution, then for each IN:OUT:STRIDE a depthwise and a pointwise one.
network() {
	awk -v blocks="$*" '
	function norm(name, c) {
		states = states sprintf("state %s.weight f32[%d] gamma ones\nstate %s.bias f32[%d] beta zeros\n", name, c, name, c)
		states = states sprintf("state %s.mean f32[%d] mean zeros\nstate %s.var f32[%d] variance ones\n", name, c, name, c)
	}
	function conv(name, x, out, per, k, attrs) {
		states = states sprintf("state %s.weight f32[%d,%d,%d,%d] weight he_normal(0)\n", name, out, per, k, k)
		norm(name ".bn", out)
		body = body sprintf("  %s = conv(%s, @%s.weight%s)\n", name, x, name, attrs)
		body = body sprintf("  %s.bn = batch_norm(%s, @%s.bn.weight, @%s.bn.bias, @%s.bn.mean, @%s.bn.var)\n",
			name, name, name, name, name, name)
		body = body sprintf("  %s.relu = clip(%s.bn, min=0, max=6)\n", name, name)
		return name ".relu"
	}
	BEGIN {
		n = split(blocks, block, " ")
		split(block[1], b, ":")
		x = conv("first", "image", b[1], 3, 3, ", pad=[1,1,1,1]")
		for (i = 1; i <= n; i++) {
			split(block[i], b, ":")
			x = conv("deep" i, x, b[1], 1, 3, sprintf(", groups=%d, stride=[%d,%d], pad=[1,1,1,1]", b[1], b[3], b[3]))
			x = conv("point" i, x, b[2], b[1], 1, "")
		}
		printf "bnctl graph 1\ngraph \"depthwise\"\n\n%s", states
		printf "state fc.weight f32[10,%d] weight he_normal(0)\nstate fc.bias f32[10] bias zeros\n\n", b[2]
		printf "func main(x rows u8[32,32,3]) {\n  image = image(x, mean=[0.5,0.5,0.5], std=[0.25,0.25,0.25])\n%s", body
		printf "  pool = global_avg_pool(%s)\n  flat = reshape(pool, shape=[%d])\n  fc = dense(flat, @fc.weight, @fc.bias)\n  return logits rows = fc\n}\n", x, b[2]
	}'
}

# accuracy TEMPLATE prints its accuracy, and the share of answers equal to float32.
accuracy() {
	"$bnctl" eval "$1" --data "$pictures" --against "$work/f.bnm" --json 2>/dev/null | grep '"event":"against"' |
		awk -v FS='[,:}]' '{ for (i = 1; i < NF; i++) v[$i] = $(i + 1)
			printf "%.2f %% (%.1f %%)", 100 * (v["\"accuracy\""] + v["\"difference\""]),
				100 * v["\"agreeing\""] / v["\"samples\""] }'
}

# one SEED prints the row of a seed.
one() {
	"$bnctl" train --model "$work/net.graph" --data "$pictures" --val "$pictures@test" --epochs "$epochs" --seed "$1" \
		--lr 0.1 --batch 128 --augment cifar --overwrite -o "$work/f.bnm" --json >"$work/f.log"
	"$bnctl" quantize "$work/f.bnm" -o "$work/free.bnm" >/dev/null 2>&1
	"$bnctl" quantize "$work/f.bnm" -o "$work/measured.bnm" --data "$pictures" >/dev/null 2>&1
	"$bnctl" train --qat --model "$work/f.bnm" --data "$pictures" --val "$pictures@test" --epochs 1 --seed "$1" \
		--lr 0.002 --batch 128 --augment cifar --overwrite -o "$work/trained.bnm" --json >"$work/q.log"
	float=$(accuracy "$work/f.bnm")
	printf '  ["%s", "%s %%", "%s", "%s", "%s"]' "$1" "${float%% *}" "$(accuracy "$work/free.bnm")" \
		"$(accuracy "$work/measured.bnm")" "$(accuracy "$work/trained.bnm")"
}

network 16:32:1 32:64:2 64:64:1 64:128:2 128:128:1 >"$work/net.graph"
{
	printf '{\n "processor": "%s",\n' "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
	printf ' "command": "make int8-training",\n "measured": "%s",\n' "$(date +%F)"
	printf ' "conditions": "a network of five depthwise blocks, relu6; %s epochs in float32, then 1 with --qat at a learning rate of 0.002; in brackets the ' "$epochs"
	printf 'share of answers equal to float32",\n'
	printf ' "columns": ["seed", "float32", "without data", "calibrated", "trained for int8"],\n "rows": [\n'
	first=yes
	for seed in $seeds; do
		[ $first ] || printf ',\n'
		first=
		one "$seed"
	done
	printf '\n ]\n}\n'
} >"$work/result"
cat "$work/result" >"$file"
