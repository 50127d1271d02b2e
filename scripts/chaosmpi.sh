#!/usr/bin/env bash
# chaosmpi.sh [BNCTL [DEVICES [RANKS [LAYERS]]]]: three "machines" that share nothing but a link (namespaces of network, processes,
# mounts and names, each with its own /tmp and /dev/shm), with a rank each under Open MPI. DEVICES (20) devices are
# killed or stopped on random machines during one run of two devices per rank, and during one of one device per rank.
# Then RANKS (10) times a rank is killed, or at every third time its interface goes down: all others have to be gone
# within the time-out plus 2 s, with exit code 1 and the name of the rank, and the run is resumed on another number of
# machines. LAYERS (3) devices are killed, and as many ranks, where each machine has other layers (--stages). Every run
# has to end with the template of an undisturbed one. DEVICES, RANKS or LAYERS of 0 leaves that part out.
# PATIENCE (3600) is how many seconds a run may take: a busy machine is no fault. Needs root, iproute2 and openmpi-bin.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}") devices=${2:-20} ranks=${3:-10} layers=${4:-3}
staged=() # options of runs on machines
timeout=8 # --device-timeout, in seconds
work=$(mktemp -d -t bnctl-chaos.XXXX)
trap down EXIT
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
		nsenter -t "$p" -m sh -c "mount --bind '$work' /mnt && mount -t tmpfs tmp /tmp && mount -t tmpfs shm /dev/shm &&
			mkdir -p '$work' && mount --move /mnt '$work'" # the work folder may be in /tmp
	done
	printf '#!/bin/bash\nh=$1; shift; exec nsenter -t "$(cat %s/m${h##*.}.pid)" -n -m -p -i -u -- /bin/sh -c "$*"\n' "$work" >agent
	chmod +x agent
	# A rank, which passes SIGTERM on and writes down what it says, with its exit code: a launcher may lose it.
	printf 'exec >%s/said.$OMPI_COMM_WORLD_RANK 2>&1; "$@" & p=$!; trap "kill -TERM $p" TERM; wait $p; code=$?
		while kill -0 $p 2>/dev/null; do wait $p; code=$?; done; echo "exit code $code"; exit $code\n' "$work" >rank
}
down() {
	pkill -KILL -f "^mpirun.openmpi .*$work/agent" || true
	for f in "$work"/m*.pid "$work"/m*.parent; do kill -9 "$(cat "$f")" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$work"
}
fail() { echo "chaosmpi.sh: $*" >&2; cat log said.* | tail -40 >&2; exit 1; }
sum() { sha256sum <"$1" | cut -c1-16; }

recipe=(--model mlp-bn --data glyphs:1600 --batch 32 --replicas 8)
# on MACHINES ARGUMENTS...: trains with one rank on each, which says its exit code.
on() {
	local m=$1 hosts=""; shift
	rm -f said.*
	for i in $(seq "$m"); do hosts+="10.78.0.$i,"; done
	nsenter -t "$(cat m0.pid)" -n env -u TMPDIR OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		timeout "${PATIENCE:-3600}" mpirun.openmpi \
		--mca plm_rsh_agent "$work/agent" --mca btl_tcp_if_include 10.78.0.0/24 --mca oob_tcp_if_include 10.78.0.0/24 \
		--mca mpi_yield_when_idle 1 --mca odls_base_sigkill_timeout 15 --bind-to none --host "${hosts%,}" -np "$m" \
		sh "$work/rank" \
		"$bnctl" train "${recipe[@]}" --threads 1 --device-timeout $timeout --checkpoint-every 5 "$@" "${staged[@]}"
}
# none reports whether no machine has a process of bnctl.
none() {
	for i in $(seq $n); do if inside $i pgrep -f "^$bnctl" >/dev/null; then return 1; fi; done
}
inside() { nsenter -t "$(cat m$1.pid)" -n -m -p -i -u "${@:2}"; }

# left says what is.
left() {
	for i in $(seq $n); do inside $i pgrep -af "^$bnctl" | cut -c1-150 >&2; done
	return 1
}

# undisturbed ARGUMENTS...: sets want to the template of one machine, which three have too.
undisturbed() {
	"$bnctl" train "${recipe[@]}" "$@" --quiet -o one.bnm --overwrite >log 2>&1 || fail "one machine"
	want=$(sum one.bnm)
	on 3 "$@" -o "$work/r.bnm" --overwrite >log 2>&1 || fail "three machines"
	[ "$(sum r.bnm)" = "$want" ] || fail "three machines have another template"
	echo "three machines, $*: $want"
	rm -f r.bn*
}

# hurt COUNT ARGUMENTS...: kills and stops so many devices during one run, every 20 to 30 steps.
hurt() {
	local count=$1 killed=0 stopped=0 next=5 job; shift
	rm -f said.*
	on 3 "$@" --log-every 1 -o "$work/r.bnm" --overwrite >log 2>&1 &
	job=$!
	while kill -0 $job 2>/dev/null && [ $((killed + stopped)) -lt "$count" ]; do
		sleep 0.0$((RANDOM % 10))
		[ "$(steps)" -ge $next ] || continue
		if [ $(((killed + stopped) % 2)) = 0 ]; then
			if hit KILL; then killed=$((killed + 1)) next=$((next + 20 + RANDOM % 10)); fi
		elif hit STOP; then stopped=$((stopped + 1)) next=$((next + 20 + RANDOM % 10)); fi
	done
	wait $job || fail "a run with $killed devices killed, $stopped stopped"
	[ $((killed + stopped)) = "$count" ] || fail "it ended before $count devices were killed"
	[ "$(sum r.bnm)" = "$want" ] || fail "after $killed devices were killed and $stopped stopped there is another template"
	echo "$killed devices killed, $stopped stopped, $*: $want"
}
# hit SIGNAL: a device of a random machine that is not stopped already.
hit() { inside $((1 + RANDOM % n)) pkill -"$1" -n -r R,S,D -f "^$bnctl serve-device"; }
# steps says how many are done.
steps() { grep -hos ' step [0-9]*' said.0 | tail -1 | cut -c7- | grep . || echo 0; }

# lose K: a rank is lost, and the run is resumed.
lose() {
	local k=$1 what=killed m=$((2 + $1 % 2)) job began took
	rm -f r.bn*
	on 3 "${length[@]}" -o "$work/r.bnm" >log 2>&1 &
	job=$!
	for _ in $(seq 1200); do [ -s r.bnc ] && break; sleep 0.1; done
	sleep 0.$((RANDOM % 10))
	if [ $((k % 3)) = 0 ]; then
		what="cut off"
		inside $m ip link set eth0 down
	else
		inside $m pkill -KILL -f "$bnctl train" || fail "no rank to kill"
	fi
	began=$(date +%s%N)
	until none; do
		sleep 0.1
		took=$((($(date +%s%N) - began) / 1000000))
		[ $took -le $((1000 * (timeout + 2))) ] || left || fail "a process is left $took ms after rank $((m - 1)) was $what"
	done
	took=$((($(date +%s%N) - began) / 1000000))
	# The launcher itself waits for a machine that it cannot reach.
	[ "$what" = killed ] || { sleep 1; pkill -KILL -f "^mpirun.openmpi .*$work/agent" || true; }
	if wait $job; then fail "a job without machine $m has succeeded"; fi
	grep -Eqh "rank $((m - 1)) is gone|gone.*, or rank $((m - 1))[:,]" said.* || fail "nobody says that rank $((m - 1)) is gone"
	[ "$(cat said.* | grep -c '^exit code 1$')" -ge 2 ] || fail "the others have not ended with 1 after rank $((m - 1)) was $what"
	[ "$what" = killed ] || inside $m ip link set eth0 up
	on $((1 + k % 3)) "${length[@]}" --resume auto -o "$work/r.bnm" >log 2>&1 || fail "resumed"
	[ "$(sum r.bnm)" = "$want" ] || fail "resumed on $((1 + k % 3)) machines there is another template"
	echo "rank $((m - 1)) $what, all ended after $took ms, resumed on $((1 + k % 3)): $want"
}

up
if [ "$devices" -gt 0 ]; then
	length=(--steps $((30 * devices + 100)))
	undisturbed "${length[@]}"
	hurt "$devices" "${length[@]}" --devices 2xcpu
	hurt "$devices" "${length[@]}" --devices cpu
fi
length=(--steps 400)
[ "$ranks" = 0 ] || undisturbed "${length[@]}"
for k in $(seq "$ranks"); do lose "$k"; done
if [ "$layers" -gt 0 ]; then
	staged=(--stages auto) length=(--steps $((30 * layers + 100)) --bn replica --clip-norm 1)
	undisturbed "${length[@]}"
	hurt "$layers" "${length[@]}" --devices 2xcpu
	hurt "$layers" "${length[@]}" --devices cpu
	for k in $(seq "$layers"); do lose "$k"; done
fi
