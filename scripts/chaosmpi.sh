#!/usr/bin/env bash
# chaosmpi.sh [BNCTL [DEVICES [RANKS]]]: three "machines" that share nothing but a link (namespaces of network, processes,
# mounts and names, each with its own /tmp and /dev/shm), with a rank of one device each under Open MPI. DEVICES (20)
# devices are killed during one run; then RANKS (10) times a rank is killed, or at every third time its interface goes
# down, and the run is resumed on another number of machines. Every run has to end with the template of an undisturbed
# one, every killed one with the name of the rank and nothing left. Needs root, iproute2 and openmpi-bin.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}") devices=${2:-20} ranks=${3:-10}
work=$(mktemp -d /var/tmp/bnctl-chaos.XXXX) # not in /tmp, which every machine has for itself
cd "$work"
mkdir bin && cp "$bnctl" "$(dirname "$bnctl")/bnctl-fabric-mpi" bin && bnctl=$work/bin/bnctl
n=3

up() {
	unshare --net sleep infinity 2>/dev/null & echo $! >m0.pid
	sleep 0.3
	at="nsenter -t $(cat m0.pid) -n"
	$at ip link add sw0 type bridge; $at ip link set sw0 up; $at ip link set lo up; $at ip addr add 10.78.0.254/24 dev sw0
	for i in $(seq $n); do
		unshare --net --mount --pid --ipc --uts --fork --mount-proc sleep infinity 2>/dev/null & echo $! >m$i.parent
		for _ in $(seq 50); do pgrep -P "$(cat m$i.parent)" >m$i.pid && break; sleep 0.1; done
		local p; p=$(cat m$i.pid)
		$at ip link add vm$i type veth peer name eth0 netns "$p"; $at ip link set vm$i master sw0 up
		nsenter -t "$p" -n ip addr add 10.78.0.$i/24 dev eth0; nsenter -t "$p" -n ip link set eth0 up
		nsenter -t "$p" -n ip link set lo up; nsenter -t "$p" -u hostname m$i
		nsenter -t "$p" -m mount -t tmpfs tmp /tmp; nsenter -t "$p" -m mount -t tmpfs shm /dev/shm
	done
	printf '#!/bin/bash\nh=$1; shift; exec nsenter -t "$(cat %s/m${h##*.}.pid)" -n -m -p -i -u -- /bin/sh -c "$*"\n' "$work" >agent
	chmod +x agent
}
down() {
	for f in "$work"/m*.pid "$work"/m*.parent; do kill -9 "$(cat "$f")" 2>/dev/null || true; done
	rm -rf "$work"
}
trap down EXIT
fail() { echo "chaosmpi.sh: $*" >&2; tail -30 log >&2; exit 1; }
sum() { sha256sum <"$1" | cut -c1-16; }

# on MACHINES ARGUMENTS...: trains with one rank on each.
on() {
	local m=$1 hosts=""; shift
	for i in $(seq "$m"); do hosts+="10.78.0.$i,"; done
	nsenter -t "$(cat m0.pid)" -n env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 900 mpirun.openmpi \
		--mca plm_rsh_agent "$work/agent" --mca btl_tcp_if_include 10.78.0.0/24 --mca oob_tcp_if_include 10.78.0.0/24 \
		--mca mpi_yield_when_idle 1 --mca odls_base_sigkill_timeout 15 --bind-to none --host "${hosts%,}" -np "$m" \
		"$bnctl" train --model lenet-bn --data glyphs:1600 --epochs 2 --batch 32 --replicas 8 --threads 1 --device-timeout 8 \
		--checkpoint-every 5 "$@"
}
# none reports whether no machine has a process of bnctl.
none() {
	for i in $(seq $n); do if inside $i pgrep -f "^$bnctl" >/dev/null; then return 1; fi; done
}
inside() { nsenter -t "$(cat m$1.pid)" -n -m -p -i -u "${@:2}"; }

up
"$bnctl" train --model lenet-bn --data glyphs:1600 --epochs 2 --batch 32 --replicas 8 --quiet -o one.bnm >log 2>&1 || fail "one machine"
want=$(sum one.bnm)
on 3 -o "$work/r.bnm" >log 2>&1 || fail "three machines"
[ "$(sum r.bnm)" = "$want" ] || fail "three machines have another template"
echo "three machines: $want"

rm -f r.bn*
on 3 -o "$work/r.bnm" --overwrite >log 2>&1 &
job=$! killed=0
while kill -0 $job 2>/dev/null && [ $killed -lt "$devices" ]; do
	sleep 1.$((RANDOM % 10))
	m=$((1 + RANDOM % n)) signal=KILL
	if inside $m pkill -$signal -n -f "^$bnctl serve-device"; then killed=$((killed + 1)); fi
done
wait $job || fail "a run whose devices were killed"
[ "$(sum r.bnm)" = "$want" ] || fail "after $killed devices were killed there is another template"
echo "$killed devices killed: $want"

for k in $(seq "$ranks"); do
	rm -f r.bn*
	on 3 -o "$work/r.bnm" --overwrite >log 2>&1 &
	job=$! m=$((2 + k % 2))
	for _ in $(seq 1200); do [ -s r.bnc ] && break; sleep 0.1; done
	sleep 0.$((RANDOM % 10))
	what=killed
	if [ $((k % 3)) = 0 ]; then
		what="cut off"
		inside $m ip link set eth0 down
	else
		inside $m pkill -9 -f "^$bnctl train" || fail "no rank to kill"
	fi
	began=$SECONDS
	until none; do
		sleep 0.2
		[ $((SECONDS - began)) -le 11 ] || fail "something is left on a machine $((SECONDS - began)) s after rank $((m - 1)) was $what"
	done
	took=$((SECONDS - began))
	# The launcher itself waits for a machine that it cannot reach.
	[ "$what" = killed ] || pkill -KILL -f "^mpirun.openmpi .*$work/agent" || true
	if wait $job; then fail "a job without machine $m has succeeded"; fi
	grep -q "rank $((m - 1))" log || fail "nobody says that rank $((m - 1)) is gone"
	[ "$what" = killed ] || inside $m ip link set eth0 up
	on $((1 + k % 3)) --resume auto -o "$work/r.bnm" >log 2>&1 || fail "resumed"
	[ "$(sum r.bnm)" = "$want" ] || fail "resumed on $((1 + k % 3)) machines there is another template"
	echo "rank $((m - 1)) $what, all ended after $took s, resumed on $((1 + k % 3)): $want"
done
