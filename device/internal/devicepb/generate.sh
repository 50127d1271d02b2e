#!/bin/sh
# Makes device.pb.go, device_grpc.pb.go and the device_pb2.py of the example. Needs protoc (Debian: protobuf-compiler).
set -e
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.1
PATH=$bin:$PATH protoc --go_out=. --go_opt=paths=source_relative \
	--go-grpc_out=. --go-grpc_opt=paths=source_relative device.proto
protoc --python_out=../../../examples/device-python/bnctl_device device.proto
