#!/bin/sh
# peers.sh: installs the programs that bnctl is tested and measured against, as far
# as they are missing: PyTorch with OpenBLAS, torchvision, ONNX, h5py and numpy from Debian, ONNX
# Runtime from npm. PYTHON names another Python, which must have them.
# Prints what NODE_PATH has to be; nothing is written into the checkout.
# `peers.sh models` also writes the networks of bench-peers, and prints their folder; `peers.sh avx2` also makes a
# copy of ONNX Runtime that is held to AVX2 (peers/hold_avx2.py), and prints what NODE_PATH has to be for it.
set -e
here=$(cd "$(dirname "$0")" && pwd)
dir=${PEERS_DIR:-$HOME/.cache/bnctl-peers}
python=${PYTHON:-/usr/bin/python3}
if ! $python -c 'import torch, torchvision, onnx, h5py, numpy' 2>/dev/null; then
	if [ -n "$PYTHON" ]; then
		echo "peers: $PYTHON lacks one of torch, torchvision, onnx, h5py, numpy" >&2
		exit 1
	fi
	echo "peers: installing python3-torch python3-torchvision python3-onnx python3-h5py python3-numpy" >&2
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
		python3-torch python3-torchvision python3-onnx python3-h5py python3-numpy; } >&2
fi
# Without it Debian's PyTorch computes dense layers with the reference BLAS, several times as slowly.
if [ -z "$PYTHON" ] && ! ldconfig -p | grep -q libopenblas.so.0; then
	echo "peers: installing libopenblas0-pthread" >&2
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q libopenblas0-pthread; } >&2
fi
if [ ! -d "$dir/node_modules/onnxruntime-node" ]; then
	echo "peers: installing onnxruntime-node into $dir" >&2
	command -v npm >/dev/null || { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q npm; } >&2
	mkdir -p "$dir"
	(cd "$dir" && npm init -y && ONNXRUNTIME_NODE_INSTALL_CUDA=skip npm install --ignore-scripts onnxruntime-node@1.30.0) >&2
fi
if [ "$1" = models ]; then
	if [ ! -f "$dir/bench/yolov8n.onnx" ] || [ ! -f "$dir/bench/lenet-bn.layers" ]; then
		echo "peers: writing the networks into $dir/bench" >&2
		mkdir -p "$dir/bench"
		$python -W ignore "$here/peers/networks.py" "$dir/bench" >&2
	fi
	echo "$dir/bench"
	exit
fi
if [ "$1" = avx2 ]; then
	held=$dir/avx2/node_modules
	if [ ! -d "$held" ]; then
		rm -rf "$dir/avx2.part" && mkdir -p "$dir/avx2.part" && cp -r "$dir/node_modules" "$dir/avx2.part/"
		$python "$here/peers/hold_avx2.py" \
			"$(ls "$dir"/avx2.part/node_modules/onnxruntime-node/bin/napi-v*/linux/x64/libonnxruntime.so.1)" >&2
		mv "$dir/avx2.part" "$dir/avx2"
	fi
	echo "$held"
	exit
fi
echo "$dir/node_modules"
