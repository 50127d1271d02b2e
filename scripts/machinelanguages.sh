#!/usr/bin/env bash
# machinelanguages.sh [BNCTL]: the example devices in Python and Node.js behind bnctl devices serve. Training on
# two of them over TLS gives the template of two of them on this machine, bit for bit.
set -euo pipefail
bnctl=$(realpath "${1:-bin/bnctl}") examples=$(realpath "$(dirname "$0")/../docs/examples")
work=$(mktemp -d)
trap 'kill "$machine" 2>/dev/null || true; rm -rf "$work"' EXIT
machine=""
cd "$work"
"$bnctl" devices keys keys >/dev/null
train() { "$bnctl" train --model mlp-bn --data glyphs:64 --epochs 1 --batch 16 --replicas 4 --quiet "$@" >log 2>&1 || { cat log >&2; exit 1; }; }
for language in python node; do
	plugin=(--device-plugin "$examples/device-$language/bnctl-device-$language" --allow-unlocked)
	"$bnctl" devices serve --listen 127.0.0.1:0 --devices "2x$language" "${plugin[@]}" --tls keys/device >served 2>&1 &
	machine=$!
	for _ in $(seq 100); do grep -q '^tls://' served && break; sleep 0.1; done
	address=$(sed -n 's|^\(tls://[^/]*\)/.*|\1|p' served | head -1)
	[ -n "$address" ] || { cat served >&2; exit 1; }
	train --devices "$address/*" --devices-tls keys/host -o "far-$language.bnm"
	kill -TERM "$machine" && wait "$machine"
	train --devices "2x$language" "${plugin[@]}" -o "near-$language.bnm"
	cmp "far-$language.bnm" "near-$language.bnm"
	echo "$language: $(sha256sum <"far-$language.bnm" | cut -c1-16)"
done
