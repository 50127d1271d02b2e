//go:build mpi

package mpi_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/plugins/mpi/internal/mpi"
	"github.com/bnctl/bnctl/tensor"
)

// These are names of runs that are not cases of fabrictest. They measure round trips between two ranks,
// over bnctl's fabric and with the library alone, and sums over both ranks.
const (
	overFabric = "fabric"
	byLibrary  = "library"
	ofUplink   = "exchange"
)

var (
	pingBytes = []int{128, 2 << 10, 1 << 20}
	pings     = 200
)

// pinged sends messages back and forth between two ranks. Rank 0 prints the time of a message.
func pinged(rank int, send, receive func(n int)) {
	for _, n := range pingBytes {
		best := time.Hour
		for range 5 {
			began := time.Now()
			for range pings {
				if rank == 0 {
					send(n)
					receive(n)
				} else {
					receive(n)
					send(n)
				}
			}
			best = min(best, time.Since(began)/time.Duration(2*pings))
		}
		if rank == 0 {
			fmt.Printf("%d bytes: %v\n", n, best)
		}
	}
}

func pingFabric(self string) error {
	c := remote.Command{Name: "mpi", Path: self, Timeout: time.Minute}
	f, err := remote.JoinFabric(context.Background(), c, "")
	if err != nil {
		return err
	}
	var failed error
	pinged(f.Rank(), func(n int) {
		failed = f.Send(context.Background(), 1-f.Rank(), collective.Moments, make([]byte, n))
	}, func(int) { _, failed = f.Receive(context.Background(), 1-f.Rank(), collective.Moments) })
	if err := f.Close(); err != nil {
		return err
	}
	return failed
}

// exchanged measures how long two ranks need to exchange values, so that both get the sum. Rank 0 prints
// the time.
func exchanged(self string) error {
	c := remote.Command{Name: "mpi", Path: self, Timeout: time.Minute}
	f, err := remote.JoinFabric(context.Background(), c, "")
	if err != nil {
		return err
	}
	p := fabric.New(f, 0)
	u := fabric.NewUplink(p, []int{1, 1})
	tag := collective.Tag{Lane: collective.Moments}
	for _, n := range pingBytes {
		best := time.Hour
		sum := collective.Reduction{Op: collective.Sum, Result: tensor.New(tensor.F32, n/4)}
		sum.Partials = []collective.Partial{{Node: u.Nodes()[0], Value: tensor.New(tensor.F32, n/4)}}
		for range 5 {
			began := time.Now()
			for range pings {
				tag.Sequence++
				if err := u.Complete(context.Background(), tag, []collective.Reduction{sum}); err != nil {
					return err
				}
			}
			best = min(best, time.Since(began)/time.Duration(pings))
		}
		if p.Rank() == 0 {
			fmt.Printf("%d bytes: %v\n", n, best)
		}
	}
	return p.Close()
}

func pingLibrary() error {
	runtime.LockOSThread()
	name := "libmpich.so.12"
	if os.Getenv("OMPI_COMM_WORLD_SIZE") != "" {
		name = "libmpi.so.40"
	}
	m, err := mpi.Open([]string{name})
	if err != nil {
		return err
	}
	wait := func(t *mpi.Transfer, err error) {
		for done := false; !done && err == nil; {
			done, err = m.Test(t)
		}
		if err != nil {
			panic(err)
		}
	}
	pinged(m.Rank, func(n int) { wait(m.Isend(1-m.Rank, 0, make([]byte, n))) },
		func(n int) { wait(m.Irecv(1-m.Rank, 0, make([]byte, n))) })
	return m.Finalize()
}

// TestPingPong prints the time of a message (with -v): sent through the plugin, and with the MPI library
// alone.
func TestPingPong(t *testing.T) {
	for library, command := range launchers {
		for _, way := range []string{byLibrary, overFabric, ofUplink} {
			args := append(slices.Clone(command[1:]), "-np", "2", os.Args[0])
			cmd := exec.Command(command[0], args...)
			cmd.Env = append(os.Environ(), caseKey+"="+way, "OMPI_ALLOW_RUN_AS_ROOT=1",
				"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", library, way, err, out)
			}
			t.Logf("%s, %s:\n%s", library, way, out)
		}
	}
}
