#!/usr/bin/env bash
# fuzz.sh [MINUTES [PACKAGE...]]: runs every fuzz target of the packages (default: all readers
# of foreign bytes) for so many CPU-minutes (default 10), two at a time, and prints a line each.
set -uo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-10}
shift || true
packages=("$@")
[ ${#packages[@]} -gt 0 ] || packages=(./formats/... ./serialize ./graph ./data ./server/...)

one() { # PACKAGE TARGET: in rounds of a minute until the CPU time is used up
	local package=$1 target=$2 spent=0 executions=0 log
	log=$(mktemp)
	while [ "$spent" -lt $((minutes * 60)) ]; do
		local TIMEFORMAT='%U %S'
		{ time go test -run '^$' -fuzz "^$target\$" -fuzztime 60s -fuzzminimizetime 1x -parallel 1 "$package" >"$log" 2>&1; } 2>"$log.time"
		if grep -q -- '--- FAIL' "$log"; then
			printf '%-45s %-14s FAILED\n' "$package" "$target"
			cat "$log"
			return 1
		fi
		spent=$(awk -v s="$spent" '{ printf "%d", s + $1 + $2 }' "$log.time")
		executions=$((executions + $(grep -o 'execs: [0-9]*' "$log" | tail -1 | cut -d' ' -f2)))
	done
	printf '%-45s %-14s %4d CPU-s %10d executions, nothing found\n' "$package" "$target" "$spent" "$executions"
	rm -f "$log" "$log.time"
}
export -f one
export minutes

for package in $(go list "${packages[@]}"); do
	dir=$(go list -f '{{.Dir}}' "$package")
	grep -ho '^func Fuzz[A-Za-z0-9]*' "$dir"/*_test.go 2>/dev/null | sed 's/func //' | while read -r target; do
		printf '%s %s\n' "./${package#github.com/bnctl/bnctl/}" "$target"
	done
done | xargs -P 2 -L 1 bash -c 'one "$0" "$1"'
