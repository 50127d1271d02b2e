// Package devicepb is the generated form of device/proto/device/v1/device.proto,
// the border between bnctl and device plugins.
package devicepb

//go:generate ./generate.sh
