#!/usr/bin/env bash
# gpukit.sh FOLDER: writes the kit of gpu.sh to FOLDER: gpu.sh and kit.tar.xz, which has bnctl, the plugin for CUDA (and
# that for OpenCL, with OPENCL=1), cuda.test, made-up data, and the sums that docs/results has. Needs Go, Python and xz.
# Fails if the kit and this tree have more than MOST MiB together (60): a machine with a GPU may be sent so much.
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
mkdir -p "$1"
out=$(realpath "$1") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kit=$work/kit
mkdir -p "$kit/data"
cd "$root"

build() { CGO_ENABLED=0 ${GO:-go} "$1" -ldflags '-s -w' "${@:2}"; }
build build -tags urfave_cli_no_docs -o "$kit/bnctl" ./cmd/bnctl
build build -o "$kit/plainsum" ./scripts/plainsum
build build -o "$kit/bnctl-device-cuda" ./plugins/cuda/bnctl-device-cuda
[ -z "${OPENCL:-}" ] || build build -o "$kit/bnctl-device-opencl" ./plugins/opencl/bnctl-device-opencl
build test -tags cuda -c -o "$kit/cuda.test" ./plugins/cuda/internal/cuda

python3 scripts/sumsdata.py "$kit/data"
python3 scripts/gpurecipes.py >"$kit/recipes.tsv"
cp plugins/internal/bitwise/*.graph "$kit/data"
cp scripts/gputorch.py "$kit"
tar c -C "$work" kit | xz --lzma2=preset=6,dict=64MiB >"$out/kit.tar.xz"
cp scripts/gpu.sh "$out"

bytes() { cat "$@" | wc -c; }
tree=$(git ls-files -z | xargs -0 cat | wc -c)
size=$((($(bytes "$out/gpu.sh" "$out/kit.tar.xz") + tree) >> 20))
echo "$out: $(($(bytes "$out/kit.tar.xz") >> 20)) MiB, with this tree $size MiB; run $out/gpu.sh OUT there"
[ $size -lt "${MOST:-60}" ] || { echo "gpukit.sh: more than ${MOST:-60} MiB" >&2; exit 1; }
