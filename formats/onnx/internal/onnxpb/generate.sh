#!/bin/sh
# Makes onnx.pb.go. Needs protoc (Debian: protobuf-compiler).
set -e
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
PATH=$bin:$PATH protoc --go_out=. --go_opt=paths=source_relative onnx.proto
