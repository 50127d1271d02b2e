#!/bin/sh
# debian13.sh [DIR]: installs Debian 13 in a folder. Its programs are the peers of today: PyTorch 2.6,
# ONNX Runtime 1.21, oneDNN 3.7 (2.6 GB, about three minutes). Needs root and Debian's mirror. This system is
# not changed. Builds peers/onednn.c and onednn_train.c there, and prints the folder, in which
# enter.sh runs programs. torch.compile wants g++, setuptools and libtorch-dev; without
# libopenblas0-pthread PyTorch multiplies with the reference BLAS.
set -e
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${PEERS_DIR:-$HOME/.cache/bnctl-peers}/trixie}
if [ "$(id -u)" != 0 ]; then
	echo "peers: a Debian 13 is made by root alone: PyTorch 2.6, ONNX Runtime 1.21 and oneDNN 3.7 are left out" >&2
	exit
fi
packages=python3-torch,python3-torchvision,python3-numpy,python3-onnx,python3-h5py,python3-setuptools,libtorch-dev
packages=$packages,libsleef-dev,libopenblas0-pthread,libdnnl-dev,gcc,g++,libc6-dev,python3-dev,python3-onnxruntime
if [ ! -e "$dir/usr/bin/python3" ]; then
	echo "peers: making a Debian 13 in $dir" >&2
	{ apt-get update -q && apt-get install -y -q mmdebstrap; } >&2
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
	mmdebstrap --variant=apt --components=main --include=$packages trixie "$dir" "$mirror" >&2
fi
for program in onednn onednn_train; do
	sh "$here/enter.sh" "$dir" cc -O2 -o "/usr/local/bin/$program" "$program.c" -ldnnl -lm
done
echo "$dir"
