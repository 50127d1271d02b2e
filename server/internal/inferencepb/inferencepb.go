// Package inferencepb is the generated form of server/proto/inference.proto,
// the Open Inference Protocol over gRPC.
package inferencepb

//go:generate ./generate.sh
