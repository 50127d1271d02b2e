package device

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Info describes a device. Optional abilities are data here.
type Info struct {
	ID          string // for Open: "0", "GPU-4f1c..."
	Name        string // "cpu", "cuda:0": what errors and logs call it
	Description string // for people: "AMD EPYC 9655, 2 threads"
	MemoryTotal int64  // bytes; 0 if unknown
	MemoryFree  int64
	Kernels     string     // kernel class: "amx", "fma", "generic"; NUMERICS 4
	Threads     int        // 0 where it has no meaning
	Ops         []graph.Op // operations that Load accepts
	Features    []string   // Deterministic, ExactUpdates, FiniteUpdates, Profile
	Levels      []string   // collective and data levels, best first
	Precisions  []string   // F32, BF16: at which it can be opened; none is F32 alone
	Process     int        // ID of the process that bnctl started for it; 0: there is none
	Note        string     // why its session does not run at the best level; "" if it does
}

// Features of devices.
const (
	// Deterministic: results depend on nothing but program, inputs and kernel
	// class, and are batch-invariant: a replica alone yields the same bits as
	// among others.
	Deterministic = "deterministic"
	// ExactUpdates: the updates of graph.Commit have the bits of device/ref.
	ExactUpdates = "exact-updates"
	// FiniteUpdates: Commit finds updates that are not finite. The host looks at
	// the state itself after the commits of a device without it.
	FiniteUpdates = "finite-updates"
	// Profile: Outcome.Nodes is there when Step.Profile asks for it.
	Profile = "profile"
)

// Levels of the data plane, from the one everybody has to the fastest.
const (
	Stream     = "stream/1"
	Shm        = "shm/1"
	CollShm    = "coll.shm/1"
	InProcess  = "process" // no wire at all
	DefaultID  = "0"
	ProtocolV1 = 1
)

// Has reports whether the device has a feature.
func (i Info) Has(feature string) bool { return slices.Contains(i.Features, feature) }

// Options says how a device is opened.
type Options struct {
	Threads   int    // 0: what the device thinks best
	Kernels   string // kernel class; "" or "auto": the best that the machine has
	Precision string // F32, or "", or BF16
}

// Plugin describes a provider of devices.
type Plugin struct {
	Name    string // "cpu": devices are called NAME or NAME:INDEX
	Version string
	About   string // one line
}

// Provider lists and opens the devices of one kind. A plugin serves one.
type Provider interface {
	// Describe touches no device.
	Describe() Plugin
	// List lists what could be opened, without creating any context on it. An
	// empty list comes with the reason.
	List(ctx context.Context) (devices []Info, reason string, err error)
	// Open opens one device by the ID of its Info.
	Open(ctx context.Context, id string, o Options) (Device, error)
}
