#!/bin/sh
# Fails if go generate changes a file of the checkout: generated code is what
# its generators make. Needs protoc 3.21 (Debian 12: protobuf-compiler), whose
# version is in what it writes, and clang-14 (Debian 12), which makes the PTX.
# Uncommitted work is left as it is.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sums() { git ls-files -z --cached --others --exclude-standard | xargs -0 sha256sum -- 2>/dev/null | sort -k 2; }
sums >"$work/before"
"${GO:-go}" generate ./...
sums >"$work/after"
if ! diff "$work/before" "$work/after" >"$work/diff"; then
	echo "these files are not what their generators make; commit what make generate changed, or mend the generator:" >&2
	sed -n 's/^[<>] [0-9a-f]*  /  /p' "$work/diff" | sort -u >&2
	exit 1
fi
