#!/usr/bin/env bash
# stagesopencl.sh [BNCTL]: trains resnet20 over stages on the CPU device and on OpenCL, in both orders, with each kind
# of batch norm, and with the OpenCL device killed after a step: the templates of one CPU device, by bytes. Wants
# bnctl-device-opencl beside BNCTL, and an OpenCL device.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# train RECIPE... -- FLAGS...: three steps, whose template is out.bnm.
train() {
	"$bnctl" train --model resnet20 --data glyphs:96 --batch 32 --replicas 4 --steps 3 --seed 1 --threads 1 --overwrite \
		-o out.bnm "$@" >out 2>err || { cat err >&2; exit 1; }
	sha256sum <out.bnm | head -c 16
}
# killed is train, with the process of a device killed after the first step.
killed() { # PROGRAM FLAGS
	local name=$1 pid victim= killed=
	shift
	: >err
	"$bnctl" train --model resnet20 --data glyphs:96 --batch 32 --replicas 4 --steps 3 --seed 1 --threads 1 --overwrite \
		--log-every 1 -o out.bnm "$@" >out 2>>err &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		if [ -z "$killed" ] && grep -q '^epoch [0-9]*  step 1 ' err; then
			for victim in $(pgrep -P $pid); do
				[[ $(readlink "/proc/$victim/exe") = */"$name" ]] && kill -9 "$victim" && killed=$victim
			done
		fi
		sleep 0.02
	done
	wait $pid || { cat err >&2; exit 1; }
	[ -n "$killed" ] && grep -q 'lost at step' err || { echo "no device was killed" >&2; cat err >&2; exit 1; }
	sha256sum <out.bnm | head -c 16
}

for bn in replica sync frozen; do
	recipe=(--bn $bn)
	[ $bn = frozen ] && recipe+=(--init first.bnm)
	one=$(train "${recipe[@]}" --devices cpu)
	[ $bn = replica ] && cp out.bnm first.bnm
	for devices in cpu,opencl:0 opencl:0,cpu; do
		two=$(train "${recipe[@]}" --devices $devices --stages 2)
		echo "--bn $bn --devices $devices --stages 2: $two, $one on cpu"
		[ "$one" = "$two" ] || exit 1
	done
	[ $bn = frozen ] && continue
	two=$(killed bnctl-device-opencl "${recipe[@]}" --devices cpu,opencl:0 --stages 2)
	echo "--bn $bn --devices cpu,opencl:0 --stages 2, opencl:0 killed: $two, $one on cpu"
	[ "$one" = "$two" ] || exit 1
done
