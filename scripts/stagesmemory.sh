#!/usr/bin/env bash
# stagesmemory.sh [BNCTL [DEVICE [NETWORK [BATCH [MIB]]]]]: trains a network on CPU devices (DEVICE is the executable
# of the plugin) to which the kernel gives that memory: one of them refuses before it trains, two have the
# layers as stages (STAGES, 2 and auto), and make the template of a device without a limit; of 2 stages each peaks at
# 0.6 of one device without a limit at most. Wants Linux, and the right to make cgroups.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}")
device=$(realpath "${2:-bin/bnctl-device-cpu}")
network=${3:-resnet50} batch=${4:-32} mib=${5:-2000}
work=$(mktemp -d)
groups=$work/groups
trap 'for g in $(cat "$groups" 2>/dev/null); do rmdir "$g" 2>/dev/null || true; done; rm -rf "$work"' EXIT
if [ -d /sys/fs/cgroup/memory ]; then # version 1
	root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes
else
	root=/sys/fs/cgroup limit=memory.max peak=memory.peak
fi
mkdir "$root/bnctl.$$" && rmdir "$root/bnctl.$$" || { echo "cgroups cannot be made in $root" >&2; exit 1; }

# A plugin is a process: this one gives itself a group with a limit first.
plugin() { # NAME MIB
	cat >"$work/bnctl-device-$1" <<-END
		#!/bin/sh
		group=$root/bnctl.$$.\$\$
		mkdir \$group && echo \$group >>$groups && echo \$(($2 << 20)) >\$group/$limit && echo \$\$ >\$group/cgroup.procs || exit 1
		exec $device "\$@"
	END
	chmod +x "$work/bnctl-device-$1"
}
plugin small "$mib"
plugin large 1048576

# train DEVICES OUT FLAGS: two steps of replicas of their own batch norm.
train() {
	: >"$groups"
	local name=${1#2x} devices=$1 out=$2
	shift 2
	"$bnctl" train --model "$network" --data glyphs:$((2 * batch)) --size 224x224 --batch "$batch" --replicas 8 --bn replica \
		--steps 2 --lr 0.001 --threads 1 --recompute none --overwrite --device-plugin "$work/bnctl-device-$name" --allow-unlocked \
		--devices "$devices" -o "$work/$out" "$@" >"$work/out" 2>&1
}
# peaks prints what the kernel has counted of the processes that trained, in MiB, the largest of each group.
peaks() { for g in $(cat "$groups"); do echo $(($(cat "$g/$peak") >> 20)); done | awk '$1 > 64' | paste -sd' '; }

train large one.bnm
one=$(peaks)
echo "$network, a batch of $batch in 8 replicas, one device without a limit: $one MiB"
if train small refused.bnm; then
	echo "one device of $mib MiB has trained it" >&2
	exit 1
fi
echo "one device of $mib MiB: $(grep '^bnctl: ' "$work/out")"
for stages in ${STAGES:-2 auto}; do
	train 2xsmall two.bnm --stages $stages --plan || { cat "$work/out" >&2; exit 1; }
	grep '^stages\? [1-9w]' "$work/out"
	two=$(peaks)
	echo "two devices of $mib MiB, --stages $stages: $two MiB"
	for each in $two; do
		[ "$stages" = auto ] || ((10 * each <= 6 * one)) || { echo "$each MiB are more than 0.6 of $one" >&2; exit 1; }
	done
	[ "$(sha256sum <"$work/one.bnm")" = "$(sha256sum <"$work/two.bnm")" ] || { echo "the templates differ" >&2; exit 1; }
done
echo "one template: $(sha256sum <"$work/one.bnm" | head -c 16)"
