#!/usr/bin/env bash
# onnxsketches.sh [COUNT [SEED]]: draws COUNT (20) small ONNX graphs for every operator that bnctl knows and every
# rank from 0 to 6, with random shapes, attributes and constants, beginning at SEED (1000), and compares what bnctl
# reads of them with ONNX Runtime: right to 1e-5 of the largest element, or refused. Wrong ones are kept in TMPDIR.
# The generator is formats/onnx/sketch*_test.go; make test-peers runs it once, go test without the peer.
set -euo pipefail
cd "$(dirname "$0")/.."
NODE_PATH=$(sh scripts/peers.sh) BNCTL_PEERS=1 BNCTL_SEEDS=${1:-20} BNCTL_SEED=${2:-1000} \
	go test -count=1 -timeout 2h -v -run TestPeerSketches ./formats/onnx
