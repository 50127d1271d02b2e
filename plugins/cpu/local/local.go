// Package local opens the CPU device in the calling process, which also does other work.
//
// Use it for predictions without a second process, as package inprocess does. It needs neither gRPC nor
// sockets, shared memory or files. A crash of the device is a crash of the program, so training opens
// processes instead: package fleet.
package local

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/cpu"
)

// Open opens the CPU device. The goroutines of the program may use the threads of waiting
// workers. The caller closes the device. The error wraps device.Invalid for kernels that the
// machine does not have.
func Open(ctx context.Context, o device.Options) (device.Device, error) {
	return cpu.Provider{Shared: true}.Open(ctx, device.DefaultID, o)
}

// WorkspaceBytes returns an upper bound of the workers' private memory, in bytes, for predictions with p by
// the given number of threads. It is in addition to device.Needs.
func WorkspaceBytes(p *graph.Program, threads int) int64 { return int64(threads) * cpu.WorkerBytes(p) }

// AlignmentBytes is the maximum number of bytes that are allocated to align the values of a batch, if
// they need 2 MiB or more.
const AlignmentBytes = cpu.AlignmentBytes
