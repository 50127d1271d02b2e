#!/usr/bin/env bash
# costmpi.sh BNCTL MPI.TEST [ROUNDS]: what ranks cost. It prints microseconds of a message and of an exchange between
# two ranks, beside the library's own ping-pong (MPI.TEST is go test -c -tags mpi ./plugins/mpi), and images/s of two
# ranks of one thread under Open MPI beside one machine with two devices of one thread, in turns: medians of ROUNDS (5),
# and the processor time that the runs took, which other work on the machine changes less. Where there is gcc, also
# what such steps take by Open MPI's own allreduce (allreduce.c).
set -euo pipefail
own=$(realpath "$(dirname "$0")/allreduce.c")
bnctl=$(realpath "$1") test=$(realpath "$2") rounds=${3:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

"$test" -test.v -test.run PingPong | grep -E ':$|bytes'

if command -v gcc >/dev/null; then # a step of resnet20 and of resnet18
	gcc -O2 -o allreduce "$own" -l:libmpi.so.40
	mpirun.openmpi --bind-to none -np 2 ./allreduce 250 42 2048 4 270000 12
	mpirun.openmpi --bind-to none -np 2 ./allreduce 390 36 2048 16 2796200 8
fi

# speed COMMAND...: images/s, the median over the steps after the second.
speed() {
	{ time "$@" --data glyphs:1280 --replicas 8 --threads 1 --log-every 1 --bn sync -o "$work/m.bnm" --overwrite >log 2>&1; } 2>took ||
		{ cat log >&2; exit 1; }
	grep -o 'step [0-9]* *[0-9]* img/s' log | tail -n +3 | awk '{ print $3 }' | median
}
median() { sort -n | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'; }

TIMEFORMAT='%U %S'
seconds() { awk '{ print $1 + $2 }' "$1" | median; }

for what in "resnet20 128 12" "resnet18 16 7"; do
	set -- $what
	rm -f one two ratio took1 took2
	for _ in $(seq "$rounds"); do
		a=$(speed "$bnctl" train --model "$1" --batch "$2" --steps "$3" --devices 2xcpu)
		cat took >>took1
		b=$(speed mpirun.openmpi --bind-to none -np 2 "$bnctl" train --model "$1" --batch "$2" --steps "$3" --devices cpu)
		cat took >>took2
		echo "$a" >>one; echo "$b" >>two; echo "$a $b" | awk '{ printf "%.3f\n", $2 / $1 }' >>ratio
	done
	echo "$1, batch $2: two devices $(median <one) img/s ($(sort -n one | xargs)), two ranks $(median <two) ($(sort -n two | xargs))," \
		"median of the ratios $(median <ratio) ($(sort -n ratio | xargs)); seconds of processor: $(seconds took1), $(seconds took2)"
done
