// Package fabricpb is the generated form of device/proto/fabric/v1/fabric.proto,
// the border between bnctl and fabric plugins.
package fabricpb

//go:generate ./generate.sh
