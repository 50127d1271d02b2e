package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/fleet"
)

func fabricFlag() cli.Flag {
	return &cli.StringFlag{Name: "fabric", Value: fleet.FabricAuto, Usage: "what joins the processes that a " +
		"launcher has started: mpi, mpi:LIBRARY, a plugin's name, none, or auto: mpi where there are several"}
}

// peers are the ranks of a run; nil if this process is alone.
type peers = *fabric.Peers

// onRanks calls f as one of several ranks, or with nil if this process is the only one. Ranks other than 0
// print only errors. If one rank returns an error, all ranks end.
func onRanks(c *cli.Context, o *output, f func(ctx context.Context, p peers) error) error {
	silence := time.Duration(c.Float64("device-timeout") * float64(time.Second))
	p, err := pluginsOf(c).Join(c.Context, c.String("fabric"), silence)
	if p == nil || err != nil {
		if err != nil {
			return err
		}
		return f(c.Context, nil)
	}
	if os.Getenv("GOMAXPROCS") == "" { // threads beyond the number of cores cost more than they gain
		runtime.GOMAXPROCS(launcher.Cores())
	}
	if p.Rank() > 0 {
		o.stdout, o.quiet = io.Discard, true
	}
	return p.Together(func() error { return f(c.Context, p) },
		func(err error) string { return asFlags(err).Error() })
}

// codeOfRanks returns the exit code for an error that all ranks return. For other errors shared is false.
func codeOfRanks(ctx context.Context, err error) (code int, shared bool) {
	switch {
	case errors.Is(err, fabric.Ended): // a signal that came later does not count
		return exitFailed, true
	case errors.Is(err, fabric.Agreed) && ctx.Err() == nil: // another rank received a signal
		return exitTerminated, true
	}
	return 0, false
}

// rankName returns the text before messages of ranks other than 0: "rank 2: ".
func rankName() string {
	if rank, _ := launcher.Rank(); rank > 0 {
		return fmt.Sprintf("rank %d: ", rank)
	}
	return ""
}
