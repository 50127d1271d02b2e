#!/usr/bin/env bash
# agreement.sh BNCTL MODEL SRC [FLAGS...]: on how many inputs of SRC the model has the same best
# class at precision bf16 as at f32. FLAGS go to both: --devices ref. Fails below 99.5 %.
set -euo pipefail
bnctl=$1 model=$2 src=$3
shift 3
best() { "$bnctl" predict "$model" "$src" --top 1 --format csv --quiet --precision "$@" | cut -d, -f1,4; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
best f32 "$@" >"$work/f32"
best bf16 "$@" >"$work/bf16"
all=$(($(wc -l <"$work/f32") - 1)) # without the header
different=$(diff --speed-large-files "$work/f32" "$work/bf16" | grep -c '^<' || true)
awk -v n="$all" -v d="$different" 'BEGIN { printf "%d of %d agree, %.2f %%\n", n - d, n, 100 * (n - d) / n; exit n == 0 || d > 0.005 * n }'
