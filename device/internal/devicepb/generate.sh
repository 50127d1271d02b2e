#!/bin/sh
# Makes device.pb.go, device_grpc.pb.go and the device_pb2.py of the example. Needs protoc (Debian: protobuf-compiler).
set -e
root=../../..
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.1
package=github.com/bnctl/bnctl/device/internal/devicepb
PATH=$bin:$PATH protoc -I bnctl=$root/device/proto --go_out=. --go_opt=module=$package \
	--go-grpc_out=. --go-grpc_opt=module=$package bnctl/device/v1/device.proto
protoc -I $root/device/proto/device/v1 --python_out=$root/docs/examples/device-python/bnctl_device device.proto
