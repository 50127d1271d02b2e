#!/bin/sh
# peers.sh: installs the programs that bnctl is tested against, as far as they are
# missing: PyTorch, torchvision, ONNX, h5py and numpy from Debian, ONNX Runtime from npm.
# Prints what NODE_PATH has to be; nothing is written into the checkout.
set -e
dir=${PEERS_DIR:-$HOME/.cache/bnctl-peers}
python=/usr/bin/python3
if ! $python -c 'import torch, torchvision, onnx, h5py, numpy' 2>/dev/null; then
	echo "peers: installing python3-torch python3-torchvision python3-onnx python3-h5py python3-numpy" >&2
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
		python3-torch python3-torchvision python3-onnx python3-h5py python3-numpy; } >&2
fi
if [ ! -d "$dir/node_modules/onnxruntime-node" ]; then
	echo "peers: installing onnxruntime-node into $dir" >&2
	mkdir -p "$dir"
	(cd "$dir" && npm init -y && ONNXRUNTIME_NODE_INSTALL_CUDA=skip npm install --ignore-scripts onnxruntime-node@1.30.0) >&2
fi
echo "$dir/node_modules"
