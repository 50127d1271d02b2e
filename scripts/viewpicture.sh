#!/usr/bin/env bash
# viewpicture.sh BNCTL FILE: trains on two devices, kills one of them after some steps, and keeps the log of the
# run in FILE: the view in README.md is drawn of it.
set -eu
bnctl=$(realpath "$1") file=$(realpath "$2")
cd "$(mktemp -d)"
"$bnctl" train --model lenet-bn --data glyphs:2000 --val glyphs:500 --epochs 6 --batch 100 --replicas 4 --devices 2xcpu \
	--threads 1 --lr 0.002 --log-every 2 --log-dir logs -o picture.bnm &
run=$!
until [ "$(grep -c '"event":"step"' logs/metrics.jsonl 2>/dev/null || true)" -ge 25 ] 2>/dev/null; do
	kill -0 "$run"
	sleep 0.1
done
kill -9 "$(pgrep -P "$run" | tail -1)"
wait "$run"
cp logs/metrics.jsonl "$file"
