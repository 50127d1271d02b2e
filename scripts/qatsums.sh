#!/bin/bash
# qatsums.sh BNCTL: trains a small network for int8 on glyphs in several ways, which must give one template: on 1, 2 and
# 3 devices, killed and resumed on two, and with an OpenCL device where bnctl has one. The evaluation of the last epoch
# must equal that of the template to the last digit. There are three recipes: with fixed ranges, with ranges and batch
# norms that follow the training, and the same with the rows of a step in two rounds. DEVICES lists other devices, the
# first of which is cpu.
set -eu
bnctl=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
wrong=0
"$bnctl" train --model lenet-bn --data glyphs:400 --epochs 2 --batch 32 --lr 0.05 --seed 1 -o f.bnm >/dev/null 2>&1

# check NAME FILE compares a template with the first of its recipe.
check() {
	sum=$(sha256sum "$2" | cut -c1-16)
	first=${first:-$sum}
	if [ "$sum" = "$first" ]; then
		echo "$1: $sum"
	else
		echo "$1: $sum, want $first"
		wrong=1
	fi
}

figures() { grep -o "\"$1\":[0-9.eE+-]*" "$2" | tail -n 1 | cut -d: -f2; }

# trained NAME FLAGS... trains by a recipe in all ways.
trained() {
	echo "$1"
	shift
	first=
	recipe=(--qat --model f.bnm --data glyphs:400 --val glyphs:200 --lr 0.002 --seed 1 --device-timeout 600 --overwrite "$@")
	for devices in ${DEVICES:-cpu 2xcpu 3xcpu cpu,opencl:0}; do
		if ! "$bnctl" train "${recipe[@]}" --devices "$devices" -o "$devices.bnm" --json >"$devices.log" 2>&1; then
			echo "$devices: not run: $(tail -n 1 "$devices.log")"
			continue
		fi
		check "$devices" "$devices.bnm"
	done
	# killed after a checkpoint, resumed on other devices
	rm -f killed.bnc killed.bnm
	"$bnctl" train "${recipe[@]}" --checkpoint-every 5 -o killed.bnm >/dev/null 2>&1 &
	pid=$!
	for _ in $(seq 600); do
		[ -f killed.bnc ] && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	kill -9 "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	if [ -f killed.bnm ]; then
		echo "killed: it ended before it was killed"
		wrong=1
	fi
	"$bnctl" train --resume killed.bnc --devices 2xcpu -o killed.bnm >killed.log 2>&1 || tail -n 1 killed.log
	check "killed, resumed on 2xcpu" killed.bnm
	"$bnctl" eval cpu.bnm --data glyphs:200 --json >eval.log 2>&1
	grep '"event":"epoch"' cpu.log >epoch.log
	epoch=$(figures val_loss epoch.log) template=$(figures loss eval.log)
	echo "loss of the last epoch $epoch, of the template $template"
	[ "$epoch" = "$template" ] || wrong=1
}

trained "fixed ranges" --epochs 2 --batch 32
trained "ranges that follow, batch norms folded after an epoch" --epochs 4 --batch 32 --qat-ranges 2 --qat-fold 1
trained "the same in two rounds" --epochs 4 --batch 16 --accumulate 2 --qat-ranges 2 --qat-fold 1
exit $wrong
