#!/usr/bin/env bash
# mpi.sh short|sweep|bad [BNCTL]: trains recipes on ranks that Open MPI's and MPICH's mpirun start, and fails unless
# each has the template of one machine. sweep: twelve recipes on 1 to 4 ranks of 1 and 2 devices, each killed and
# resumed on another number of ranks under the other library; it prints a line per recipe. short: a handful, and bad
# input. A line of the log of every run has to say that each rank had rows and sent bytes: no rank trains alone.
# ONLY, a regular expression, picks recipes of a sweep. PATIENCE (900) is how many seconds a run may take: a busy
# machine is no fault.
set -euo pipefail
mode=${1:-short}
bnctl=$(realpath "${2:-bin/bnctl}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Copies: processes of these runs are told by their path from others of the same program.
mkdir bin && cp "$bnctl" "$(dirname "$bnctl")/bnctl-fabric-mpi" bin && bnctl=$work/bin/bnctl
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# 133 samples in batches of 32: the tail has 5 rows for 8 replicas.
common=(train --model lenet-bn --data glyphs:133 --val glyphs:40 --epochs 2 --batch 32 --replicas 8 --lr 0.05 --threads 1)
recipes=("--tail keep" "--tail repeat" "--bn replica --tail pad" "--weight-sync template" "--bn frozen --init first.bnm")
[ "$mode" != sweep ] || recipes+=("--tail drop" "--bn replica --bn-stats mean" "--bn replica --bn-update async:3" \
	"--bn replica --bn-stats first --bn-update posthoc" "--precision bf16" "--ema 0.9 --optimizer adamw --bn-precise 100" \
	"--accumulate 2 --replicas 4 --batch 16 --save best:accuracy --patience 9")

# mpirun LIBRARY RANKS COMMAND...: with more ranks than cores those that wait give way.
mpirun() {
	local library=$1 n=$2; shift 2
	case $library in
	openmpi) timeout "${PATIENCE:-900}" mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np "$n" "$@" ;;
	mpich) timeout "${PATIENCE:-900}" mpirun.mpich -np "$n" "$@" ;;
	esac
}
fail() { echo "mpi.sh: $*" >&2; cat log >&2; exit 1; }
sum() { sha256sum <"$1" | cut -c1-64; }

# without repeated options: what a recipe says of the batch replaces the common words.
words() {
	local all=("${common[@]}") recipe=($1) i
	for w in --batch --replicas; do
		case " $1 " in *" $w "*) for i in "${!all[@]}"; do
			if [ "${all[$i]}" = $w ]; then unset "all[$i]" "all[$((i + 1))]"; all=("${all[@]}"); break; fi; done ;; esac
	done
	cmd=("${all[@]}" "${recipe[@]}")
}

# ranks LIBRARY RANKS DEVICES: trains and compares.
ranks() {
	rm -f r.bnm r.bnc
	mpirun "$1" "$2" "$bnctl" "${cmd[@]}" --devices "$3xcpu" --fabric mpi -o r.bnm >log 2>&1 || fail "$recipe: $* failed"
	[ "$(sum r.bnm)" = "$want" ] || fail "$recipe: $* has another template"
	runs=$((runs + 1))
	if [ "$2" -gt 1 ]; then
		[ "$(grep -o '[1-9][0-9]* rows, [^·]* [1-9][0-9.]* MB sent' log | wc -l)" -ge "$2" ] || fail "$recipe: $*: a rank trains alone"
	fi
}

# staged LIBRARY RANKS DEVICES OPTIONS...: trains with the layers divided over the ranks, and compares.
staged() {
	rm -f r.bnm r.bnc
	mpirun "$1" "$2" "$bnctl" "${cmd[@]}" --devices "$3xcpu" --fabric mpi "${@:4}" -o r.bnm >log 2>&1 || fail "$recipe: $* failed"
	[ "$(sum r.bnm)" = "$want" ] || fail "$recipe: $* has another template"
	[ "$(grep -o 'stage [0-9]* on [^ ]* of rank [0-9]*' log | wc -l)" -ge "$2" ] || fail "$recipe: $*: no stage on each rank"
	runs=$((runs + 1))
}

# resumed LIBRARY RANKS OTHER RANKS: a rank is killed when there is a checkpoint; the others go on.
resumed() {
	rm -f r.bnm r.bnc
	mpirun "$1" "$2" "$bnctl" "${cmd[@]}" --fabric mpi --checkpoint-every 1 --device-timeout 10 -o r.bnm --json >log 2>&1 &
	local job=$!
	for _ in $(seq 600); do
		[ -s r.bnc ] && break
		kill -0 $job 2>/dev/null || break
		sleep 0.05
	done
	pkill -9 -n -f "^$bnctl ${cmd[0]} .* -o r.bnm --json" || fail "$recipe: nothing to kill"
	if wait $job; then fail "$recipe: a job of which a rank was killed has succeeded"; fi
	mpirun "$3" "$4" "$bnctl" "${cmd[@]}" --resume auto -o r.bnm >log 2>&1 || fail "$recipe: resumed on $4 ranks of $3"
	[ "$(sum r.bnm)" = "$want" ] || fail "$recipe: killed on $2 ranks of $1 and resumed on $4 of $3 it has another template"
	runs=$((runs + 1))
	! pgrep -f "^$bnctl serve-device" >/dev/null || { sleep 3; ! pgrep -f "^$bnctl serve-device" >/dev/null; } ||
		fail "devices are left"
}

# bad SENTENCE LIBRARY RANKS ARGUMENTS...: all ranks end, and one says why.
bad() {
	local sentence=$1 library=$2 n=$3; shift 3
	if mpirun "$library" "$n" "$@" >log 2>&1; then fail "bad input is taken: $*"; fi
	grep -q -- "$sentence" log || fail "$* does not say: $sentence"
}
# absent LAUNCHER LIBRARY: the library is not installed. Whoever may not mount a view of the system without it is told so.
absent() {
	local d=/usr/lib/$(uname -m)-linux-gnu
	mkdir -p view
	if ! env "$1_RANK=0" "$1_SIZE=2" unshare -m sh -c 'mount -t tmpfs none view && mkdir view/u view/w &&
		mount -t overlay none -o "lowerdir=$0,upperdir=$PWD/view/u,workdir=$PWD/view/w" "$0" &&
		rm "$0"/libmpi.so* "$0"/libmpich.so* || exit 9
		"$@"; [ $? = 1 ]' "$d" "$bnctl" "${common[@]}" -o b.bnm >log 2>&1; then
		grep -q "$2 not found; install" log && fail "without $2 the exit code is not 1"
		echo "not tried: a system without $2 (this one lets nobody mount a view of it)"
		return
	fi
	grep -q "$2 not found; install" log || fail "without $2"
}
badinput() {
	local b=("$bnctl" "${common[@]}" -o b.bnm)
	bad "no-such-lib.so" openmpi 2 "${b[@]}" --fabric mpi:/no-such-lib.so
	bad "belongs to another launcher" mpich 2 "${b[@]}" --fabric mpi:libmpi.so.40
	bad "belongs to another launcher" openmpi 2 "${b[@]}" --fabric mpi:libmpich.so.12
	bad "9 ranks for 8 replicas" openmpi 9 "${b[@]}"
	bad "not there over several ranks" mpich 2 "${b[@]}" --bn replica --weight-sync periodic:2
	bad "rank 0 has 1 device, and a stage 2, which lie on one rank; give all ranks as many devices, and use --stages 4" openmpi 4 "${b[@]}" --stages 2
	bad "rank 1: its --stages is 3, on rank 0 2" openmpi 1 "${b[@]}" --stages 2 : -np 2 "${b[@]}" --stages 3
	bad "rank 1: its recipe is another: seed is 5, on rank 0 0" openmpi 1 "${b[@]}" : -np 1 "${b[@]}" --seed 5
	bad "rank 1: its recipe is another: .*precision is bf16" openmpi 1 "${b[@]}" : -np 1 "${b[@]}" --precision bf16
	bad "rank 1: .*no-such-folder" openmpi 1 "${b[@]}" : -np 1 "${b[@]/glyphs:133/folder:/no-such-folder}"
	bad "rank 1: its recipe is another: data is" openmpi 1 "${b[@]}" : -np 1 "${b[@]/glyphs:133/glyphs:134}"
	bad "rank 1: .*unknown device .nowhere" openmpi 1 "${b[@]}" : -np 1 "${b[@]}" --devices nowhere
	if mpirun.openmpi -np 99 "${b[@]}" >log 2>&1; then fail "99 ranks in no slots"; fi
	grep -q "not enough slots" log || fail "99 ranks in no slots"
	if "$bnctl" "${common[@]}" --fabric mpi -o b.bnm >log 2>&1; then fail "a rank without a launcher trains"; fi
	grep -q "no launcher has started it" log || fail "a rank without a launcher"
	if env -u PATH "$bnctl" "${common[@]}" --fabric nowhere -o b.bnm >log 2>&1; then fail "a fabric that is not there"; fi
	grep -q "bnctl-fabric-nowhere" log || fail "a fabric that is not there"
	absent OMPI_COMM_WORLD libmpi.so.40
	absent PMI libmpich.so.12
	# What only rank 0 reads and writes may be missing on the others.
	mkdir -p zero one
	cp first.bnm zero/init.bnm
	mpirun openmpi 1 sh -c "cd zero && exec $bnctl ${common[*]} --init init.bnm -o t.bnm" : -np 1 \
		sh -c "cd one && exec $bnctl ${common[*]} --init init.bnm -o t.bnm" >log 2>&1 || fail "files of rank 0 alone"
	[ -s zero/t.bnm ] && [ -z "$(ls one)" ] || fail "rank 1 has written files"
	echo "bad input: a sentence each"
}

# stopped: SIGTERM on one rank ends all with a checkpoint and 143.
stopped() {
	rm -f r.bnm r.bnc
	mpirun openmpi 2 sh -c '"$@"; echo "exit $?"' sh "$bnctl" "${cmd[@]}" --log-every 1 -o r.bnm >log 2>&1 &
	local job=$!
	for _ in $(seq 600); do grep -q "step 2 " log && break; sleep 0.05; done
	pkill -TERM -n -f "^$bnctl ${cmd[0]} .*-o r.bnm" || fail "nothing to stop"
	wait $job || fail "the shells of a stopped run"
	[ "$(grep -c 'exit 143' log)" = 2 ] || fail "a run that was told to stop on one rank"
	mpirun mpich 3 "$bnctl" "${cmd[@]}" --resume auto -o r.bnm >log 2>&1 || fail "resumed after SIGTERM"
	[ "$(sum r.bnm)" = "$want" ] || fail "stopped and resumed it has another template"
	echo "stopped by SIGTERM on one rank, exit 143 on both, resumed on 3"
}

# predicted: predictions and figures are those of one machine, in its order.
predicted() {
	"$bnctl" predict first.bnm glyphs:77 --logits --format csv --quiet >one.csv 2>log || fail "predict on one machine"
	mpirun openmpi 3 "$bnctl" predict first.bnm glyphs:77 --logits --format csv --batch 10 --quiet >r.csv 2>log || fail "predict"
	cmp one.csv r.csv || fail "predict on three ranks says something else"
	"$bnctl" eval first.bnm --data glyphs:150 --quiet 2>log | sed 's/  (.*//' >one.txt || fail "eval on one machine"
	mpirun mpich 2 "$bnctl" eval first.bnm --data glyphs:150 --batch 64 --quiet 2>log | sed 's/  (.*//' >r.txt || fail "eval"
	cmp one.txt r.txt || fail "eval on two ranks says something else"
	mpirun openmpi 2 "$bnctl" eval first.bnm --data glyphs:150 --batch 64 --stages 2 --quiet 2>log | sed 's/  (.*//' >r.txt || fail "eval, stages"
	cmp one.txt r.txt || fail "eval over two stages on two ranks says something else"
	mpirun mpich 2 "$bnctl" predict first.bnm glyphs:77 --logits --format csv --batch 10 --stages relu2 --quiet >r.csv 2>log || fail "predict, stages"
	cmp one.csv r.csv || fail "predict over two stages on two ranks says something else"
	echo "predict on 3 ranks, eval on 2, both over stages on 2: the same"
}

recipe="" want="" runs=0
"$bnctl" "${common[@]}" --quiet -o first.bnm >log 2>&1 || fail "one machine"
if [ "$mode" = bad ]; then badinput; exit; fi
n=0
for recipe in "${recipes[@]}"; do
	[[ $recipe =~ ${ONLY:-.} ]] || continue
	words "$recipe"
	runs=0
	"$bnctl" "${cmd[@]}" -o one.bnm --overwrite >log 2>&1 || fail "$recipe: one machine"
	want=$(sum one.bnm)
	if [ "$mode" = sweep ]; then
		for library in openmpi mpich; do for r in 1 2 3 4; do for d in 1 2; do ranks $library $r $d; done; done; done
		resumed openmpi 3 mpich 2
		resumed mpich 2 openmpi 4
	else
		ranks openmpi $((2 + n % 2)) 1
		ranks mpich $((3 - n % 2)) $((1 + n % 2))
		[ $n != 0 ] || { ranks openmpi 1 1; stopped; }
		[ $n != 2 ] || resumed openmpi 3 mpich 2
		n=$((n + 1))
	fi
	echo "$want  $runs runs  $recipe"
done
# Layers over ranks: the template of one device, and a rank that is killed.
for recipe in "--bn replica --clip-norm 1 --ema 0.9" "--tail repeat"; do
	words "$recipe"
	runs=0
	"$bnctl" "${cmd[@]}" -o one.bnm --overwrite >log 2>&1 || fail "$recipe: one machine"
	want=$(sum one.bnm)
	staged openmpi 2 2 --stages 4 --plan
	staged mpich 3 1 --stages relu2,fc1 --plan
	if [[ $recipe = *replica* ]]; then
		cmd+=(--stages 2)
		resumed openmpi 2 mpich 2
	fi
	echo "$want  $runs runs  $recipe, over stages"
done
predicted
[ "$mode" = sweep ] || badinput
