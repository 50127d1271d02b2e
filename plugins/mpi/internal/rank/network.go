// Package rank makes this process a rank of an MPI job, and moves the messages of bnctl by MPI.
package rank

import (
	"fmt"
	"runtime"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/plugins/mpi/internal/mpi"
)

// Network implements serve.Network with MPI.
type Network struct{}

// Describe implements serve.Network.
func (Network) Describe() device.Plugin {
	return device.Plugin{Name: "mpi", Version: "1",
		About: "MPI: joins the ranks of mpirun, srun and others by Open MPI, MPICH or what has MPICH's ABI"}
}

// Join implements serve.Network.
func (Network) Join(library string, h serve.Host) (serve.Endpoint, error) {
	names := libraries()
	if library != "" {
		names = []string{library}
	}
	r := &rank{host: h, done: make(chan struct{})}
	joined := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: this is MPI's thread
		defer close(r.done)
		err := wakeInTime()
		if err == nil {
			r.mpi, err = mpi.Open(names)
		}
		if err == nil {
			err = checkSize(names[0], r.mpi.Size)
		}
		joined <- err
		if err == nil {
			r.run()
		}
	}()
	if err := <-joined; err != nil {
		return nil, fmt.Errorf("MPI: %w", err)
	}
	return r, nil
}
