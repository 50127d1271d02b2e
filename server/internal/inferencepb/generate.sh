#!/bin/sh
# Makes inference.pb.go and inference_grpc.pb.go. Needs protoc (Debian: protobuf-compiler).
set -e
root=../../..
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.1
package=github.com/bnctl/bnctl/server/internal/inferencepb
PATH=$bin:$PATH protoc -I inference=$root/server/proto --go_out=. --go_opt=module=$package \
	--go-grpc_out=. --go-grpc_opt=module=$package inference/inference.proto
