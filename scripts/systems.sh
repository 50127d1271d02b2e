#!/bin/sh
# systems.sh: what is written for Linux has a counterpart elsewhere. The command and its
# plugins are built for macOS and Windows, and predictions in the process for WebAssembly. The
# packages with files of one system are also vetted for macOS, with their tests. Nothing is run.
set -e
go=${GO:-go}
packages=$(git ls-files '*_linux*.go' '*_unix*.go' '*_other*.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
export CGO_ENABLED=0
GOOS=windows GOARCH=amd64 $go build -ldflags '-s -w' ./cmd/... ./plugins/...
GOOS=darwin GOARCH=arm64 $go build -ldflags '-s -w' ./cmd/... ./plugins/...
GOOS=js GOARCH=wasm $go build -o /dev/null ./docs/examples/browser
GOOS=wasip1 GOARCH=wasm $go build -o /dev/null ./docs/examples/wasi
GOOS=darwin GOARCH=arm64 $go vet $packages
