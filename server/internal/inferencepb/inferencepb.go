// Package inferencepb is generated from server/proto/inference.proto, the Open Inference Protocol over gRPC.
package inferencepb

//go:generate ./generate.sh
