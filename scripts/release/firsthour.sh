#!/usr/bin/env bash
# firsthour.sh RELEASE CIFAR [FOLDER]: the first hour of a new user who has the release alone, and the time of each step:
# install, demo, own photos (newuser.sh), an own network out of PyTorch and back into it, serve. RELEASE is a folder
# that release.sh made, CIFAR the archive of newuser.sh. Without PyTorch (python3-torch) the own network is left out,
# and a line says so.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
release=$(realpath "$1") cifar=$(realpath "$2") folder=$(realpath -m "${3:-$(mktemp -d)}") python=${PYTHON:-/usr/bin/python3}
mkdir -p "$folder" && cd "$folder"
step() { # step NAME COMMAND...
	local name=$1 began=$EPOCHREALTIME
	shift
	"$@" >"$name.log" 2>&1 || { cat "$name.log"; echo "-- $name failed"; exit 1; }
	awk -v a="$began" -v b="$EPOCHREALTIME" -v n="$name" 'BEGIN { printf "-- %s: %.1f s\n", n, b - a }'
}
install_archive() {
	(cd "$release" && grep -F -- "-linux-amd64.tar.gz" SHA256SUMS | sha256sum --check --strict --quiet)
	tar xzf "$release"/bnctl-*-linux-amd64.tar.gz
	mv bnctl-*-linux-amd64 installed
}
rm -rf installed
step install install_archive
export PATH=$folder/installed:$PATH
step demo bnctl demo
step photos bash "$here/../newuser.sh" installed/bnctl "$cifar" photos
sed -n 's/^-- /   /p' photos.log
grep -E 'accuracy' photos.log | tail -1
if "$python" -c 'import torch' 2>/dev/null; then
	step export "$python" -W ignore "$here/own.py" export own.onnx
	step train bnctl train --model own.onnx --preprocess unit --data glyphs --val glyphs --epochs 1 -o own.bnm --overwrite
	grep 'val loss' train.log | tail -1
	step back bnctl export own.bnm -o own.pt
	step pictures "$python" "$here/own.py" pictures x.npy
	step predict bnctl predict own.bnm x.npy --logits -o logits.npy
	step compare "$python" -W ignore "$here/own.py" compare own.pt x.npy logits.npy
	cat compare.log
else
	echo "-- own network: left out, $python has no torch"
fi
