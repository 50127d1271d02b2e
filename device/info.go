package device

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Info describes a device. Its optional abilities are data here.
type Info struct {
	ID          string // for Open: "0", "GPU-4f1c..."
	Name        string // "cpu", "cuda:0": what errors and logs call it
	Description string // for people: "AMD EPYC 9655, 2 threads"
	MemoryTotal int64  // bytes; 0 if unknown
	MemoryFree  int64
	Kernels     string // kernel class: "amx", "fma", "generic" (docs/classes.md)
	// Classes lists the numbered classes that the opened device computes, for example "fma/1" and "int8/1".
	// Package class defines them. A device without a numbered class promises equal bits within one release only.
	Classes    []string
	Threads    int        // 0 where it has no meaning
	Ops        []graph.Op // operations that Load accepts
	Features   []string   // Deterministic, ExactUpdates, FiniteUpdates, Profile, Slots, Ahead
	Levels     []string   // collective and data levels, best first
	Precisions []string   // precisions at which it can be opened; empty means F32 only
	Process    int        // ID of the process that bnctl started for it, or 0
	Note       string     // why the device is not used at its best level; "" if it is
}

// The features of devices. Info.Features lists the features of a device.
const (
	// Deterministic: results depend on nothing but program, inputs and kernel
	// class, and are batch-invariant: a replica alone yields the same bits as
	// among others.
	Deterministic = "deterministic"
	// ExactUpdates: the updates of graph.Commit have the bits of device/ref.
	ExactUpdates = "exact-updates"
	// FiniteUpdates: Commit refuses updates that are not finite. If a device does not
	// have this feature, the host checks the state after each commit.
	FiniteUpdates = "finite-updates"
	// Profile: Run fills in Outcome.Nodes when Step.Profile asks for it.
	Profile = "profile"
	// Slots: the device runs the program of a stage: graph.Forward, graph.Backward, graph.Reduce.
	Slots = "slots"
	// Ahead: Run of a function without exchanges may be called while other runs without
	// exchanges are in progress. The device executes the runs in the order of the calls, and
	// has received the next run when one ends. Package remote adds this feature.
	Ahead = "ahead"
)

// The levels name ways to move tensors to a device; every device has Stream. DefaultID is
// the ID of a provider's first device. ProtocolV1 is the version of the protocol
// (device/proto/device/v1).
const (
	Stream     = "stream/1"   // tensors as messages over the socket
	Shm        = "shm/1"      // tensors in memory that host and device share
	CollShm    = "coll.shm/1" // exchanges in memory that the devices of a group share
	OnMachine  = "machine/1"  // exchanges through the host, after sums over the devices of one machine
	InProcess  = "process"    // the device is in the host's process
	DefaultID  = "0"
	ProtocolV1 = 1
)

// Has reports whether the device has a feature.
func (i Info) Has(feature string) bool { return slices.Contains(i.Features, feature) }

// Options are the parameters for opening a device.
type Options struct {
	Threads   int    // 0: the device chooses
	Kernels   string // kernel class; "" or "auto": the best that the machine has
	Precision string // F32 or BF16; "" is F32
}

// Plugin describes a provider of devices.
type Plugin struct {
	Name    string // "cpu": devices are called NAME or NAME:INDEX
	Version string
	About   string // one line
}

// Provider lists and opens the devices of one kind. A plugin serves one.
type Provider interface {
	// Describe describes the provider. It accesses no device.
	Describe() Plugin
	// List returns the devices that could be opened, without creating a context on any. If
	// the list is empty, reason is a sentence with the cause and the remedy, with options
	// in braces as in package problem.
	List(ctx context.Context) (devices []Info, reason string, err error)
	// Open returns the device with the given Info.ID, opened with o. The caller
	// closes it.
	Open(ctx context.Context, id string, o Options) (Device, error)
}
