#!/usr/bin/env bash
# costmpi.sh BNCTL MPI.TEST TURNS [ROUNDS]: what ranks cost. It prints microseconds of a message and of an exchange between
# two ranks, beside the library's own ping-pong (MPI.TEST is go test -c -tags mpi ./plugins/mpi); what a step takes two
# ranks of one thread under Open MPI beside one machine with two devices of one thread, by ROUNDS (8) turns of a few steps
# (TURNS is scripts/turns); and, where there is gcc, what such steps take by Open MPI's own allreduce (allreduce.c).
set -euo pipefail
own=$(realpath "$(dirname "$0")/allreduce.c")
bnctl=$(realpath "$1") test=$(realpath "$2") turns=$(realpath "$3") rounds=${4:-8}
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

train="train --json --quiet --log-every 1 --steps 100000 --data glyphs:12800 --size 28x28 --replicas 8 --threads 1 --bn sync --overwrite --device-timeout 600"
for what in "resnet20 128" "resnet18 16"; do
	set -- $what
	echo "$1, batch $2: two devices, two ranks"
	"$turns" -turns "$rounds" -steps 4 "$bnctl" $train --model "$1" --batch "$2" --devices 2xcpu -o one.bnm \
		-- mpirun.openmpi --bind-to none -np 2 "$bnctl" $train --model "$1" --batch "$2" --devices cpu -o two.bnm
done
