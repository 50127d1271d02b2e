#!/bin/sh
# cputests.sh FILE...: the test functions of these files that open the CPU device, themselves or through a function
# of the files, as a pattern for go test -run. Other tests have the same results with every set of kernels.
set -eu
names() { # names PATTERN FILE...: the functions with a line that matches the pattern
	pattern=$1
	shift
	awk -v pattern="$pattern" '
		/^func / { name = $0; sub(/^func (\([^)]*\) )?/, "", name); sub(/[[(].*/, "", name) }
		!/^func / && $0 ~ pattern { print name }' "$@" | sort -u
}
opens='cpu[.]Provider'
through=$(names "$opens" "$@" | grep -v '^Test' | paste -sd '|')
names "$opens${through:+|($through)[(]}" "$@" | grep '^Test' | paste -sd '|'
