#!/usr/bin/env bash
# chaosmachines.sh [BNCTL [SLOWLINK]]: a host and two machines that offer devices (bnctl devices serve), in namespaces of
# network, processes and mounts, each with its own /tmp. The host reaches them over a slow network: 1 Gbit/s and 1 ms each
# way, or 100 Mbit/s and 20 ms (scripts/slowlink, since not every kernel can delay packets). Twelve recipes are trained
# on the host's own CPU, and then RUNS (5) times on each network, each time disturbed at random: machines join, leave by
# SIGTERM, are killed, stopped, or cut off, and come back; at every fifth run the host is killed as well, and resumed in
# the namespace of another machine. Each run must have the template of the host alone. All recipes are run once on both
# networks, then again, so that an early end leaves some runs of each. A run in which no device is lost and none joins is
# made again. A line for each run goes to the file KEEP (bin/chaos-machines), whose runs are not repeated. JSON names a
# file of docs/results that is written from KEEP at the end, also at an early one.
# ONLY picks recipes by a regular expression, SEED another chance. Needs root and iproute2.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}") slowlink=$(realpath "${2:-bin/slowlink}")
[ -z "${JSON:-}" ] || JSON=$(realpath -m "$JSON")
lines=$(realpath -m "${KEEP:-bin/chaos-machines}"); mkdir -p "$(dirname "$lines")"; touch "$lines"
work=$(mktemp -d)
trap down EXIT
cd "$work"
cp "$bnctl" bnctl && cp "$slowlink" slowlink && bnctl=$work/bnctl

recipes=(
	"" "--bn replica" "--bn frozen --init first.bnm" "--accumulate 2" "--precision bf16" "--augment mixup:0.2"
	"--ema 0.9 --optimizer adamw" "--bn replica --bn-update posthoc" "--weight-sync template" "--tail pad"
	"--bn replica --weight-sync periodic:4 --bn-update posthoc" "--bn-precise 200"
)
common=(--model lenet-bn --data glyphs:700 --epochs 4 --batch 64 --replicas 4 --lr 0.05 --threads 1 --view=false)

# Names of machines: m1 has the host, m2 and m3 have devices, m4 has the host that resumes.
up() {
	unshare --net sleep infinity & echo $! >m0.pid
	sleep 0.3
	local at; at="nsenter -t $(cat m0.pid) -n"
	$at ip link add sw0 type bridge; $at ip link set sw0 up
	for i in 1 2 3 4; do
		unshare --net --mount --pid --fork --mount-proc sleep infinity & echo $! >m$i.parent
		for _ in $(seq 50); do pgrep -P "$(cat m$i.parent)" >m$i.pid && break; sleep 0.1; done
		local p; p=$(cat m$i.pid)
		$at ip link add vm$i type veth peer name eth0 netns "$p"; $at ip link set vm$i master sw0 up
		nsenter -t "$p" -n ip addr add 10.79.0.$i/24 dev eth0; nsenter -t "$p" -n ip link set eth0 up
		nsenter -t "$p" -n ip link set lo up
		nsenter -t "$p" -m sh -c "mount --bind '$work' /mnt && mount -t tmpfs tmp /tmp && mkdir -p '$work' && mount --move /mnt '$work'"
	done
}
down() {
	[ -z "${JSON:-}" ] || [ ! -s "$lines" ] || summary
	for f in "$work"/m*.pid "$work"/m*.parent; do kill -9 "$(cat "$f")" 2>/dev/null || true; done
	for p in $(jobs -p) $(pgrep -f "^nsenter .*$work/"); do kill -9 "$p" 2>/dev/null || true; done # they stop with their child
	wait 2>/dev/null || true
	rm -rf "$work"
}
inside() { nsenter -t "$(cat m$1.pid)" -n -m -p -- "${@:2}"; }
sum() { sha256sum <"$1" | cut -c1-16; }
fail() { echo "chaosmachines.sh: $*" >&2; tail -n 30 log >&2; exit 1; }

# begin NAME I COMMAND...: runs a command in machine I. Its process there has the number in the file NAME.
begin() { exec nsenter -t "$(cat "m$2.pid")" -n -m -p -- sh -c "echo \$\$ >$work/$1; exec \"\$@\"" sh "${@:3}"; }
# signal NAME I SIGNAL: sends a signal to the process NAME in machine I.
signal() { inside "$2" kill "-$3" "$(cat "$1")" 2>/dev/null || true; }

# offer I: machine I offers its devices. 2 has two, which add their sums there.
offer() {
	local devices=cpu
	[ "$1" = 2 ] && devices=2xcpu
	begin "serve$1" "$1" "$bnctl" devices serve --listen :7443 --devices $devices --threads 1 \
		--tls "$work/keys/device" >>"served$1" 2>&1 &
}
stop() { signal "serve$2" "$2" "$1"; }

# network RATE DELAY: the ways from the hosts in m1 and m4 to m2 and m3, at 127.0.0.1:7442 and 7443 there.
network() {
	for host in 1 4; do for i in 2 3; do
		[ ! -f "link$host$i" ] || signal "link$host$i" $host KILL
		begin "link$host$i" $host "$work/slowlink" -rate "$1" -delay "$2" 127.0.0.1:744$i 10.79.0.$i:7443 >/dev/null 2>&1 &
	done; done
	sleep 0.5
}

# host I ARGUMENTS...: trains in the namespace of machine I.
host() {
	begin host "$1" env TMPDIR=/tmp "$bnctl" train "${common[@]}" ${recipe//first.bnm/$work/first.bnm} --device-timeout 8 --devices-tls "$work/keys/host" \
		--devices-file "$work/machines" --checkpoint "$work/r.bnc" --checkpoint-every 4 -o "$work/r.bnm" "${@:2}"
}

# disturb JOB: adds a machine, and then does something to one every fifth of a second to two seconds while JOB runs, and prints what was done.
disturb() {
	local job=$1 i did=""
	sleep 1
	echo "127.0.0.1:7443" >>machines
	while kill -0 "$job" 2>/dev/null; do
		i=$((2 + RANDOM % 2))
		case $((RANDOM % 5)) in
		0) echo "127.0.0.1:744$i" >machines; sleep 3; echo "127.0.0.1:744$((5 - i))" >>machines; did+=" list$i" ;;
		1) stop KILL $i; offer $i; did+=" kill$i" ;;
		2) stop TERM $i; sleep 0.2; offer $i; did+=" leave$i" ;;
		3) stop STOP $i; sleep 1; stop CONT $i; did+=" stop$i" ;;
		4) inside $i ip link set eth0 down; sleep 1; inside $i ip link set eth0 up; did+=" cut$i" ;;
		esac
		sleep "$((RANDOM % 2)).$((2 + RANDOM % 8))"
	done
	echo "${did# }" >did
}

# run N: one disturbed run. Every fifth one loses its host.
run() {
	local job
	rm -f r.bn*
	echo "127.0.0.1:7442" >machines
	if [ $(($1 % 5)) = 0 ]; then
		host 1 --log-every 1 >log 2>&1 &
		job=$!
		disturb $job & local hand=$!
		for _ in $(seq 600); do [ -s r.bnc ] && break; kill -0 $job 2>/dev/null || break; sleep 0.1; done
		signal host 1 KILL
		wait $job || true
		wait $hand
		host 4 --resume auto >>log 2>&1 &
	else
		host 1 --log-every 1 >log 2>&1 &
	fi
	job=$!
	disturb $job & local hand=$!
	wait $job || fail "$recipe: the run ended with an error"
	wait $hand
}

# summary: writes the lines of KEEP as a file of docs/results.
summary() {
	python3 - "$lines" "$JSON" "$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs)" <<'EOF'
import collections, datetime, json, re, sys
lines, path, processor = sys.argv[1:]
runs = collections.defaultdict(list)
for line in open(lines):
    network, recipe, _, got, how, figures, did = [x.strip() for x in line.split("|")]
    lost, joined = map(int, re.findall(r"\d+", figures))
    runs[recipe, network].append((got, how, lost, joined, did))
rows, total = [], 0
for recipe in dict.fromkeys(r for r, _ in runs):
    row = [recipe]
    for network in ("125000000 1ms", "12500000 20ms"):
        of = runs.get((recipe, network), [])
        total += len(of)
        row.append("%d of %d" % (sum(r[1] == "equal" for r in of), len(of)))
    both = [r for (name, _), of in runs.items() if name == recipe for r in of]
    row += [str(sum(r[2] for r in both)), str(sum(r[3] for r in both)), min(r[0] for r in both)]
    rows.append(row)
json.dump({"processor": processor, "command": "make chaos-machines", "measured": str(datetime.date.today()),
    "conditions": "%d of 120 runs; equal: the template of the host alone" % total,
    "columns": ["recipe", "equal at 1 Gbit/s, 1 ms", "at 100 Mbit/s, 20 ms", "devices lost", "joined or back", "sha256"],
    "rows": rows}, open(path, "w"), indent=1, ensure_ascii=False)
open(path, "a").write("\n")
EOF
}

# baseline RECIPE: the sum of the template that the host alone makes.
declare -A alone
baseline() {
	local key=${1:-sync}
	[ -z "${alone[$key]:-}" ] || return 0
	"$bnctl" train "${common[@]}" $1 --quiet -o one.bnm --overwrite >log 2>&1 || fail "$1: on one machine"
	alone[$key]=$(sum one.bnm)
}

up
"$bnctl" devices keys keys >/dev/null
"$bnctl" train --model lenet-bn --data glyphs:64 --epochs 1 --batch 32 --quiet -o first.bnm >/dev/null
for i in 2 3; do offer $i; done
RANDOM=${SEED:-1}
bad=0
for n in $(seq "${RUNS:-5}"); do
	for net in "125000000 1ms" "12500000 20ms"; do
		network $net
		for recipe in "${recipes[@]}"; do
			[[ "$recipe" =~ ${ONLY:-} ]] || continue
			key="$net | ${recipe:-sync} | ${SEED:-1}.$n"
			grep -qF "$key | " "$lines" && continue
			baseline "$recipe"
			for _ in $(seq 8); do
				run "$n"
				got=$(sum r.bnm) want=${alone[${recipe:-sync}]}
				lost=$(grep -c ' lost at step' log || true) joined=$(grep -cE ' (joins|is back) at step' log || true)
				[ $((lost + joined)) = 0 ] && [ "$got" = "$want" ] || break
			done
			echo "$key | $got | $([ "$got" = "$want" ] && echo equal || echo OTHER) | lost $lost, joined $joined | $(cat did)" | tee -a "$lines"
			[ "$got" = "$want" ] || bad=1
		done
	done
done
exit $bad
